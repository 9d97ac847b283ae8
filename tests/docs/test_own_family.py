"""From an empty folder and an existing database to a bundle, as the guide says, with an installed wheel."""

import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import psycopg

from tests.docs.pages import ROOT, blocks
from tests.docs.test_guides import BEGINNING, OWN_FAMILY, PATIENCE, environment, script_of
from tests.world.command_line import open_folder
from tests.world.wheel import build_wheel
from tickwork.testing.database import cloned
from tickwork_local.functions import free_ports
from tickwork_local.postgres import Server

GUIDE = ROOT / "docs/guide/your-own-family.md"
APPLICATION = """
    create table organizations (id uuid primary key default gen_random_uuid(), name text not null unique);
    create table users (id uuid primary key, organization_id uuid not null references organizations, role text);
    create table documents (id bigint generated always as identity primary key, organization_id uuid, title text);
    insert into organizations (name) values ('Acme'), ('Bolt');
    insert into documents (title) values ('ours');
"""
# pip as it would be if the wheel were in its index; what the wheel needs is lent by the tests.
PIP = """
pip() {{
  command pip "$@" --quiet --no-index --no-deps --find-links {wheels}
  echo {packages} > "$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/lent.pth"
}}
"""
MAX_COMMANDS = 15


def test_the_guide_takes_at_most_fifteen_commands() -> None:
    shell = [block.text for block in blocks(GUIDE) if block.words[0] == "sh" and "norun" not in block.words]
    commands = [line for text in shell for line in text.replace("\\\n", " ").splitlines() if line.strip()]

    assert len(commands) <= MAX_COMMANDS
    assert not [command for command in commands if re.search("&&|;", command)]


def test_the_guide_leads_from_an_empty_folder_to_a_bundle(server: Server, tmp_path: Path) -> None:
    build_wheel(tmp_path)
    pip = PIP.format(wheels=tmp_path, packages=sysconfig.get_paths()["purelib"])
    (port,) = free_ports(1)

    with open_folder() as folder, cloned(server, "template0") as name:
        url = server.url(name)
        with psycopg.connect(url) as connection:
            connection.execute(APPLICATION)
        settings = {**environment(), "DATABASE_URL": url, "PORT": str(port)}
        script = BEGINNING + pip + "".join(map(script_of, OWN_FAMILY))
        process = subprocess.run(
            ["bash", "-c", script], cwd=folder, env=settings, capture_output=True, text=True, timeout=PATIENCE
        )
        logs = "".join(f"\n{log.name}:\n{log.read_text()}" for log in sorted(folder.rglob("*.log")))
        assert process.returncode == 0, f"{process.stdout[-3000:]}\n{process.stderr[-3000:]}\n{logs[-5000:]}"
        assert Path(folder, ".venv/bin/tickwork").exists()
        assert Path(folder, "dist/billing/write_invoice.py").exists()
        assert str(ROOT) not in logs.replace(sys.prefix, "")
        with psycopg.connect(url) as connection:
            rows = connection.execute("select text, name from invoices join organizations o on o.id = tenant_id")
            assert rows.fetchall() == [("One chair, 42 EUR", "Acme")]
            assert connection.execute("select title from documents").fetchall() == [("ours",)]


def test_the_handler_in_the_guide_is_the_one_that_is_written() -> None:
    template = (ROOT / "infra/templates/type/functions/my_family/verb_object.py").read_text()
    words = {"verb_object": "write_invoice", "VERB_OBJECT": "WRITE_INVOICE", "my_table": "invoices"}
    for word, value in words.items():
        template = template.replace(word, value)

    assert [block.text.partition("\n")[2] for block in blocks(GUIDE) if block.words == ("python",)] == [template]
