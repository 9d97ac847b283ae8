"""The TypeScript package: in step with what it follows from, and as good when it is installed as it is here."""

import importlib
import json
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from tests.docs.pages import ROOT, blocks
from tests.js.npm import PACKAGE, run
from tests.world import World
from tickwork import errors
from tickwork.cli.written_types.typescript import typescript
from tickwork_client.functions import OPENAPI
from tickwork_client.typescript import SOURCES, typescript_files

MANIFEST = json.loads((PACKAGE / "package.json").read_text())
PAGES = [PACKAGE / "README.md", ROOT / "docs/guide/typescript-client.md"]
TSCONFIG = {
    "compilerOptions": {
        **{"strict": True, "noEmit": True, "module": "nodenext", "target": "es2022", "skipLibCheck": False},
        "types": [],
    }
}
# What the snippets take from elsewhere.
ELSEWHERE = """
declare const process: { env: Record<string, string | undefined>; on(event: "SIGTERM", then: () => void): void };
declare module "@supabase/supabase-js" {
  export function createClient(url: string, key: string): {
    rpc(name: string, given?: object): PromiseLike<{ data: any; error: { message: string; code: string } | null }>;
  };
}
"""


def test_the_files_that_follow_from_others_are_up_to_date(world: World) -> None:
    made = typescript_files(world.connect(), json.loads(OPENAPI.read_text()))

    for name, text in made.items():
        assert (SOURCES / name).read_text() == text, "run `make client`"


def test_every_code_has_the_class_that_it_has_in_python() -> None:
    text = (SOURCES / "errors.ts").read_text()
    table = text[text.index("BY_CODE") : text.index("};", text.index("BY_CODE"))]

    found = dict(re.findall(r'^  "?(\w{5})"?: (\w+),$', table, re.MULTILINE))

    assert found == {code: error.__name__ for code, error in errors.BY_SQLSTATE.items()}


def test_every_operation_of_the_api_is_a_method_where_the_python_client_has_it() -> None:
    text = (SOURCES / "resources.ts").read_text()
    resources = re.findall(r"^  (\w+): \{\n(.*?)^  \},$", text, re.MULTILINE | re.DOTALL)
    methods = [
        (snake(resource), snake(method), verb)
        for resource, body in resources
        for method, verb in re.findall(r'^    (\w+): queue\.rows?\("(\w+)"', body, re.MULTILINE)
    ]
    operations = set(re.findall(r"^  (\w+): \[", (SOURCES / "operations.ts").read_text(), re.MULTILINE))

    missing = operations - {verb for _, _, verb in methods}
    assert [verb for verb in missing if not verb.startswith("worker_")] == [], "add it to resources.ts"
    for resource, method, verb in methods:
        assert method == verb
        # What needs the vault, only the client on the database has.
        if verb not in ("sign_document", "sign_artifact"):
            (home,) = (each for each in vars(module_of(resource)).values() if getattr(each, verb, None))
            assert home.__name__.lower() == resource.replace("_", "")


def snake(name: str) -> str:
    return re.sub("(?=[A-Z])", "_", name).lower()


def module_of(resource: str) -> ModuleType:
    return importlib.import_module(f"tickwork.client.aio.{resource}")


def test_the_version_and_the_license_are_those_of_the_project() -> None:
    lock = json.loads((PACKAGE / "package-lock.json").read_text())
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

    assert MANIFEST["version"] == lock["version"] == lock["packages"][""]["version"] == version
    assert (PACKAGE / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    assert "dependencies" not in MANIFEST


def test_the_sources_are_short() -> None:
    for file in [*SOURCES.glob("*.ts"), *(PACKAGE / "test").glob("*.mjs")]:
        lines = file.read_text().splitlines()
        assert max(map(len, lines)) <= 120, file.name
        assert len(lines) <= 300 or file.name == "verbs.ts", file.name


@pytest.fixture(scope="module")
def project(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty project, with the package as npm packs it."""
    folder = tmp_path_factory.mktemp("project")
    run(package, "npm", "pack", "--pack-destination", str(folder))
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    (archive,) = folder.glob("*.tgz")
    run(folder, "npm", "install", "--offline", "--no-audit", "--no-fund", archive.name)
    return folder


def test_the_package_has_what_it_needs_and_nothing_else(project: Path) -> None:
    installed = project / "node_modules/@tickwork/client"
    sources = {file.stem for file in SOURCES.glob("*.ts")}

    found = {str(file.relative_to(installed)) for file in installed.rglob("*") if file.is_file()}

    built = {f"dist/{stem}{ending}" for stem in sources for ending in (".js", ".d.ts")}
    assert found == {"package.json", "README.md", "LICENSE", *built}
    exported = run(project, "node", "-e", "import('@tickwork/client').then(m => console.log(typeof m.Tickwork))")
    assert exported == "function\n"


def test_the_snippets_of_the_documents_are_correct(project: Path, package: Path, world: World) -> None:
    rows = world.rows("select key, description, payload_schema, result_schema from job_types")
    (project / "job_types.ts").write_text(typescript(rows))
    (project / "elsewhere.d.ts").write_text(ELSEWHERE)
    (project / "tsconfig.json").write_text(json.dumps(TSCONFIG))
    snippets = [block.text for page in PAGES for block in blocks(page) if block.words[:1] == ("ts",)]
    for number, text in enumerate(snippets):
        (project / f"snippet_{number}.ts").write_text(text)

    run(project, str(package / "node_modules/.bin/tsc"), "-p", ".")

    assert len(snippets) >= 6
