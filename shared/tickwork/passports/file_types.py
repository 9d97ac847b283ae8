"""Which types of files facts are taken from, and how each is read."""

from typing import Literal

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
# Of an `extracted` file, the tables are read that extract_document has found.
Reading = Literal["json", "csv", "xlsx", "extracted"]
READINGS: dict[str, Reading] = {
    "application/json": "json",
    "application/ld+json": "json",
    "text/csv": "csv",
    "text/tab-separated-values": "csv",
    XLSX: "xlsx",
    PDF: "extracted",
    DOCX: "extracted",
    "text/html": "extracted",
    "application/xhtml+xml": "extracted",
}
NAMES = "JSON, CSV, TSV, XLSX, PDF, DOCX and HTML files"


def plain(mime_type: str) -> str:
    """Without parameters such as the charset."""
    return mime_type.partition(";")[0].strip().lower()


def reading_of(mime_type: str) -> Reading | None:
    return READINGS.get(plain(mime_type))
