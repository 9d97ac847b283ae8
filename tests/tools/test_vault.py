"""The vault, of each kind: what is written is read, by its own tenant only, whole or not at all."""

import errno
import os
import re
import threading
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

import boto3  # type: ignore[import-untyped]
import pytest
from moto.server import ThreadedMotoServer

from tests.servers.storage import (
    BUCKET,
    KEY,
    StorageServer,
    Trouble,
    answering,
    breaking_off,
    hanging_up,
    never_answering,
    running_storage,
    sending_until_nobody_listens,
    waiting_halfway,
    without_length,
)
from tests.world.waiting import PATIENCE
from tickwork.errors import BadSetting, JobError, Permanent, Retryable
from tickwork.tools.vault import Vault, derived_key, document_key, files, open_vault, s3, supabase
from tickwork.tools.vault.address import Address, parse

TENANT = UUID("0a1b2c3d-0000-4000-8000-000000000001")
OTHER = UUID("0a1b2c3d-0000-4000-8000-000000000002")
FILE = f"tenant/{TENANT}/documents/a.pdf"
SECRET = "never-to-be-seen"


@dataclass(frozen=True)
class Place:
    """A vault of one kind, and a look at all that is in it from the outside."""

    kind: str
    url: str
    key: str | None
    contents: Callable[[], dict[str, bytes]]

    def vault(self, tenant: UUID = TENANT) -> Vault:
        return open_vault(self.url, tenant, self.key)


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def amazon(moto: str) -> Any:
    urllib.request.urlopen(urllib.request.Request(f"{moto}/moto-api/reset", method="POST")).close()
    client = boto3.client("s3", endpoint_url=moto, region_name="us-east-1")
    client.create_bucket(Bucket=BUCKET)
    return client


@pytest.fixture(scope="module")
def storage_of_all() -> Iterator[StorageServer]:
    with running_storage() as server:
        yield server


@pytest.fixture
def storage(storage_of_all: StorageServer) -> StorageServer:
    storage_of_all.reset()
    return storage_of_all


@pytest.fixture(params=["file", "s3", "supabase"])
def place(request: pytest.FixtureRequest) -> Place:
    found: Place = request.getfixturevalue(f"{request.param}_place")
    return found


@pytest.fixture
def file_place(tmp_path: Path) -> Place:
    folder = tmp_path / "vault"

    def contents() -> dict[str, bytes]:
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    return Place("file", f"file:{folder}", None, contents)


@pytest.fixture
def s3_place(moto: str, amazon: Any) -> Place:
    def contents() -> dict[str, bytes]:
        keys = [each["Key"] for each in amazon.list_objects_v2(Bucket=BUCKET).get("Contents", [])]
        return {key: amazon.get_object(Bucket=BUCKET, Key=key)["Body"].read() for key in keys}

    return Place("s3", f"s3://{BUCKET}?endpoint={quote(moto)}&region=us-east-1", None, contents)


@pytest.fixture
def supabase_place(storage: StorageServer) -> Place:
    def contents() -> dict[str, bytes]:
        return {path.removeprefix(f"{BUCKET}/"): found.content for path, found in storage.objects.items()}

    return Place("supabase", f"supabase:{storage.url}", KEY, contents)


@pytest.fixture(params=["s3", "supabase"])
def troubled(request: pytest.FixtureRequest, storage: StorageServer) -> Vault:
    """A vault that speaks to a server which misbehaves."""
    if request.param == "s3":
        return open_vault(f"s3://{BUCKET}?endpoint={storage.url}&region=us-east-1", TENANT)
    return open_vault(f"supabase:{storage.url}", TENANT, KEY)


def read(vault: Vault, key: str = FILE) -> bytes:
    with vault.read(key) as chunks:
        return b"".join(chunks)


VERBS: dict[str, Callable[[Vault, str], object]] = {
    "read": read,
    "write": lambda vault, key: vault.write(key, [b"new"], "text/plain"),
    "sign": lambda vault, key: vault.sign(key, 60),
    "delete": lambda vault, key: vault.delete(key),
}


@pytest.mark.parametrize("size", [0, 1, 11_000_000])
def test_what_was_written_is_read_in_small_pieces(place: Place, size: int) -> None:
    content = os.urandom(size)

    place.vault().write(FILE, (content[at : at + 300_000] for at in range(0, size, 300_000)), "application/pdf")
    with place.vault().read(FILE) as chunks:
        pieces = list(chunks)

    assert b"".join(pieces) == content
    assert max(map(len, pieces), default=0) <= 1 << 18
    assert place.contents() == {FILE: content}


