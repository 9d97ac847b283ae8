"""A vault in a folder of this machine, for the local stack and for a single server."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from tickwork.errors import Permanent
from tickwork.tools.vault.address import Address
from tickwork.tools.vault.errors import missing, refused, unavailable

BLOCK = 1 << 18


def open_files(address: Address) -> "Files":
    return Files(Path(address.place))


class Files:
    def __init__(self, folder: Path) -> None:
        # The vault itself may be a link; inside it links are not allowed.
        self._folder = folder.resolve()

    @contextmanager
    def read(self, key: str) -> Iterator[Iterator[bytes]]:
        path = self._path(key)
        with translated():
            file = path.open("rb")
        with file:
            yield _blocks(file)

    def write(self, key: str, chunks: Iterable[bytes], mime_type: str) -> None:
        path = self._path(key)
        # Keys never begin with a dot, so nobody can read it under this name.
        draft = path.with_name(f".{uuid4()}")
        with translated():
            path.parent.mkdir(parents=True, exist_ok=True)
            file = draft.open("xb")
        try:
            with file:
                _fill(file, chunks)
            with translated():
                draft.replace(path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise

    def sign(self, key: str, seconds: int) -> str:
        """Not signed: anybody who may read the folder can use it as long as the file exists."""
        return self._path(key).as_uri()

    def delete(self, key: str) -> None:
        path = self._path(key)
        # A folder is not a file, so there is nothing to delete.
        with translated(), suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
            path.unlink()

    def _path(self, key: str) -> Path:
        path = self._folder / key
        if os.path.realpath(path) != str(path):
            raise Permanent("A link leads out of the vault", code="FORBIDDEN_PATH")
        return path


@contextmanager
def translated() -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        raise missing() from None
    except (PermissionError, FileExistsError):
        raise refused() from None
    except OSError:
        raise unavailable() from None


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    with translated():
        while block := file.read(BLOCK):
            yield block


def _fill(file: BinaryIO, chunks: Iterable[bytes]) -> None:
    # Errors of the chunks are not the vault's, and are passed on unchanged.
    for chunk in chunks:
        with translated():
            file.write(chunk)
    with translated():
        file.flush()
        # Otherwise a power cut could leave a file that has its name but not its bytes.
        os.fsync(file.fileno())
