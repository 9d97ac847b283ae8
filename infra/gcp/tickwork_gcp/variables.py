"""Which variables and secrets a function gets, and which of those that we know it must not keep."""

from collections.abc import Mapping

from tickwork.settings import VARIABLES
from tickwork_gcp.family_file import SECRET, FamilyFile

DATABASE_URL = "TICKWORK_DATABASE_URL"
# Those of every function, and those of families that use the vault.
ALWAYS = (DATABASE_URL, "TICKWORK_HMAC_SECRET", "TICKWORK_BEARER_SECRET")
VAULT = ("TICKWORK_VAULT_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
# Decided by the plan itself, or of no use there.
LEFT_OUT = {"TICKWORK_OIDC_AUDIENCE", "TICKWORK_OIDC_EMAIL", "TICKWORK_LOOK_AGAIN_SECONDS", "TICKWORK_OPEN_ON_LOOPBACK"}
PLAIN = {name for name in VARIABLES.values() if not SECRET.fullmatch(name)}


def secrets_of(family: FamilyFile, environment: Mapping[str, str]) -> list[str]:
    """Tickwork's own secrets if they are set; those that the family names in any case, and always the database."""
    known = known_secrets(family)
    names = {name for name in known if environment.get(source_of(name, family)) or is_required(name, family)}
    # Amazon's are used for other things as well.
    if not environment.get("TICKWORK_VAULT_URL", "").startswith("s3:"):
        names -= {name for name in VAULT if name.startswith("AWS_") and name not in family.secrets}
    return sorted(names)


def known_secrets(family: FamilyFile) -> set[str]:
    # What is open is not woken.
    always = (DATABASE_URL,) if family.is_open else ALWAYS
    return {*always, *(VAULT if family.vault else ()), *family.secrets}


def source_of(name: str, family: FamilyFile) -> str:
    """The variable of the operator that a secret of the function has its value from."""
    return family.database if name == DATABASE_URL else name


def is_required(name: str, family: FamilyFile) -> bool:
    # A function reports by itself what it lacks of tickwork's settings.
    return name == DATABASE_URL or (name in family.secrets and not name.startswith("TICKWORK_"))


def stale_secrets(family: FamilyFile, environment: Mapping[str, str]) -> list[str]:
    ours = {name for name in VARIABLES.values() if SECRET.fullmatch(name)} | known_secrets(family)
    return sorted(ours - {*secrets_of(family, environment)})


def variables_of(family: FamilyFile, environment: Mapping[str, str], ours: Mapping[str, str]) -> dict[str, str]:
    """What the operator has set of tickwork's settings and the family's own, except secrets, and what is ours."""
    names = (PLAIN - LEFT_OUT) | {*family.settings}
    given = {name: environment[name] for name in sorted(names) if environment.get(name)}
    return {**given, **ours}


def stale_variables(family: FamilyFile, given: Mapping[str, str]) -> list[str]:
    """Also of secrets: a variable that was plain once would be in the way."""
    return sorted((PLAIN | {*family.settings} | known_secrets(family)) - given.keys())


def listed(pairs: Mapping[str, str]) -> str:
    """Pairs as gcloud reads them; where a value has a comma, something else separates them."""
    separators = (",", "~", "|", ";", "§", "~|~", "|~|", "§§§")
    separator = next(each for each in separators if not any(each in value for value in pairs.values()))
    text = separator.join(f"{name}={value}" for name, value in pairs.items())
    return text if separator == "," else f"^{separator}^{text}"