def test_a_second_write_replaces_the_first(place: Place) -> None:
    place.vault().write(FILE, [b"old and longer"], "text/plain")

    place.vault().write(FILE, [b"new"], "text/plain")

    assert (read(place.vault()), list(place.contents())) == (b"new", [FILE])


def test_a_source_that_breaks_off_leaves_what_was_there_and_keeps_its_error(place: Place) -> None:
    place.vault().write(FILE, [b"old"], "text/plain")
    seen = []

    def source() -> Iterator[bytes]:
        yield b"n" * 6_000_000
        seen.append(read(place.vault()))
        raise OSError("the disk of the caller")

    with pytest.raises(OSError, match="the disk of the caller"):
        place.vault().write(FILE, source(), "text/plain")

    assert seen == [b"old"]
    assert place.contents() == {FILE: b"old"}


def test_an_error_of_the_reader_stays_what_it_is(place: Place) -> None:
    place.vault().write(FILE, [b"some"], "text/plain")

    def copy() -> None:
        with place.vault().read(FILE) as chunks:
            raise OSError(f"the disk of the caller, after {next(chunks)!r}")

    with pytest.raises(OSError, match="the disk of the caller, after b'some'"):
        copy()


def test_a_missing_file_is_missing_for_good(place: Place) -> None:
    place.vault().write(f"{FILE}.other", [b"x"], "text/plain")

    for key in (FILE, f"{FILE}.other/below", f"tenant/{TENANT}/documents"):
        with pytest.raises(Permanent) as refusal:
            read(place.vault(), key)
        assert refusal.value.code == "FILE_MISSING"


def test_what_is_deleted_is_gone_and_can_be_deleted_again(place: Place) -> None:
    place.vault().write(FILE, [b"x"], "text/plain")

    for _ in range(2):
        place.vault().delete(FILE)
    place.vault().delete(f"tenant/{TENANT}/documents")

    assert place.contents() == {}


def test_anybody_can_read_by_a_signed_url(place: Place) -> None:
    place.vault().write(FILE, [b"signed"], "text/plain")

    with urllib.request.urlopen(place.vault().sign(FILE, 60)) as answer:
        assert answer.read() == b"signed"
        # A browser that is given a page by the vault shall not run it.
        assert place.kind == "file" or answer.headers["Content-Disposition"].startswith("attachment")


@pytest.mark.parametrize("seconds", [0, -1, 604_801])
def test_nothing_is_signed_for_ever(place: Place, seconds: int) -> None:
    with pytest.raises(ValueError, match="1 to 604800 seconds"):
        place.vault().sign(FILE, seconds)


OUTSIDE = [
    f"tenant/{OTHER}/documents/a.pdf",
    f"tenant/{TENANT}/../{OTHER}/documents/a.pdf",
    f"tenant/{TENANT}/documents/../../{OTHER}/documents/a.pdf",
    f"tenant/{TENANT}/%2e%2e/{OTHER}/documents/a.pdf",
    f"tenant/{TENANT}/..%2f{OTHER}/documents/a.pdf",
    f"tenant/{TENANT}/./documents/a.pdf",
    f"tenant/{TENANT}//documents/a.pdf",
    f"tenant/{TENANT}/documents/.a.pdf",
    f"tenant/{TENANT}/documents/a.pdf/",
    f"tenant/{TENANT}/documents/a.pdf\n",
    f"tenant/{TENANT}/documents/a.pdf\0",
    f"tenant/{TENANT}/documents\\..\\a.pdf",
    f"tenant/{TENANT}/documents/ä.pdf",
    f"tenant/{TENANT}/documents/a.pdf?token=1",
    f"tenant/{TENANT}/documents/a.pdf#b",
    f"tenant/{TENANT}/documents/{'a' * 201}",
    f"tenant/{TENANT}{'/documents' * 100}",
    f"/tenant/{TENANT}/documents/a.pdf",
    f"x/tenant/{TENANT}/documents/a.pdf",
    f"tenant/{str(TENANT).upper()}/documents/a.pdf",
    f"tenant/{TENANT}x/documents/a.pdf",
    f"tenant/{TENANT}",
    f"tenant/{TENANT}/",
    "",
]


