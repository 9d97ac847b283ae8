"""Uploads: into the caller's part of the vault, whole or not at all."""

import hashlib
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit
from uuid import UUID

import pytest

from tests.servers.api import running_api
from tests.world import World
from tests.world.api import Answer, Api, api_of, member_of, user_token
from tests.world.waiting import until
from tickwork.api.storing import MAX_FILE_BYTES
from tickwork.client import Tickwork

FILE = "Grüße aus der Hauptstraße".encode() * 50_000


@pytest.fixture
def acme(world: World) -> UUID:
    return world.tenant("acme")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return tmp_path / "vault"


@pytest.fixture
def nobody(world: World, vault: Path) -> Iterator[Api]:
    with api_of(world, TICKWORK_VAULT_URL=f"file:{vault}") as api:
        yield api


def uploaded(api: Api, content: bytes = FILE, **query: str) -> Answer:
    given = {"name": "a.pdf", **query}
    kind = "application/octet-stream"
    return api.send("POST", "documents/files", data=content, content_type=kind, query_string=given)


def files_in(vault: Path) -> list[Path]:
    return [each for each in vault.rglob("*") if each.is_file()]


def test_a_member_uploads_a_file_and_gets_its_document(world: World, acme: UUID, nobody: Api, vault: Path) -> None:
    member = nobody.as_user(member_of(world, acme))

    answer = uploaded(member, name="../Miet\nvertrag.PDF")

    row = world.row("select * from documents")
    assert (answer.status, answer.body["id"]) == (200, str(row["id"]))
    assert (row["tenant_id"], row["name"], row["mime_type"]) == (acme, "../Miet_vertrag.PDF", "application/pdf")
    assert (row["size"], row["sha256"]) == (len(FILE), hashlib.sha256(FILE).hexdigest())
    assert (vault / row["vault_path"]).read_bytes() == FILE
    assert len(files_in(vault)) == 1


def test_nothing_is_written_for_those_who_may_not_add_documents(
    world: World, acme: UUID, nobody: Api, vault: Path
) -> None:
    reader = world.service.keys.create_api_key("reader", ["read"], acme)["key"]
    sender = world.service.keys.create_api_key("sender", ["enqueue"], acme)["key"]
    stranger = nobody.as_user(member_of(world, world.tenant("other"), role="owner"))

    refused = [
        uploaded(nobody),
        uploaded(nobody.with_key(reader)),
        uploaded(stranger, tenant_id=str(acme)),
    ]
    tried = uploaded(nobody.with_key(sender), dry_run="true")

    assert [answer.status for answer in refused] == [401, 403, 403]
    assert (tried.status, tried.body["dry_run"]) == (200, True)
    assert (files_in(vault), world.rows("select from documents")) == ([], [])
    assert uploaded(nobody.with_key(sender)).status == 200


def test_a_file_that_is_refused_leaves_nothing(world: World, acme: UUID, nobody: Api, vault: Path) -> None:
    member = nobody.as_user(member_of(world, acme))

    large = uploaded(member, b"x" * (MAX_FILE_BYTES + 1))
    nameless = uploaded(member, name="")
    form = member.send("POST", "documents/files?name=a.pdf", data={"file": "x"})
    # A name that is as long as allowed, and cannot be stored.
    unnamed = uploaded(member, name="\x00")

    assert [each.status for each in (large, nameless, form, unnamed)] == [413, 400, 415, 400]
    assert (files_in(vault), world.rows("select from documents")) == ([], [])


def test_without_a_vault_the_setting_is_named(world: World, acme: UUID) -> None:
    with api_of(world) as nobody:
        answer = uploaded(nobody.as_user(member_of(world, acme)))

    assert answer.status == 422
    assert "TICKWORK_VAULT_URL" in answer.body["detail"]


def test_over_a_real_connection_a_file_arrives_whole_or_not_at_all(world: World, acme: UUID, tmp_path: Path) -> None:
    token = user_token(member_of(world, acme))
    with running_api(world, tmp_path) as url:
        host, port = urlsplit(url).hostname, urlsplit(url).port
        head = f"POST /api/v1/documents/files?name=a.pdf HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"
        with socket.create_connection((host, port), timeout=30) as broken:
            broken.sendall(f"{head}Content-Type: application/octet-stream\r\nContent-Length: 900000\r\n\r\n".encode())
            broken.sendall(b"x" * 300_000)
            until(lambda: files_in(tmp_path / "vault"))
        until(lambda: not files_in(tmp_path / "vault"))
        with Tickwork(url=url, token=token) as client:
            row = client.documents.upload_document(None, "letter.txt", FILE)

    assert (row["size"], row["tenant_id"]) == (len(FILE), acme)
    assert (tmp_path / "vault" / row["vault_path"]).read_bytes() == FILE
    assert world.value("select count(*) from documents") == 1
