"""Whether the client can split a PDF, found out in a process with limits before the client does it without."""

import io

# pypdf would load these when it needs them, and then nothing can be loaded any more.
import pypdf.filters
import pypdf.xmp  # noqa: F401
import pypdfium2  # type: ignore[import-untyped]
from pypdf import PdfReader
from pypdf.errors import DependencyError, FileNotDecryptedError, PdfReadError

from tickwork.families.extract.engines.outline import Outline
from tickwork.families.extract.engines.refusals import Refused

PAGES_OF_A_PART = 20
PASSWORD_NEEDED = 4  # says PDFium


def read(data: bytes, outline: Outline) -> None:
    """In a child with its limits: what the client is going to do."""
    try:
        with pypdfium2.PdfDocument(data) as whole:
            outline.turn_to(len(whole))
            for first in range(0, len(whole), PAGES_OF_A_PART):
                part = pypdfium2.PdfDocument.new()
                part.import_pages(whole, range(first, min(first + PAGES_OF_A_PART, len(whole))))
                part.save(io.BytesIO())
                part.close()
        outline.turn_to(len(list(PdfReader(io.BytesIO(data), strict=False).pages)))
    except pypdfium2.PdfiumError as error:
        raise Refused("encrypted" if error.err_code == PASSWORD_NEEDED else "corrupt") from None
    except (FileNotDecryptedError, DependencyError):
        raise Refused("encrypted") from None
    except PdfReadError:
        # The client notices, and refuses the file or sends it whole.
        pass