def test_no_verb_leaves_the_tenants_part(place: Place) -> None:
    place.vault(OTHER).write(OUTSIDE[0], [b"secret"], "text/plain")

    for key in OUTSIDE:
        for name, verb in VERBS.items():
            with pytest.raises(Permanent) as refusal:
                verb(place.vault(), key)
            assert (name, key, refusal.value.code) == (name, key, "FORBIDDEN_PATH")

    assert place.contents() == {OUTSIDE[0]: b"secret"}


def test_a_mime_type_that_would_write_headers_is_refused(place: Place) -> None:
    with pytest.raises(Permanent) as refusal:
        place.vault().write(FILE, [b"x"], "text/plain\r\nX-Other: 1")

    assert refusal.value.code == "INVALID_MIME_TYPE"


@pytest.mark.parametrize("link", ["documents/a.pdf", "documents", ""])
def test_links_do_not_lead_out_of_a_folder(file_place: Place, tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside"
    (outside / "documents").mkdir(parents=True)
    (outside / "documents/a.pdf").write_bytes(b"secret")
    name = tmp_path / "vault/tenant" / str(TENANT) / link
    name.parent.mkdir(parents=True)
    name.symlink_to(outside / link)

    for verb in VERBS.values():
        with pytest.raises(Permanent) as refusal:
            verb(file_place.vault(), FILE)
        assert refusal.value.code == "FORBIDDEN_PATH"

    assert (outside / "documents/a.pdf").read_bytes() == b"secret"


def test_a_folder_may_itself_be_reached_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "vault").symlink_to(tmp_path / "disk")

    open_vault(f"file://{tmp_path}/vault", TENANT).write(FILE, [b"x"], "text/plain")

    assert (tmp_path / "disk" / FILE).read_bytes() == b"x"


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (FileNotFoundError(), Permanent, "FILE_MISSING"),
        (PermissionError(), Permanent, "VAULT_REFUSED"),
        (OSError(errno.ENOSPC, "full", "/secret/path"), Retryable, "VAULT_UNAVAILABLE"),
        (OSError(errno.EIO, "broken"), Retryable, "VAULT_UNAVAILABLE"),
    ],
)
def test_errors_of_the_file_system_are_told_apart(error: OSError, kind: type[JobError], code: str) -> None:
    with pytest.raises(kind) as found, files.translated():
        raise error

    assert found.value.code == code
    assert "secret" not in str(found.value)


def test_a_large_file_goes_to_s3_in_parts_while_its_source_is_read(s3_place: Place, amazon: Any) -> None:
    sent = []

    def source() -> Iterator[bytes]:
        for _ in range(12):
            yield bytes(1_000_000)
            (upload,) = amazon.list_multipart_uploads(Bucket=BUCKET).get("Uploads", [None])
            parts = upload and amazon.list_parts(Bucket=BUCKET, Key=FILE, UploadId=upload["UploadId"]).get("Parts")
            sent.append(len(parts or []))

    s3_place.vault().write(FILE, source(), "application/pdf")

    assert sent[5:] == sorted(sent[5:])
    assert sent[-1] == 2
    assert amazon.head_object(Bucket=BUCKET, Key=FILE)["ContentType"] == "application/pdf"


def test_a_source_that_breaks_off_leaves_no_parts_on_s3(s3_place: Place, amazon: Any) -> None:
    def source() -> Iterator[bytes]:
        yield bytes(11_000_000)
        raise OSError("the disk of the caller")

    with pytest.raises(OSError, match="the disk of the caller"):
        s3_place.vault().write(FILE, source(), "application/pdf")

    assert "Uploads" not in amazon.list_multipart_uploads(Bucket=BUCKET)


