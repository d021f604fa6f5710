"""What is filled in on the pages of a PDF form."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from trivium.ingest.parsed import one_line

_MOST_FIELDS = 2_000
_LONGEST = 20_000
"""Bytes of a value."""


def open_form(document: Any) -> Any:
    """What the fields of a document are read through; None if it has none. To be called before a page is opened."""
    try:
        document.init_forms()
    except Exception:  # a form that cannot be read is done without
        return None
    return document.formenv


def filled_in(page: Any, form: Any) -> list[str]:
    """A line for each field of a page that holds something: `Name: Jane Wexford`, `Agreed: ☑`."""
    import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

    found: list[str] = []
    for number in range(min(pdfium.FPDFPage_GetAnnotCount(page), _MOST_FIELDS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, number)
        if not annotation:
            continue
        try:
            line = _field(pdfium, form, annotation)
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)
        if line and line not in found:
            found.append(line)
    return found


def _field(pdfium: Any, form: Any, annotation: Any) -> str:
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
    if pdfium.FPDFAnnot_GetFormFieldFlags(form, annotation) & pdfium.FPDF_FORMFLAG_TEXT_PASSWORD and (
        kind == pdfium.FPDF_FORMFIELD_TEXTFIELD
    ):
        return ""

    def told(read: Callable[..., int]) -> str:
        return one_line(_text(read, form, annotation))

    name = told(pdfium.FPDFAnnot_GetFormFieldAlternateName) or told(pdfium.FPDFAnnot_GetFormFieldName)
    if kind in (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON):
        value = told(pdfium.FPDFAnnot_GetFormFieldExportValue)
        if not pdfium.FPDFAnnot_IsChecked(form, annotation):
            return ""
        value = "☑" if value.lower() in ("", "yes", "on", "1") else f"☑ {value}"
    elif kind in (
        pdfium.FPDF_FORMFIELD_TEXTFIELD,
        pdfium.FPDF_FORMFIELD_COMBOBOX,
        pdfium.FPDF_FORMFIELD_LISTBOX,
    ):
        value = " ".join(_text(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation).split())
    else:
        return ""
    return f"{name}: {value}" if name and value else value


def _text(read: Callable[..., int], form: Any, annotation: Any) -> str:
    import pypdfium2.raw as pdfium

    size = min(int(read(form, annotation, None, 0)), _LONGEST)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    read(form, annotation, ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR)), size)
    return buffer.raw[:size].decode("utf-16-le", "replace").partition("\0")[0]
