"""The demo without a clone: the same as in the repository, from the installed wheel."""

from pathlib import Path

from tests.local.test_wheel import folder, programs, run, wheel

__all__ = ["folder", "programs", "wheel"]


def test_the_demo_runs(programs: Path, folder: Path) -> None:
    demo = run(folder, programs, "tickwork", "demo")

    assert demo.returncode == 0, demo.stdout + demo.stderr
    assert "\nEvery job ended as it should.\n" in demo.stdout
    assert "\nEvery document was extracted and classified.\n" in demo.stdout