def test_s3_is_refused_until_there_are_keys(s3_place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    place = replace(s3_place, url=s3_place.url.replace("us-east-1", "us-east-2"))
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.setenv("HOME", str(tmp_path))

    with pytest.raises(Permanent) as refusal:
        place.vault()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    place.vault().write(FILE, [b"x"], "text/plain")

    assert refusal.value.code == "VAULT_REFUSED"
    assert place.contents() == {FILE: b"x"}


def test_the_bucket_is_no_part_of_the_servers_name() -> None:
    vault = open_vault("s3://files?endpoint=https://storage.example.com/storage/v1/s3&region=eu-1", TENANT)

    assert vault.sign(FILE, 60).startswith(f"https://storage.example.com/storage/v1/s3/files/{FILE}?")


def test_a_missing_bucket_is_the_operators_matter(moto: str, storage: StorageServer) -> None:
    vaults = [
        open_vault(f"s3://no-such-bucket?endpoint={moto}&region=us-east-1", TENANT),
        open_vault(f"supabase:{storage.url}?bucket=no-such-bucket", TENANT, KEY),
    ]

    for vault in vaults:
        for verb in (VERBS["read"], VERBS["write"]):
            with pytest.raises(Permanent) as refusal:
                verb(vault, FILE)
            assert refusal.value.code == "VAULT_MISSING"


def test_supabase_gets_the_type_and_the_length_and_replaces(supabase_place: Place, storage: StorageServer) -> None:
    supabase_place.vault().write(FILE, [b"a", b"b"], "application/pdf")

    ((method, path, headers),) = storage.requests
    assert (method, path) == ("POST", f"/storage/v1/object/{BUCKET}/{FILE}")
    assert headers["x-upsert"] == "true"
    assert "Transfer-Encoding" not in headers
    assert storage.objects[f"{BUCKET}/{FILE}"].mime_type == "application/pdf"


def test_a_wrong_key_is_refused(storage: StorageServer) -> None:
    vault = open_vault(f"supabase:{storage.url}", TENANT, SECRET)

    for verb in VERBS.values():
        with pytest.raises(Permanent) as refusal:
            verb(vault, FILE)
        assert refusal.value.code == "VAULT_REFUSED"
        assert SECRET not in str(refusal.value)


def body(status: str, error: str, message: str = "of /secret/path") -> dict[str, str]:
    return {"statusCode": status, "error": error, "message": message}


def xml(code: str) -> bytes:
    return f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>/secret/path</Message></Error>".encode()


ANSWERS: list[tuple[Trouble, type[JobError], str, float | None]] = [
    (answering(400, b"nonsense"), Permanent, "VAULT_REFUSED", None),
    (answering(401), Permanent, "VAULT_REFUSED", None),
    (answering(403), Permanent, "VAULT_REFUSED", None),
    (answering(302, Location="http://127.0.0.1:9/"), Permanent, "VAULT_REFUSED", None),
    (answering(404), Permanent, "FILE_MISSING", None),
    (answering(413), Permanent, "FILE_TOO_LARGE", None),
    (answering(408), Retryable, "VAULT_UNAVAILABLE", None),
    (answering(429, Retry_After="7"), Retryable, "VAULT_UNAVAILABLE", 7),
    (answering(429, Retry_After="9" * 5000), Retryable, "VAULT_UNAVAILABLE", 3600),
    (answering(429, Retry_After="Wed, 21 Oct 2026 07:28:00 GMT"), Retryable, "VAULT_UNAVAILABLE", None),
    (answering(500), Retryable, "VAULT_UNAVAILABLE", None),
    (answering(503, b"<html>/secret/path"), Retryable, "VAULT_UNAVAILABLE", None),
    (answering(544), Retryable, "VAULT_UNAVAILABLE", None),
    (hanging_up, Retryable, "VAULT_UNAVAILABLE", None),
]
SUPABASE_ANSWERS: list[tuple[Trouble, type[JobError], str, float | None]] = [
    (answering(400, body("404", "not_found")), Permanent, "FILE_MISSING", None),
    (answering(400, body("404", "", "The related resource does not exist")), Permanent, "VAULT_MISSING", None),
    (answering(400, body("400", "InvalidJWT")), Permanent, "VAULT_REFUSED", None),
    (answering(400, body("413", "Payload too large")), Permanent, "FILE_TOO_LARGE", None),
    (answering(400, body("423", "ResourceLocked")), Retryable, "VAULT_UNAVAILABLE", None),
    (answering(400, body("503", "SlowDown")), Retryable, "VAULT_UNAVAILABLE", None),
    (answering(400, [1]), Permanent, "VAULT_REFUSED", None),
]  # fmt: skip
S3_ANSWERS: list[tuple[Trouble, type[JobError], str, float | None]] = [
    (answering(403, xml("InvalidAccessKeyId")), Permanent, "VAULT_REFUSED", None),
    (answering(400, xml("ExpiredToken")), Permanent, "VAULT_REFUSED", None),
    (answering(404, xml("NoSuchKey")), Permanent, "FILE_MISSING", None),
    (answering(404, xml("NoSuchBucket")), Permanent, "VAULT_MISSING", None),
    (answering(404, xml("NoSuchUpload")), Retryable, "VAULT_UNAVAILABLE", None),
    (answering(400, xml("EntityTooLarge")), Permanent, "FILE_TOO_LARGE", None),
    (answering(400, xml("RequestTimeout")), Retryable, "VAULT_UNAVAILABLE", None),
]


def expect(vault: Vault, verbs: Iterable[str], kind: type[JobError], code: str, delay: float | None) -> None:
    for name in verbs:
        with pytest.raises(kind) as found:
            VERBS[name](vault, FILE)
        assert (name, found.value.code, getattr(found.value, "delay", None)) == (name, code, delay)
        assert not re.search("secret|tenant/|127.0.0.1|a.pdf", str(found.value))
        assert found.value.__suppress_context__ or found.value.__context__ is None


@pytest.mark.parametrize(("trouble", "kind", "code", "delay"), ANSWERS)
def test_each_answer_of_a_server_has_its_error(
    troubled: Vault, storage: StorageServer, trouble: Trouble, kind: type[JobError], code: str, delay: float | None
) -> None:
    storage.trouble = trouble

    expect(troubled, ["read"], kind, code, delay)


@pytest.mark.parametrize(("trouble", "kind", "code", "delay"), SUPABASE_ANSWERS)
def test_supabase_says_it_in_the_body(
    supabase_place: Place,
    storage: StorageServer,
    trouble: Trouble,
    kind: type[JobError],
    code: str,
    delay: float | None,
) -> None:
    storage.trouble = trouble

    expect(supabase_place.vault(), VERBS, kind, code, delay)


@pytest.mark.parametrize(("trouble", "kind", "code", "delay"), S3_ANSWERS)
def test_s3_says_it_in_its_codes(
    storage: StorageServer, trouble: Trouble, kind: type[JobError], code: str, delay: float | None
) -> None:
    storage.trouble = trouble

    vault = open_vault(f"s3://{BUCKET}?endpoint={storage.url}&region=us-east-1", TENANT)
    expect(vault, ["read", "write", "delete"], kind, code, delay)


def test_a_server_that_is_away_is_worth_a_retry() -> None:
    with running_storage() as gone:
        pass

    for vault in (
        open_vault(f"s3://{BUCKET}?endpoint={gone.url}&region=us-east-1", TENANT),
        open_vault(f"supabase:{gone.url}", TENANT, KEY),
    ):
        expect(vault, ["read", "write", "delete"], Retryable, "VAULT_UNAVAILABLE", None)


def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s3, "READ_SECONDS", 0.1)
    monkeypatch.setattr(supabase, "READ_SECONDS", 0.1)

    with running_storage() as silent:
        silent.trouble = never_answering
        for vault in (
            open_vault(f"s3://{BUCKET}?endpoint={silent.url}&region=us-east-1", TENANT),
            open_vault(f"supabase:{silent.url}", TENANT, KEY),
        ):
            expect(vault, ["read", "write"], Retryable, "VAULT_UNAVAILABLE", None)


