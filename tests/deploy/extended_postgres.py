"""Postgres 15 of Debian in a folder of ours, with plpgsql_check from its package and pg_cron built from source."""

import hashlib
import shutil
import tarfile
import urllib.request
from pathlib import Path

from tests.world.node import CACHE
from tickwork_local.node import CannotInstall, one_at_a_time, run

SYSTEM = Path("/usr/lib/postgresql/15")
PACKAGES = ["postgresql-15-plpgsql-check", "postgresql-server-dev-15"]
# The pool keeps it as long as a release of Debian has it.
PG_CRON = "pool/main/p/pg-cron/pg-cron_1.6.7.orig.tar.gz"
PG_CRON_SHA256 = "d950bc29155f31017567e23a31d268ff672e98276c0e9d062512fb7870351f03"


def extended_binaries() -> Path:
    """The folder of a Postgres 15 that knows plpgsql_check and pg_cron; made once, kept in the cache."""
    tree = CACHE / "postgres-15"
    binaries = tree / "usr/lib/postgresql/15/bin"
    if not SYSTEM.exists():
        raise CannotInstall(f"there is no Postgres 15 of Debian in {SYSTEM}")
    with one_at_a_time(tree):
        if not (tree / "is-complete").exists():
            shutil.rmtree(tree, ignore_errors=True)
            copy_system(tree)
            unpack_packages(tree)
            build_pg_cron(tree)
            (tree / "is-complete").touch()
    return binaries


def copy_system(tree: Path) -> None:
    # It finds its libraries and files relative to where it is.
    shutil.copytree(SYSTEM, tree / "usr/lib/postgresql/15", symlinks=True)
    shutil.copytree("/usr/share/postgresql/15", tree / "usr/share/postgresql/15")


def unpack_packages(tree: Path) -> None:
    downloads = tree / "downloads"
    downloads.mkdir()
    run(["apt-get", "download", *PACKAGES], downloads)
    for package in downloads.glob("*.deb"):
        run(["dpkg-deb", "-x", str(package), str(tree)], downloads)


def build_pg_cron(tree: Path) -> None:
    archive = tree / "downloads" / "pg-cron.tar.gz"
    archive.write_bytes(download())
    with tarfile.open(archive) as source:
        source.extractall(tree / "downloads", filter="data")
    (folder,) = (tree / "downloads").glob("pg_cron-*")
    headers = f"-I./include -I/usr/include/postgresql -I{tree}/usr/include/postgresql"
    settings = ["with_llvm=no", f"PG_CONFIG={tree}/usr/lib/postgresql/15/bin/pg_config", f"PG_CPPFLAGS={headers}"]
    run(["make", *settings, "all", "install"], folder)


def download() -> bytes:
    # Bookworm's own is too old for intervals of seconds. A newer one is asked of whatever mirrors apt is set up with.
    asked = run(["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages"], CACHE)
    for mirror in sorted({*asked.split()}):
        url = f"{mirror.rstrip('/')}/{PG_CRON}"
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                source: bytes = answer.read()
        except OSError:
            continue
        if hashlib.sha256(source).hexdigest() == PG_CRON_SHA256:
            return source
    raise CannotInstall(f"no mirror of apt has {PG_CRON}")
