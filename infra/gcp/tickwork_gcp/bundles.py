"""One folder per function with everything that it needs, as gcloud uploads it."""

import shutil
from collections.abc import Iterable
from pathlib import Path

import tickwork
from tickwork.errors import InvalidRequest
from tickwork_gcp.requirements import LOCK, pinned_requirements

PACKAGE = Path(tickwork.__file__).parent
# Of the package: what no function imports. Of a family: what it was made from, and hidden files such as .env.
LEFT_OUT = ("__pycache__", "cli", "files", "sql", "testing")
NOT_UPLOADED = ("__pycache__", ".*", "family.toml", LOCK)


def build(family: Path, output: Path, extras: Iterable[str] = ()) -> Path:
    """Write the bundle of a family, replacing an older one; the same input gives the same bytes."""
    pinned = pinned_requirements(family, extras)
    bundle = output / family.name
    if bundle.exists():
        if any(bundle.iterdir()) and not (bundle / "main.py").exists():
            raise InvalidRequest(f"{bundle} exists and is not a bundle", hint="Pass another folder with --output.")
        shutil.rmtree(bundle)
    bundle.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(family, bundle, ignore=shutil.ignore_patterns(*NOT_UPLOADED))
    shutil.copytree(PACKAGE, bundle / "tickwork", ignore=shutil.ignore_patterns(*LEFT_OUT))
    (bundle / "requirements.txt").write_text(pinned)
    return bundle