def test_an_outage_is_asked_twice_at_most(troubled: Vault, storage: StorageServer) -> None:
    storage.trouble = answering(503)

    with pytest.raises(Retryable):
        read(troubled)

    assert 1 <= len(storage.requests) <= 2


def test_a_file_that_breaks_off_does_not_pass_as_whole(troubled: Vault, storage: StorageServer) -> None:
    storage.trouble = breaking_off

    expect(troubled, ["read"], Retryable, "VAULT_UNAVAILABLE", None)


def test_a_file_of_unknown_length_does_not_pass_as_whole(troubled: Vault, storage: StorageServer) -> None:
    storage.trouble = without_length

    expect(troubled, ["read"], Retryable, "VAULT_UNAVAILABLE", None)


def test_a_file_is_read_while_it_arrives(troubled: Vault, storage: StorageServer) -> None:
    first, rest, may_go_on = b"a" * (1 << 19), b"b" * (1 << 19), threading.Event()
    storage.trouble = waiting_halfway(first, rest, may_go_on)

    with troubled.read(FILE) as chunks:
        begin = next(chunks)
        may_go_on.set()
        whole = begin + b"".join(chunks)

    assert whole == first + rest


def test_a_file_that_is_left_halfway_is_not_sent_on(troubled: Vault, storage: StorageServer) -> None:
    has_noticed = threading.Event()
    storage.trouble = sending_until_nobody_listens(has_noticed)

    with troubled.read(FILE) as chunks:
        next(chunks)

    assert has_noticed.wait(PATIENCE)


