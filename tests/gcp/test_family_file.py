"""family.toml: its defaults, its keys, and what is wrong with it in one line."""

from pathlib import Path

import pytest

from tickwork.errors import InvalidRequest
from tickwork.shipped import FUNCTIONS
from tickwork_gcp.family_file import FamilyFile, Shape, read_family


def written(folder: Path, text: str) -> Path:
    (folder / "family.toml").write_text(text)
    return folder


def test_without_a_file_there_are_defaults(tmp_path: Path) -> None:
    assert read_family(tmp_path) == FamilyFile()
    assert read_family(written(tmp_path, "")) == FamilyFile()
    assert (FamilyFile().deploy.memory, FamilyFile().deploy.timeout) == ("512Mi", 120)


def test_every_key_is_read(tmp_path: Path) -> None:
    text = """
        settings = ["BILLING_CURRENCY"]
        secrets = ["STRIPE_KEY"]
        vault = true

        [deploy]
        memory = "1Gi"
        cpu = 0.5
        concurrency = 1
        timeout = 900
        min_instances = 1
        max_instances = 2
    """

    assert read_family(written(tmp_path, text)) == FamilyFile(
        settings=["BILLING_CURRENCY"],
        secrets=["STRIPE_KEY"],
        vault=True,
        deploy=Shape(memory="1Gi", cpu=0.5, concurrency=1, timeout=900, min_instances=1, max_instances=2),
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("memory = '1Gi'", "there is no key memory; there are deploy, settings, secrets, vault, database"),
        ("[deploy]\nram = '1Gi'", "there is no key deploy.ram; there are memory, cpu, concurrency, timeout"),
        ("[deploy]\nmemory = '1 GB'", r"deploy\.memory: must be such as 512Mi or 2Gi, not '1 GB'"),
        ("[deploy]\ntimeout = 7200", r"deploy\.timeout: .*3600, not 7200"),
        ("[deploy]\nconcurrency = '4'", r"deploy\.concurrency: .*integer, not '4'"),
        ("[deploy]\nmin_instances = 9", "deploy max_instances must not be below min_instances"),
        ("[deploy]\ncpu = 0.5", "deploy cpu below 1 needs concurrency = 1"),
        ("settings = 'A'", "settings: .*list"),
        ("settings = ['A-B']", "'A-B' is not the name of a variable"),
        ("settings = ['PORT']", "PORT is set by Google or by the deployment itself"),
        ("settings = ['TICKWORK_OIDC_AUDIENCE']", "is set by Google or by the deployment itself"),
        ("settings = ['KEY']\nsecrets = ['KEY']", "KEY is a secret: do not name it in settings"),
        ("settings = ['TICKWORK_VAULT_KEY']", "TICKWORK_VAULT_KEY is a secret"),
        ("settings =", "family.toml: Invalid value"),
        (f"[deploy]\ntimeout = {'9' * 5000}", "family.toml: Exceeds the limit"),
        (f"settings = {'[' * 2000}", "family.toml: maximum recursion depth"),
    ],
)
def test_what_is_wrong_is_said_with_the_file_and_the_key(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match=words) as refused:
        read_family(written(tmp_path, text))

    assert str(refused.value).startswith(f"{tmp_path / 'family.toml'}: ")
    assert "\n" not in str(refused.value)


def test_the_built_in_families_have_valid_files() -> None:
    found = {folder.name: read_family(folder) for folder in sorted(FUNCTIONS.iterdir()) if folder.is_dir()}

    assert [name for name, file in found.items() if file.vault] == ["api", "extract", "import", "passport", "report"]
    sealing = [name for name, file in found.items() if "TICKWORK_SECRET_KEY" in file.secrets]
    assert sealing == ["api", "import", "passport", "webhook"]
    assert [name for name, file in found.items() if "TICKWORK_SIGNING_KEY" in file.secrets] == ["sign"]
