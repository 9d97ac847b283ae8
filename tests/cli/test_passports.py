"""`tickwork passport`: verify offline, print verifiers, register and publish keys."""

import json
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import pytest
from pypdf import PdfWriter

from tests.passports.sample import KEY, PASSPORT, SECOND
from tests.world import World
from tests.world.command_line import run_all
from tickwork.cli import passports, start
from tickwork.cli.verification import verify_given
from tickwork.passports import verifier
from tickwork.passports.status_list import Listed, signed_list
from tickwork.passports.trust import read_jwks

AS_OF = ("--as-of", "2027-06-01")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "passport.json"
    found.write_bytes(PASSPORT.package)
    return found


def verify(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tickwork.cli", "passport", "verify", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_passport_and_its_qr_code_are_verified_offline(file: Path) -> None:
    ran = verify(file, PASSPORT.qr.text, "--key", KEY.id, *AS_OF)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[-1] == "The passport is valid, as of 2027-06-01 00:00:00Z."


def test_the_command_loads_neither_typer_nor_pydantic_nor_the_database(file: Path) -> None:
    code = (
        f"import sys; sys.argv = ['tickwork', 'passport', 'verify', {str(file)!r}]\n"
        "from tickwork.cli.start import main\n"
        "try: main()\n"
        "finally: print({'typer', 'pydantic', 'psycopg', 'segno', 'rich', 'pypdf'} & {*sys.modules})"
    )

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert ran.stdout.splitlines()[-1] == "set()"


def test_the_command_line_loads_nothing_of_the_extra_passport() -> None:
    code = (
        "import sys; from tickwork.cli.main import all_commands; all_commands()\n"
        "print({'rfc8785', 'cel_expr_python', 'segno', 'typst'} & {*sys.modules})"
    )

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout == "set()\n"


def test_the_quick_way_has_the_options_of_the_command() -> None:
    command = next(each for each in passports.group.registered_commands if each.name == "verify")
    assert command.callback is not None
    names = {name for name in command.callback.__annotations__ if name != "return"}

    quick = {action.dest for action in start.parser()._actions}

    assert {("trusted" if name == "key" else name) for name in names} == quick


def test_what_is_wrong_is_said_and_the_exit_code_is_1(file: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.json"
    changed.write_bytes(PASSPORT.package.replace(b"94.5", b"95.5"))
    listed = Listed("urn:x", "2027-05-01T00:00:00Z", {"Example Batteries"}, [], {PASSPORT.receipt_hash.hex()}, set())
    statuses = tmp_path / "statuses.json"
    statuses.write_text(json.dumps(signed_list(listed, KEY)))
    trusted = ["--key", KEY.id, *AS_OF]
    commands: list[list[str | Path]] = [
        [changed, *trusted],
        [file, *AS_OF],
        [file, *trusted, "--status-list", statuses],
        [file, SECOND.qr.text, *trusted],
        [PASSPORT.qr.text],
        [PASSPORT.qr.text + "|x=1", file],
        [file, file],
        [tmp_path / "missing.json"],
        [statuses],
        [file, "--as-of", "tomorrow"],
        [file, "--keys", file],
        [file, "--status-list", file],
    ]

    ran = run_all([["passport", "verify", *map(str, each)] for each in commands], home=tmp_path)

    assert [each.returncode for each in ran] == [1] * len(commands)
    said = [(each.stdout + each.stderr) for each in ran]
    assert "failed   payload: the payload is not the one of the receipt" in said[0]
    assert "unknown  key: nobody has said that key" in said[1]
    assert "failed   status: it is revoked, as of 2027-05-01 00:00:00Z" in said[2]
    assert "failed   qr: the QR code is that of another passport version" in said[3]
    assert "Alone it proves nothing" in said[4]
    assert "tickwork: QR: it is not BPC1|" in said[5]
    assert "one file and one QR code at most" in said[6]
    assert "FILE|QR: " in said[7]
    assert "cannot be read (No such file or directory)" in said[7]
    assert "it is no BPC-PACKAGE-1 and no BPC-BUNDLE-1" in said[8]
    assert "--as-of: must be a time" in said[9]
    assert "--keys: it is no key set" in said[10]
    assert "--status-list: it is no status list" in said[11]


def test_the_pages_of_a_pdf_are_not_verified_and_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A genuine attachment says nothing about pages that somebody has changed, such as this blank one."""
    forged = PdfWriter()
    forged.add_blank_page(100, 100)
    forged.add_attachment("passport.json", PASSPORT.package)
    forged.write(tmp_path / "forged.pdf")

    code = verify_given([str(tmp_path / "forged.pdf")], [KEY.id], as_of=AS_OF[1])

    assert code == 0
    assert "unknown  pages: only what is attached was verified" in capsys.readouterr().out


def test_the_verdict_is_json_for_scripts(file: Path, tmp_path: Path) -> None:
    (ran,) = run_all([["passport", "verify", str(file), "--key", KEY.id, *AS_OF, "--json"]], home=tmp_path)

    found = json.loads(ran.stdout)
    assert found["is_valid"]
    assert found["checks"][0]["name"] == "receipt"


def test_the_verifiers_are_printed_or_written(tmp_path: Path) -> None:
    script, page = run_all(
        [["passport", "verifier"], ["passport", "verifier", "--page", "--to", str(tmp_path / "page.html")]],
        home=tmp_path,
    )

    folder = Path(verifier.__file__).parent
    assert script.stdout == (folder / "verifier.py").read_text()
    assert page.returncode == 0
    assert (tmp_path / "page.html").read_text() == (folder / "verifier.html").read_text()


def test_keys_are_registered_and_published(world: World, tmp_path: Path) -> None:
    to_world = ["--database-url", world.url]
    commands = [
        ["passport", "register-key", *to_world],
        ["passport", "keys", *to_world],
        ["passport", "keys", "--did", "did:web:example.com", *to_world],
    ]
    key = b64encode(KEY.secret).decode()

    registered, keys, document = run_all(
        commands, home=tmp_path, TICKWORK_SIGNING_KEY=key, BPC_SIGNING_KEY_ID="dev-key-1"
    )
    (refused,) = run_all(commands[:1], home=tmp_path)

    assert registered.stdout == f"Key {KEY.id} is active.\n"
    found = read_jwks(json.loads(keys.stdout))[KEY.id]
    assert (found.public, found.status, found.name) == (KEY.public, "active", "dev-key-1")
    assert json.loads(document.stdout)["assertionMethod"] == [f"did:web:example.com#{KEY.id}"]
    assert key not in registered.stdout + keys.stdout + document.stdout
    assert "There is no key to sign with: set TICKWORK_SIGNING_KEY" in refused.stderr
