"""python -m tickwork_client writes the files of the clients that follow from others; `make client` calls it."""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg

from tickwork_client.sync_files import CLIENT, sync_files


def main() -> None:
    # First: the command line, which migrates, needs them.
    for name, text in sync_files().items():
        (CLIENT / name).write_text(text)
        print(f"wrote shared/tickwork/client/{name}")

    from tickwork_client.functions import OPENAPI, functions_json
    from tickwork_client.typescript import SOURCES, typescript_files
    from tickwork_local.postgres import running_postgres

    with TemporaryDirectory(prefix="tickwork-client-") as folder:
        # As root, Postgres runs as another user.
        Path(folder).chmod(0o755)
        with running_postgres(Path(folder) / "data", settings={"fsync": "off"}) as server:
            subprocess.run(
                [sys.executable, "-m", "tickwork.cli", "migrate", server.url()], check=True, stdout=subprocess.DEVNULL
            )
            with psycopg.connect(server.url()) as connection:
                (CLIENT / "functions.json").write_text(functions_json(connection))
                print("wrote shared/tickwork/client/functions.json")
                for name, text in typescript_files(connection, json.loads(OPENAPI.read_text())).items():
                    (SOURCES / name).write_text(text)
                    print(f"wrote shared/tickwork-js/src/{name}")


if __name__ == "__main__":
    main()
