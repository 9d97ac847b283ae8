"""python -m tickwork_docs writes the reference pages; `make docs` calls it."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg

from tickwork_docs.pages import pages
from tickwork_local.postgres import running_postgres

FOLDER = Path(__file__).parents[3] / "docs" / "reference"


def main() -> None:
    with TemporaryDirectory(prefix="tickwork-docs-") as folder:
        # As root, Postgres runs as another user.
        Path(folder).chmod(0o755)
        with running_postgres(Path(folder) / "data", settings={"fsync": "off"}) as server:
            subprocess.run(
                [sys.executable, "-m", "tickwork.cli", "migrate", server.url()], check=True, stdout=subprocess.DEVNULL
            )
            with psycopg.connect(server.url()) as connection:
                for name, text in pages(connection).items():
                    (FOLDER / name).write_text(text)
                    print(f"wrote docs/reference/{name}")


if __name__ == "__main__":
    main()