def test_an_answer_from_something_in_between_is_worth_a_retry(supabase_place: Place, storage: StorageServer) -> None:
    for answer in (b"<html>Welcome to our hotel", {"signedURL": None}):
        storage.trouble = answering(200, answer)
        expect(supabase_place.vault(), ["write", "sign"], Retryable, "VAULT_UNAVAILABLE", None)


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        ("Mietvertrag Müller.PDF", ".pdf"),
        ("archive.tar.gz", ".gz"),
        ("no extension", ""),
        ("ends with a dot.", ""),
        (".profile", ""),
        ("folder/.profile", ""),
        ("x.verylongextension", ""),
        ("x.pdf\n", ""),
        ("x.p/df", ""),
        ("x.übel", ""),
        ("../../x.docx", ".docx"),
        ("", ""),
    ],
)
def test_a_key_takes_only_a_plain_extension_of_the_name(name: str, suffix: str) -> None:
    key = document_key(TENANT, name)

    assert re.fullmatch(f"tenant/{TENANT}/documents/[0-9a-f-]{{36}}{re.escape(suffix)}", key)
    assert key != document_key(TENANT, name)


def test_generated_keys_are_the_tenants_own(file_place: Place) -> None:
    for key in (document_key(TENANT, "a.pdf"), derived_key(TENANT, uuid4())):
        file_place.vault().write(key, [b"x"], "text/plain")
        assert read(file_place.vault(), key) == b"x"


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("file:/var/vault", Address("file", "/var/vault")),
        ("file:///var/vault", Address("file", "/var/vault")),
        ("file:.tickwork/vault", Address("file", ".tickwork/vault")),
        ("s3://files", Address("s3", "", "files")),
        ("s3://?region=eu-central-1", Address("s3", "", "tenant-vault", "eu-central-1")),
        (
            "s3://files?endpoint=https://a.storage.supabase.co/storage/v1/s3&region=eu-1",
            Address("s3", "https://a.storage.supabase.co/storage/v1/s3", "files", "eu-1"),
        ),
        ("supabase:https://a.supabase.co", Address("supabase", "https://a.supabase.co", key=KEY)),
        (
            "supabase:https://a.supabase.co/?bucket=files",
            Address("supabase", "https://a.supabase.co", "files", key=KEY),
        ),
        ("supabase:http://localhost:54321", Address("supabase", "http://localhost:54321", key=KEY)),
    ],
)
def test_a_url_says_where_the_vault_is(url: str, address: Address) -> None:
    assert parse(url, KEY) == address


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("", "must start with file:, s3: or supabase:"),
        (f"ftp:ä {SECRET}", "must start with file:, s3: or supabase:"),
        ("file:", "path of a folder"),
        (f"file://{SECRET}/vault", "path of a folder"),
        ("s3:files", "must be followed by //"),
        (f"s3://AKIA:{SECRET}@files", "a bucket has a name"),
        (f"s3://files/{SECRET}", "can only be followed by"),
        (f"s3://files?endpoint=https://a:{SECRET}@b", "server's URL is not valid"),
        (f"s3://files?endpoint=https://b:{SECRET}", "server's URL is not valid"),
        ("s3://files?endpoint=", "server's URL is not valid"),
        ("s3://files?endpoint=http://example.com", "must start with https://"),
        ("s3://files?region=EU%20west", "the region is not valid"),
        ("s3://files?region=a&region=b", "appears twice"),
        (f"s3://files?{SECRET}=1", "options are unknown"),
        (f"s3://files ä {SECRET}", "must be ASCII"),
        ("supabase:", "server's URL is not valid"),
        ("supabase:https://[::1", "server's URL is not valid"),
        ("supabase:https://a_b.example.com", "server's URL is not valid"),
        ("supabase:http://example.com", "must start with https://"),
        ("supabase:https://a.supabase.co?bucket=../x", "a bucket has a name"),
    ],
)
def test_a_bad_url_stops_the_start_with_one_line(url: str, problem: str) -> None:
    with pytest.raises(BadSetting, match=re.escape(problem)) as refusal:
        open_vault(url, TENANT, KEY)

    line = str(refusal.value)
    assert line.startswith("TICKWORK_VAULT_URL: ")
    assert "Example: " in line
    assert "\n" not in line
    assert SECRET not in line


@pytest.mark.parametrize("key", [None, "", "two words", "line\n"])
def test_a_supabase_vault_needs_a_key(key: str | None) -> None:
    with pytest.raises(BadSetting, match=r"^TICKWORK_VAULT_KEY: "):
        open_vault("supabase:https://a.supabase.co", TENANT, key)


def test_the_key_is_never_printed() -> None:
    assert SECRET not in repr(parse("supabase:https://a.supabase.co", SECRET))
