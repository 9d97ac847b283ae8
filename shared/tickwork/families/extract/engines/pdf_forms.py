"""The filled fields of a form in a PDF: PDFium does not count them as text of the page."""

from collections.abc import Callable
from ctypes import POINTER, byref, c_ushort, cast, create_string_buffer
from typing import Any

import pypdfium2_raw as pdfium  # type: ignore[import-untyped]

# More than any form has on one page.
MAX_FIELDS = 2_000
# Of a value, in bytes; a longer one is left out by PDFium.
MAX_VALUE = 2_000_000
EMPTY = ("", "Off")


class Form:
    """The form of a document, if it has one."""

    def __init__(self, document: Any) -> None:
        self._shown: set[tuple[str, str]] = set()
        # PDFium keeps a pointer to it.
        self._info = pdfium.FPDF_FORMFILLINFO(version=2)
        is_form = pdfium.FPDF_GetFormType(document) != pdfium.FORMTYPE_NONE
        self._form = pdfium.FPDFDOC_InitFormFillEnvironment(document, byref(self._info)) if is_form else None

    def rows(self, page: Any) -> list[list[str]]:
        """Name and value of each field on the page that is filled in; a field in several places is shown once."""
        if not self._form:
            return []
        found: list[list[str]] = []
        for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), MAX_FIELDS)):
            note = pdfium.FPDFPage_GetAnnot(page, index)
            if pdfium.FPDFAnnot_GetSubtype(note) == pdfium.FPDF_ANNOT_WIDGET:
                field = self._field(note)
                if field[1] not in EMPTY and field not in self._shown:
                    self._shown.add(field)
                    found.append([*field])
            pdfium.FPDFPage_CloseAnnot(note)
        return found

    def _field(self, note: Any) -> tuple[str, str]:
        name = self._text(pdfium.FPDFAnnot_GetFormFieldAlternateName, note)
        name = name or self._text(pdfium.FPDFAnnot_GetFormFieldName, note)
        return name, self._text(pdfium.FPDFAnnot_GetFormFieldValue, note)

    def _text(self, read: Callable[..., int], note: Any) -> str:
        size = read(self._form, note, None, 0)
        if not 2 < size <= MAX_VALUE:
            return ""
        buffer = create_string_buffer(size)
        read(self._form, note, cast(buffer, POINTER(c_ushort)), size)
        return buffer.raw.decode("utf-16-le", "ignore").rstrip("\0").strip()
