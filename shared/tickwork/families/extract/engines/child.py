"""The process that reads one file. It trusts neither the file nor the libraries that parse it."""

import codecs
import gc
import importlib
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from tickwork.families.extract.engines.outline import Outline
from tickwork.families.extract.engines.refusals import MAX_BYTES, Refused
from tickwork.tools.confined.confinement import die_with, enter

Reader = Callable[[bytes, Outline], None]

# Python loads an encoding when it is first used: those of texts, of PDFium, of names in a ZIP, of mail headers.
ENCODINGS = ("ascii", "utf-8", "utf-16-le", "utf-16-be", "cp1252", "cp437", "raw-unicode-escape")


def main() -> None:
    parent, seconds, module = sys.argv[1:4]
    die_with(int(parent))
    # Later nothing can be loaded any more.
    reader: Reader = importlib.import_module(module).read
    for encoding in ENCODINGS:
        codecs.lookup(encoding)
    if problem := enter(int(parent), int(seconds)):
        write({"unconfined": problem})
    # One file, one pass: nothing is left behind that would be worth looking for.
    gc.disable()
    write(read(reader))
    sys.stdout.flush()
    # Nothing is left to do that could be worth the time, or crash.
    os._exit(0)


def read(reader: Reader) -> dict[str, Any]:
    """Write the elements of the file on standard input; returns how that ended."""
    try:
        data = sys.stdin.buffer.read(MAX_BYTES + 1)
        if not data:
            raise Refused("empty")
        if len(data) > MAX_BYTES:
            raise Refused("too large")
        outline = Outline(write)
        reader(data, outline)
        return {"page_count": outline.page_count, "left_out": outline.left_out, "cut": outline.cut}
    except Refused as refusal:
        return {"refused": refusal.reason}
    except (MemoryError, RecursionError):
        return {"refused": "too demanding"}
    except Exception as error:
        return {"refused": "corrupt", "defect": place_of(error)}


def place_of(error: Exception) -> str:
    """Where and what, without the words of the error: they may quote the file."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    where = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}" if trace else "nowhere"
    return f"{type(error).__name__} at {where}"


def write(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
