"""What the local engine takes, and what it says when it takes no more."""

MAX_BYTES = 50_000_000
MAX_PAGES = 2_000
MAX_TEXT = 5_000_000
MAX_ELEMENTS = 100_000

READABLE = "PDF, DOCX, HTML, Markdown, plain text, e-mail (EML) and CSV"

# By what went wrong: the code of the error, and words for the tenant. Nothing of the file is quoted.
REFUSALS: dict[str, tuple[str, str]] = {
    "empty": ("EMPTY_FILE", "The file is empty. Upload it again."),
    "too large": ("FILE_TOO_LARGE", "The file is larger than 50 MB. Split it, or make it smaller."),
    "too many pages": ("TOO_MANY_PAGES", "The document has more than 2,000 pages. Split it."),
    "too much text": (
        "TOO_MUCH_TEXT",
        "The document has more than 5 MB of text, or more than 100,000 paragraphs. Split it.",
    ),
    "encrypted": ("ENCRYPTED_FILE", "The file is protected by a password. Upload it without one."),
    "unknown type": ("UNSUPPORTED_TYPE", f"Files of this type cannot be read. Those that can: {READABLE}."),
    "old word": ("UNSUPPORTED_TYPE", "This is a document of an old Word. Save it as DOCX or PDF, and upload that."),
    "no word": (
        "UNSUPPORTED_TYPE",
        "This is a ZIP file, but no Word document. Save it as DOCX or PDF, and upload that.",
    ),
    "not that type": (
        "CORRUPT_FILE",
        "The file is not of the type that it was uploaded as. Upload it with the type and the ending that it has.",
    ),
    "corrupt": ("CORRUPT_FILE", "The file is damaged and cannot be read. Open it, save it anew, and upload that."),
    "too demanding": (
        "TOO_DEMANDING",
        "Reading the file takes more time or memory than a document may. Save it anew as a simpler PDF, or split it.",
    ),
}


class Refused(Exception):
    """Raised by readers: the file will not be read, for a reason that is a key of REFUSALS."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
