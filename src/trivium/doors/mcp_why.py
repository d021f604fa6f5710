"""The tools of Knowledge query v1 in the MCP server: which index they read, and that it is fresh for each call."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mcp_types as types

from trivium.doors import repository
from trivium.errors import NotFoundError, TriviumError
from trivium.why.prepared import PreparedIndex, Profile
from trivium.why.tools import TOOL_KINDS, ToolResult, call_tool, tool_definitions

if TYPE_CHECKING:
    from trivium import Context, KnowledgeBase


class WhyTools:
    """The tools over the index of the context `slug`, or of the one bound to the repository around `place`.

    In the service profile the stored index is all there is: no file is read and no process started, so it is not
    checked for freshness.
    """

    def __init__(
        self, kb: KnowledgeBase, place: Path, slug: str | None, *, profile: Profile = "local", config: str | None = None
    ) -> None:
        self._kb = kb
        self._place = Path(place).resolve()
        self._slug = slug
        self._profile = profile
        self._config = config

    def __contains__(self, name: str) -> bool:
        return name in TOOL_KINDS

    def tools(self) -> list[types.Tool]:
        """The tools that the configuration offers; all of them as long as there is no index."""
        return [
            types.Tool(
                name=found["name"],
                description=found["description"],
                input_schema=found["inputSchema"],
                annotations=types.ToolAnnotations.model_validate(found["annotations"]),
            )
            for found in tool_definitions(self._allowed())
        ]

    def call(self, name: str, arguments: Mapping[str, Any] | None) -> types.CallToolResult:
        """The answer of a tool, or an error that the model can act on."""
        try:
            done = self._call(name, arguments)
        except TriviumError as error:
            done = ToolResult(f"{name} failed: {error.message} {error.hint or ''}".rstrip(), True, {})
        text = types.TextContent(type="text", text=done.text)
        return types.CallToolResult(content=[text], is_error=done.is_error, _meta=done.meta or None)

    def _call(self, name: str, arguments: Mapping[str, Any] | None) -> ToolResult:
        context = self._context()
        root = None if context is None else context.repository_root
        unread = self._profile == "service" and root is None
        return call_tool(
            name,
            arguments,
            None if unread else partial(self._load, context, root),
            profile=self._profile,
            allowed=self._allowed(),
            root=None if root is None else str(root),
        )

    # --- the index --------------------------------------------------------------------------------

    def _context(self) -> Context | None:
        """The context whose index is read: looked up for each call, since an index may be built meanwhile."""
        if self._slug is not None:
            return self._kb.context(self._slug)
        try:
            return repository.bound_context(self._kb, self._place, stop_at_git=self._profile != "service")
        except NotFoundError:
            default = self._kb.context(self._kb.slug)
            return None if default.repository_root is None else default

    def _load(self, context: Context | None, root: Path | None) -> PreparedIndex:
        """The index, decoded once for as long as it stays the same. Raises: TriviumError with the way to build it."""
        command = self._command(root)
        if context is None or root is None:
            raise repository.missing(repository.root_of(self._place), command)
        if self._profile == "service":
            return context.repository_index().prepared
        settings = None if self._config is None else repository.read_config(root, self._config)
        return repository.fresh_index(context, command, config=settings).prepared

    def _allowed(self) -> Collection[str] | None:
        """The tools that the repository's configuration lists; a restricted caller is not ruled by it."""
        if self._profile == "service":
            return None
        try:
            context = self._context()
            root = None if context is None else context.repository_root
            return None if root is None else repository.read_config(root, self._config).mcp_tools
        except TriviumError:
            return None

    def _command(self, root: Path | None) -> str:
        place = root or repository.root_of(self._place)
        context = [] if self._slug is None else ["--context", self._slug]
        config = [] if self._config is None else ["--config", self._config]
        return shlex.join(["trivium", "index", str(place), *context, *config])
