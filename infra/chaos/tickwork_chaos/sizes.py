"""The storms, and how large they are."""

from collections.abc import Callable
from pathlib import Path

from tickwork_chaos.enqueue_cuts import run_enqueue_cuts
from tickwork_chaos.figures import Figures
from tickwork_chaos.plan import Sizes
from tickwork_chaos.recovery import run_recovery
from tickwork_chaos.storm import Weather, run_storm

FULL = Sizes(jobs=50_000, seconds=660, kill=200, freeze=100, terminate=500, crash=20, cut=500, promote=3)
QUICK = Sizes(jobs=1_500, seconds=40, kill=8, freeze=4, terminate=20, crash=2, cut=20, promote=1)
# What `make test-all` runs.
SMALL = Sizes(jobs=600, seconds=15, kill=4, freeze=2, terminate=8, crash=1, cut=9)
DISK_FULL = Sizes(jobs=6_000, seconds=90, kill=10, terminate=10, cut=10, fill_disk=6)
QUICK_DISK_FULL = Sizes(jobs=1_000, seconds=20, kill=2, fill_disk=2)
# Many are frozen, and many jobs are slow, so that those who come back find others at work.
MUTANT_SIZES = Sizes(
    jobs=900, seconds=28, kill=4, freeze=12, terminate=10, crash=3, cut=20, slow_share=0.15, has_pooler=False
)

Say = Callable[[str], None]
Run = Callable[[int, Path | None, bool, Say], Figures]


def storm(seed: int, binaries: Path | None, is_quick: bool, say: Say) -> Figures:
    return run_storm(Weather("storm", QUICK if is_quick else FULL, seed, binaries), say)


def disk_full(seed: int, binaries: Path | None, is_quick: bool, say: Say) -> Figures:
    return run_storm(Weather("disk_full", QUICK_DISK_FULL if is_quick else DISK_FULL, seed, binaries), say)


def enqueue_cuts(seed: int, binaries: Path | None, is_quick: bool, say: Say) -> Figures:
    return run_enqueue_cuts(seed, binaries, 150 if is_quick else 1_500, say)


def recovery(seed: int, binaries: Path | None, is_quick: bool, say: Say) -> Figures:
    return run_recovery(seed, binaries, *((5_000, 2) if is_quick else (100_000, 10)), say)


STORMS: dict[str, Run] = {
    "storm": storm,
    "disk_full": disk_full,
    "enqueue_cuts": enqueue_cuts,
    "recovery": recovery,
}
