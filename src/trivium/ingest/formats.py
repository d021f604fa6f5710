"""Which format a file has: by its name, and by its first bytes where these say otherwise."""

from __future__ import annotations

from functools import lru_cache

MARKDOWN, TEXT, HTML, PDF, DOCX, PPTX, XLSX = "markdown", "text", "html", "pdf", "docx", "pptx", "xlsx"
CSV, JSON, MAIL, MBOX, CODE = "csv", "json", "mail", "mbox", "code"
OTHER = "other"
NATIVE = frozenset({PDF, DOCX, PPTX, XLSX})
APART = NATIVE | {HTML, MAIL, MBOX}
"""Formats whose readers are native code, or hold much more than the file: they run in a process of their own."""

_MEDIA = {
    "md": (MARKDOWN, "text/markdown"),
    "markdown": (MARKDOWN, "text/markdown"),
    "mdown": (MARKDOWN, "text/markdown"),
    "mkd": (MARKDOWN, "text/markdown"),
    "mdx": (MARKDOWN, "text/markdown"),
    "qmd": (MARKDOWN, "text/markdown"),
    "txt": (TEXT, "text/plain"),
    "text": (TEXT, "text/plain"),
    "log": (TEXT, "text/plain"),
    "rst": (TEXT, "text/x-rst"),
    "adoc": (TEXT, "text/asciidoc"),
    "asciidoc": (TEXT, "text/asciidoc"),
    "org": (TEXT, "text/org"),
    "tex": (TEXT, "text/x-tex"),
    "srt": (TEXT, "application/x-subrip"),
    "vtt": (TEXT, "text/vtt"),
    "html": (HTML, "text/html"),
    "htm": (HTML, "text/html"),
    "xhtml": (HTML, "application/xhtml+xml"),
    "pdf": (PDF, "application/pdf"),
    "docx": (DOCX, "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    "docm": (DOCX, "application/vnd.ms-word.document.macroEnabled.12"),
    "pptx": (PPTX, "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    "pptm": (PPTX, "application/vnd.ms-powerpoint.presentation.macroEnabled.12"),
    "xlsx": (XLSX, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    "xlsm": (XLSX, "application/vnd.ms-excel.sheet.macroEnabled.12"),
    "csv": (CSV, "text/csv"),
    "tsv": (CSV, "text/tab-separated-values"),
    "json": (JSON, "application/json"),
    "jsonl": (JSON, "application/x-ndjson"),
    "ndjson": (JSON, "application/x-ndjson"),
    "geojson": (JSON, "application/geo+json"),
    "ipynb": (JSON, "application/x-ipynb+json"),
    "eml": (MAIL, "message/rfc822"),
    "mht": (MAIL, "multipart/related"),
    "mhtml": (MAIL, "multipart/related"),
    "mbox": (MBOX, "application/mbox"),
    "yaml": (CODE, "application/yaml"),
    "yml": (CODE, "application/yaml"),
    "toml": (CODE, "application/toml"),
    "ini": (CODE, "text/plain"),
    "cfg": (CODE, "text/plain"),
    "conf": (CODE, "text/plain"),
    "sql": (CODE, "application/sql"),
    "xml": (CODE, "application/xml"),
    "css": (CODE, "text/css"),
    "proto": (CODE, "text/plain"),
    "graphql": (CODE, "text/plain"),
    "tf": (CODE, "text/plain"),
}
_NAMES = {"dockerfile": CODE, "makefile": CODE, "readme": TEXT, "license": TEXT, "changelog": TEXT}
_OLD_OFFICE = {"doc": "Word", "xls": "Excel", "ppt": "PowerPoint"}
_SAVE_AS = {
    **dict.fromkeys(("rtf", "odt", "ott", "fodt", "pages", "wps", "dot", "dotx", "dotm"), ".docx"),
    **dict.fromkeys(("ods", "fods", "numbers", "xlsb", "xltx", "xltm", "xlt"), ".xlsx"),
    **dict.fromkeys(("odp", "fodp", "ppsx", "ppsm", "potx", "potm", "pps", "pot", "key"), ".pptx"),
    **dict.fromkeys(("epub", "mobi", "azw3"), ".html or .pdf"),
}
"""Documents of formats that are not read, and as what they can be saved instead."""
_ALWAYS = frozenset({"fodt", "fods", "fodp", "mobi", "azw3"})
_BINARY = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""How files of the others begin: `.key`, `.dot` and `.pot` may be plain text of other kinds."""
_ZIPPED = {b"word/document.xml": "docx", b"xl/workbook.xml": "xlsx", b"ppt/presentation.xml": "pptx"}
_UNREADABLE = {
    extension: f"{kind}/{extension}"
    for kind, extensions in {
        "image": "png jpg jpeg gif webp bmp ico tif tiff heic avif psd",
        "audio": "mp3 wav flac ogg m4a aac",
        "video": "mp4 mov avi mkv webm m4v",
        "font": "ttf otf woff woff2 eot",
        "application": "exe dll so dylib o a class jar pyc wasm bin iso dmg 7z rar gz bz2 xz zst db sqlite parquet",
    }.items()
    for extension in extensions.split()
}
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")


def is_archive(path: str) -> bool:
    """Whether import unpacks a file, judged by its name."""
    return path.lower().endswith(ARCHIVES)


def extension_of(path: str) -> str:
    """The extension in lower case without its dot.

    >>> extension_of("a/B.MD"), extension_of("a.b/c"), extension_of(".env")
    ('md', '', '')
    """
    stem, dot, extension = path.rpartition("/")[2].rpartition(".")
    return extension.lower() if dot and stem else ""


@lru_cache(maxsize=1 << 12)
def by_name(path: str) -> tuple[str, str]:
    """Format and media type that a path promises."""
    from trivium.code.languages import EXTENSIONS

    extension = extension_of(path)
    if extension in _MEDIA:
        return _MEDIA[extension]
    if extension in EXTENSIONS:
        return CODE, f"text/x-{EXTENSIONS[extension]}"
    name = path.rpartition("/")[2].lower().partition(".")[0]
    if name in _NAMES:
        return _NAMES[name], "text/plain"
    return OTHER, _UNREADABLE.get(extension, "application/octet-stream")


def format_of(path: str, data: bytes) -> str:
    """The format to read a file as. A PDF is one whatever it is called; Office files and text go by their names."""
    format_ = by_name(path)[0]
    if data.startswith(b"%PDF-"):
        return PDF
    if format_ in (PDF, DOCX, PPTX, XLSX, MAIL):
        return format_
    if format_ == TEXT and data.startswith(b"{\\rtf"):
        return OTHER
    head = data[:1_024].lstrip().lower()
    if format_ in (OTHER, TEXT) and head.startswith((b"<!doctype html", b"<html")):
        return HTML
    return format_


def unreadable(path: str, data: bytes) -> str | None:
    """Why a file of no known format gives no text, if its first bytes or its name tell."""
    extension = extension_of(path)
    if extension == "msg":
        return "Outlook's .msg files are not read; save the message as .eml"
    if data.startswith(b"{\\rtf"):
        return _save_as("rtf")
    if extension in _SAVE_AS and (extension in _ALWAYS or data.startswith(_BINARY)):
        return _save_as(extension)
    if data.startswith(b"PK\x03\x04"):
        office = next((kind for name, kind in _ZIPPED.items() if name in data), "")
        if office:
            return f"this is an Office file under another name; name it .{office} and add it again"
        return "this is a packed file; unpack it, or name it .zip if it is an archive"
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        kind = _OLD_OFFICE.get(extension)
        if kind:
            return f"the old {kind} format is not read; save it as .{extension}x"
        return "this is an old Office file, or an encrypted one, which cannot be read"
    return no_text(path)


def _save_as(extension: str) -> str:
    return f"files of the kind .{extension} are not read; save it as {_SAVE_AS[extension]}"


def no_text(path: str) -> str | None:
    """Why a file need not be imported, judged by its name alone."""
    kind = _UNREADABLE.get(extension_of(path))
    return None if kind is None else f"files of this kind ({kind}) hold no text that could be read"
