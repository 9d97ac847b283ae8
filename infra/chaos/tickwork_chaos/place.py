"""Where a storm takes place: a folder, perhaps a small disk, a cluster with the queue in it, and a proxy before it."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp

from tickwork.database.connection import Connection
from tickwork.database.migrate import migrate
from tickwork_chaos.ballast import Ballast, small_disk
from tickwork_chaos.cluster import Cluster, running_cluster
from tickwork_chaos.pooler import pooler_before
from tickwork_chaos.proxy import CuttingProxy
from tickwork_chaos.scene import Scene, set_up

DISK_MEGABYTES = 1024
# With little in reserve.
SMALL_SERVER = {"min_wal_size": "32MB", "max_wal_size": "64MB", "wal_keep_size": "0"}


@dataclass(frozen=True)
class Place:
    folder: Path
    cluster: Cluster
    proxy: CuttingProxy
    scene: Scene
    server_version: str
    ballast: Ballast | None = None
    pooler_port: int | None = None
    # What this machine does not permit.
    notes: list[str] = field(default_factory=list)

    def url(self, user: str = "postgres", port: int | None = None) -> str:
        """Through the proxy, or through whoever listens on this port."""
        return f"postgresql://{user}@127.0.0.1:{port or self.proxy.port}/postgres"


@contextmanager
def running_place(
    binaries: Path | None,
    *,
    has_pooler: bool = False,
    has_small_disk: bool = False,
    break_database: Callable[[Connection], None] | None = None,
) -> Iterator[Place]:
    notes: list[str] = []
    with ExitStack() as running:
        folder = running.enter_context(folder_for_everybody())
        ballast = running.enter_context(disk(folder, notes)) if has_small_disk else None
        settings = SMALL_SERVER if has_small_disk else {}
        cluster = running.enter_context(running_cluster(folder / "servers", binaries, settings))
        migrate(cluster.primary.url())
        with cluster.connect() as connection:
            version = str(connection.info.server_version // 10_000)
            scene = set_up(connection)
            if break_database:
                break_database(connection)
        proxy = running.enter_context(CuttingProxy(cluster.primary.port))
        pooler_port = running.enter_context(pooler_before(proxy.port, folder, notes)) if has_pooler else None
        yield Place(folder, cluster, proxy, scene, version, ballast, pooler_port, notes)


@contextmanager
def folder_for_everybody() -> Iterator[Path]:
    """As root, the server and the pooler run as user nobody."""
    folder = Path(mkdtemp(prefix="tickwork-chaos-"))
    folder.chmod(0o755)
    (folder / "servers").mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def disk(folder: Path, notes: list[str]) -> Iterator[Ballast | None]:
    with small_disk(folder / "servers", DISK_MEGABYTES) as ballast:
        if ballast is None:
            notes.append("no full disk: this machine lets nobody mount a tmpfs")
        yield ballast
