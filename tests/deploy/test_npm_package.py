"""The TypeScript client as npm packs it: publint and attw find nothing, and the real Supabase client fits."""

import json
import shutil
from pathlib import Path

import pytest

from tests.js.npm import PACKAGE, node_modules, run
from tests.world.node import installed
from tickwork_local.node import CannotInstall

CHECKS = Path(__file__).parent / "npm_checks"
SUPABASE = """
import { createClient } from "@supabase/supabase-js";
import { Tickwork } from "@tickwork/client";

interface Database {
  public: {
    Tables: Record<string, never>;
    Views: Record<string, never>;
    Functions: { get_job: { Args: { job_id: string }; Returns: unknown } };
  };
}

export const plain = new Tickwork({ client: createClient("https://abc.supabase.co", "key") });
export const typed = new Tickwork({ client: createClient<Database>("https://abc.supabase.co", "key") });
"""
TSCONFIG = {
    "compilerOptions": {"strict": True, "noEmit": True, "module": "nodenext", "skipLibCheck": True, "types": []}
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the packed package and what checks it."""
    folder = tmp_path_factory.mktemp("project")
    try:
        # The Supabase client asks for a later Node than ours, which matters to nobody who only reads its types.
        checks = installed(CHECKS, "npm-checks")
        tsc = node_modules()
    except CannotInstall as error:
        pytest.skip(str(error))
    package = folder / "package"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (package / "node_modules").symlink_to(tsc)
    run(package, "tsc", "-p", ".")
    run(package, "npm", "pack", "--pack-destination", str(folder))
    shutil.copytree(checks, folder / "node_modules", symlinks=True)
    (folder / "node_modules/@tickwork").mkdir()
    (archive,) = folder.glob("*.tgz")
    shutil.unpack_archive(archive, folder / "unpacked", "gztar", filter="data")
    (folder / "unpacked/package").rename(folder / "node_modules/@tickwork/client")
    return folder


def test_publint_finds_nothing(project: Path) -> None:
    (archive,) = project.glob("*.tgz")

    printed = run(project, "publint", "run", "--strict", archive.name)

    assert "All good!" in printed


def test_attw_finds_nothing(project: Path) -> None:
    (archive,) = project.glob("*.tgz")

    printed = run(project, "attw", "--profile", "esm-only", "--format", "json", archive.name)

    # It is for import, not for require() and not for the resolution of Node 10, and does not pretend otherwise.
    assert set(json.loads(printed)["problems"]) == {"CJSResolvesToESM", "NoResolution"}, printed


def test_the_supabase_client_is_a_way_in(project: Path) -> None:
    (project / "supabase.ts").write_text(SUPABASE)
    (project / "package.json").write_text('{"private": true, "type": "module"}')
    (project / "tsconfig.json").write_text(json.dumps({**TSCONFIG, "files": ["supabase.ts"]}))

    run(project, str(project / "package/node_modules/.bin/tsc"), "-p", ".")
