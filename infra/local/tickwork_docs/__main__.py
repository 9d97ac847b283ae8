"""python -m tickwork_docs writes the reference pages, openapi.json and cli/contents.py; `make docs` calls it."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg

from tickwork_docs import contents, openapi
from tickwork_docs.pages import pages
from tickwork_local.postgres import running_postgres

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "docs" / "reference"
OPENAPI = ROOT / "shared/tickwork/api/openapi.json"
CONTENTS = ROOT / "shared/tickwork/cli/contents.py"


def main() -> None:
    CONTENTS.write_text(contents.module())
    print(f"wrote {CONTENTS.relative_to(ROOT)}")
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
                OPENAPI.write_text(openapi.document(connection))
                print(f"wrote {OPENAPI.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
