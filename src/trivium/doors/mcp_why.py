"""The tools of Knowledge query v1 in the MCP server: which index they read, and that it is fresh for each call."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mcp_types as types

from trivium.doors import answering, repository
from trivium.errors import NotFoundError, TriviumError
from trivium.knowql.hints import MCP, worded
from trivium.location import MEMORY
from trivium.why.prepared import PreparedIndex, Profile
from trivium.why.tools import PLAIN_NAMES, TOOL_KINDS, ToolResult, call_tool, spelled, tool_definitions

if TYPE_CHECKING:
    from trivium import Context, KnowledgeBase

_MOST_SLUGS = 20


class WhyTools:
    """The tools over the index of the context `slug`, or of the one bound to the repository around `place`.

    A call may name another context, though not in the service profile. There the stored index is all there is: no file
    is read and no process started, so it is not checked for freshness. `plain` lists the tools under names without
    dots; `db` is the database as the caller gave it, for the command that builds an index.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        place: Path,
        slug: str | None,
        *,
        profile: Profile = "local",
        config: str | None = None,
        plain: bool = False,
        db: str | None = None,
    ) -> None:
        self._kb = kb
        self._place = Path(place).resolve()
        self._slug = slug
        self._profile = profile
        self._config = None if config is None else str(Path(config).resolve())
        self._plain = plain
        self._db = None if db is None or kb.url == MEMORY else str(Path(kb.url).resolve())

    def __contains__(self, name: str) -> bool:
        return name in TOOL_KINDS or name in PLAIN_NAMES

    @property
    def instructions(self) -> str:
        """What the server says about the tools when a client connects."""
        decision, concept, change = (spelled(name, self._plain) for name in TOOL_KINDS)
        said = (
            f"What a repository records about itself: {decision}, {concept} and {change} answer for a path, an "
            "exported symbol, a name or an id. Before changing a file of an indexed repository, ask "
            f"{decision} about its path. An empty answer is no proof; read its coverage."
        )
        about = self._about()
        return said if about is None else f"{said} {about}"

    def tools(self) -> list[types.Tool]:
        """The tools that the configuration offers; all of them as long as there is no index."""
        about = self._about()
        local = self._profile != "service"
        return [
            types.Tool(
                name=found["name"],
                description=found["description"],
                input_schema=found["inputSchema"],
                annotations=types.ToolAnnotations.model_validate(found["annotations"]),
            )
            for found in tool_definitions(self._allowed(None), plain=self._plain, contexts=local, about=about)
        ]

    def call(self, name: str, arguments: Mapping[str, Any] | None) -> types.CallToolResult:
        """The answer of a tool, or an error that the model can act on."""
        try:
            done = self._call(name, arguments)
        except TriviumError as error:
            done = ToolResult(f"{name} failed: {error.message} {worded(error.hint, MCP) or ''}".rstrip(), True, {})
        text = types.TextContent(type="text", text=done.text)
        return types.CallToolResult(content=[text], is_error=done.is_error, _meta=done.meta or None)

    def _call(self, name: str, arguments: Mapping[str, Any] | None) -> ToolResult:
        local = self._profile != "service"
        asked = (arguments or {}).get("context") if local else None
        slug = asked if isinstance(asked, str) and asked else None
        context = self._context(slug)
        root = None if context is None else context.repository_root
        target = (arguments or {}).get("target")
        spelled = None if root is None else str(root)
        if spelled is not None and local and isinstance(target, str):
            spelled = answering.spelled_root(spelled, target)
        return call_tool(
            name,
            arguments,
            partial(self._load, context, root, slug) if local or root is not None else None,
            profile=self._profile,
            allowed=self._allowed(slug),
            root=spelled,
            contexts=local,
        )

    # --- the index --------------------------------------------------------------------------------

    def _context(self, slug: str | None) -> Context | None:
        """The context whose index is read: looked up for each call, since an index may be built meanwhile."""
        if slug is not None:
            return named_context(self._kb, slug)
        if self._slug is not None:
            return self._kb.context(self._slug)
        try:
            return repository.bound_context(self._kb, self._place, stop_at_git=self._profile != "service")
        except NotFoundError:
            default = self._kb.context(self._kb.slug)
            return None if default.repository_root is None else default

    def _about(self) -> str | None:
        """Which context holds the repository, so that the tools of KIP can be asked about the same one."""
        if self._profile == "service":
            return None
        try:
            context = self._context(None)
        except TriviumError:
            return None
        root = None if context is None else context.repository_root
        if context is None or root is None:
            return None
        return (
            f'The repository {root} is the context "{context.slug}": execute_kip and execute_kip_readonly reach its '
            f'graph with "context": "{context.slug}".'
        )

    def _load(self, context: Context | None, root: Path | None, slug: str | None) -> PreparedIndex:
        """The index, decoded once for as long as it stays the same. Raises: TriviumError with the way to build it."""
        command = self._command(root, slug)
        if context is None or root is None:
            if self._kb.url == MEMORY:
                raise NotFoundError("The memory of this server is in no file, so it has no index.", "Use --db FILE.")
            if slug is not None:
                raise NotFoundError(
                    f"The context {slug!r} holds no index of a repository.", f"Build it with: {command}"
                )
            raise repository.missing(repository.root_of(self._place), command)
        if self._profile == "service":
            return context.repository_index().prepared
        config = self._config_for(slug)
        settings = None if config is None else repository.read_config(root, config)
        return repository.fresh_index(context, command, config=settings).prepared

    def _config_for(self, slug: str | None) -> str | None:
        """The configuration that was named: it is about the server's own repository alone."""
        if slug is None or self._config is None:
            return self._config
        own = self._context(None)
        return self._config if own is not None and own.slug == slug else None

    def _allowed(self, slug: str | None) -> Collection[str] | None:
        """The tools that the repository's configuration lists; a restricted caller is not ruled by it."""
        if self._profile == "service":
            return None
        try:
            context = self._context(slug)
            root = None if context is None else context.repository_root
            return None if root is None else repository.read_config(root, self._config_for(slug)).mcp_tools
        except TriviumError:
            return None

    def _command(self, root: Path | None, slug: str | None) -> str:
        """The command that builds the index, to be run in any folder."""
        place = root or repository.root_of(self._place)
        context = slug if slug is not None else self._slug
        if slug is not None and self._slug is None:
            bound = self._context(None)
            if bound is not None and bound.slug == slug:
                context = None
        return repository.build_command(place, db=self._db, context=context, config=self._config_for(slug))


def named_context(kb: KnowledgeBase, slug: object) -> Context:
    """The context that a call names. Raises: NotFoundError that lists those there are."""
    if isinstance(slug, str):
        try:
            return kb.context(slug)
        except NotFoundError:
            pass
    slugs = [context.slug for context in kb.contexts()]
    listed = ", ".join(slugs[:_MOST_SLUGS]) + (" and others" if len(slugs) > _MOST_SLUGS else "")
    raise NotFoundError(
        f"There is no context {slug!r}.", f"There is: {listed}. Without `context` it is the server's own."
    )
