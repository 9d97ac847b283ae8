"""Guards that are broken on purpose, each with the test that must turn red on it: `make test-guards` runs them."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PACKAGE = REPOSITORY / "shared" / "tickwork"


@dataclass(frozen=True)
class GuardMutant:
    """`before`, which the module has once, becomes `after`; the tests whose names match `chosen` notice it."""

    defect: str
    module: str
    before: str
    after: str
    tests: str
    chosen: str


CALLERS, CALLED = "serve/callers.py", "tests/serve/test_callers.py"
DIALLED = "tests/tools/test_http_guard.py"
SIGNED = "tests/tools/test_signing.py"
TEMPLATE, PROCESS = "tests/families/command/test_template.py", "tests/families/command/test_process.py"

GUARDS = [
    GuardMutant(
        "the name is looked up again after the check",
        "tools/outbound/connection.py",
        "with _dial_one(addresses[:MAX_DIALLED], url.port, soon)",
        "with _dial_one(_look_up(url, soon, resolve)[:MAX_DIALLED], url.port, soon)",
        DIALLED,
        "asked_for_once",
    ),
    GuardMutant(
        "one good address of a name is enough",
        "tools/outbound/connection.py",
        "not all(policy.permits(",
        "not any(policy.permits(",
        DIALLED,
        "no_hostile_host",
    ),
    GuardMutant(
        "http is always allowed",
        "tools/outbound/connection.py",
        'url.scheme == "http" and not policy.allow_http',
        "False",
        DIALLED,
        "http_is_refused",
    ),
    GuardMutant(
        "certificates are not verified",
        "tools/outbound/connection.py",
        "    context.load_default_certs()\n",
        "    context.check_hostname = False\n    context.verify_mode = ssl.CERT_NONE\n",
        "tests/tools/test_http_tls.py",
        "certificate",
    ),
    GuardMutant(
        "a redirect takes credentials along",
        "tools/outbound/outgoing.py",
        "onward if onward.url.origin == self.url.origin else onward._elsewhere()",
        "onward",
        "tests/tools/test_http.py",
        "no_secret_goes_along",
    ),
    GuardMutant(
        "a redirect takes a secret along in another header",
        "tools/outbound/outgoing.py",
        " and not holds_one(value, self.secrets)",
        "",
        "tests/families/webhook/test_http_request.py",
        "no_header_takes",
    ),
    GuardMutant(
        "nothing is redacted",
        "tools/redaction.py",
        "            text = pattern.sub(",
        "            pattern.sub(",
        "tests/tools/test_redaction.py",
        "every_form",
    ),
    GuardMutant(
        "a part of a signature is enough",
        "tools/signing.py",
        "hmac.compare_digest(expected, each.encode())",
        "expected.startswith(each.encode())",
        SIGNED,
        "part_of_a_signature",
    ),
    GuardMutant(
        "a recorded webhook is genuine",
        "tools/signing.py",
        "abs(now - int(timestamp)) > TOLERANCE_SECONDS",
        "False",
        SIGNED,
        "recorded",
    ),
    GuardMutant(
        "a key leaves the tenant's part of the vault",
        "tools/vault/__init__.py",
        "not found or found[1] != self._tenant_id or len(key) > MAX_KEY_LENGTH",
        "False",
        "tests/tools/test_vault.py",
        "no_verb_leaves_the_tenants_part and file",
    ),
    GuardMutant(
        "an old wake-up is accepted",
        CALLERS,
        "abs(time.time() - int(timestamp)) > SIGNATURE_SECONDS",
        "False",
        CALLED,
        "old_or_future",
    ),
    GuardMutant(
        "a wake-up is accepted twice",
        CALLERS,
        "if not _seen.is_new(signature)",
        "if False",
        CALLED,
        "accepted_once",
    ),
    GuardMutant(
        "any audience is accepted",
        "web/google_tokens.py",
        "audience=settings.oidc_audience",
        'audience=jwt.decode(token, options={"verify_signature": False}).get("aud")',
        CALLED,
        "forged_token",
    ),
    GuardMutant(
        "any account of Google's is accepted",
        CALLERS,
        "if google_account(token, settings) != settings.oidc_email",
        "if not google_account(token, settings)",
        CALLED,
        "forged_token",
    ),
    GuardMutant(
        "a token of the service is a user's",
        "api/user_tokens.py",
        'if claims["role"] != "authenticated"',
        "if False",
        "tests/api/test_callers.py",
        "forged_token",
    ),
    GuardMutant(
        "a key of any use signs tokens",
        "web/keys.py",
        'if each.public_key_use in (None, "sig")',
        "",
        "tests/api/test_callers.py",
        "forged_token",
    ),
    GuardMutant(
        "two readers may read a token differently",
        "api/callers.py",
        "if len(found) < len(pairs)",
        "if False",
        "tests/api/test_callers.py",
        "forged_token",
    ),
    GuardMutant(
        "a token brings claims of our own",
        "api/user_tokens.py",
        " if not name.startswith(OURS)",
        "",
        "tests/api/test_requests.py",
        "claims_of_our_own",
    ),
    GuardMutant(
        "every unknown key asks for the keys again",
        "web/keys.py",
        "if time.monotonic() > self._asked_at + pause",
        "if True",
        "tests/api/test_callers.py",
        "once_in_thirty_seconds",
    ),
    GuardMutant(
        "a missing secret counts as an empty one",
        CALLERS,
        'setting.split(",") if setting else []',
        '(setting or "").split(",")',
        CALLED,
        "no_setting",
    ),
    GuardMutant(
        "the terminal obeys what others wrote",
        "logs.py",
        "each if each.isprintable() else _escaped(each)",
        "each",
        "tests/cli/test_output.py",
        "terminal_obeys",
    ),
    GuardMutant(
        "a secret opens in another tenant",
        "tools/secrets.py",
        'f"{tenant_id}/{owner}"',
        'f"{owner}"',
        "tests/tools/test_secrets.py",
        "moved_elsewhere",
    ),
    GuardMutant(
        "a value may be an option",
        "families/command/template.py",
        "if first and (",
        "if False and (",
        TEMPLATE,
        "no_program_should_get",
    ),
    GuardMutant(
        "only ASCII has dashes",
        "families/command/template.py",
        'unicodedata.category(first) == "Pd" or first == MINUS',
        'first == "-"',
        TEMPLATE,
        "no_program_should_get",
    ),
    GuardMutant(
        "a value may have many lines",
        "families/command/template.py",
        "if any(unicodedata.category",
        "if False and any(unicodedata.category",
        TEMPLATE,
        "no_program_should_get",
    ),
    GuardMutant(
        "a value is looked at for values",
        "families/command/template.py",
        "values[mark[1]] if mark[1]",
        "filled_argument(values[mark[1]], values) if mark[1]",
        TEMPLATE,
        "exactly_the_values",
    ),
    GuardMutant(
        "a command gets the worker's environment",
        "families/command/allowlist.py",
        'return {"PATH": PATH,',
        'return dict(workers) | {"PATH": PATH,',
        TEMPLATE,
        "workers_environment",
    ),
    GuardMutant(
        "others may write the file of commands",
        "families/command/allowlist.py",
        "stat.S_IWGRP | stat.S_IWOTH",
        "0",
        "tests/families/command/test_allowlist.py",
        "others_may_write",
    ),
    GuardMutant(
        "a daemon outlives its command",
        "families/command/supervise.py",
        "prctl(PR_SET_CHILD_SUBREAPER, 1)",
        "pass",
        PROCESS,
        "nothing_of_a_program_is_left",
    ),
    GuardMutant(
        "a command that ignores SIGTERM goes on",
        "families/command/supervise.py",
        "signal_all(program, signal.SIGKILL)",
        "pass",
        PROCESS,
        "nothing_of_a_program_is_left and ignores",
    ),
    GuardMutant(
        "all output of a command is kept",
        "families/command/process.py",
        "if len(self._kept) > MAX_TAIL + MARGIN",
        "if False",
        PROCESS,
        "full_speed",
    ),
    GuardMutant(
        "half of a secret is shown",
        "families/command/process.py",
        "MARGIN if self._is_cut else max",
        "0 * MARGIN if self._is_cut else max",
        PROCESS,
        "where_the_tail_is_cut",
    ),
]


@pytest.mark.parametrize("mutant", GUARDS, ids=lambda mutant: mutant.defect)
def test_the_broken_guard_is_noticed(mutant: GuardMutant, tmp_path: Path) -> None:
    ran = run_tests(mutant, tmp_path)

    # 1 is a test that failed; any other number is that nothing was tested.
    assert ran.returncode == 1, ran.stdout[-2000:]
    assert "ImportError" not in ran.stdout


def run_tests(mutant: GuardMutant, folder: Path) -> "subprocess.CompletedProcess[str]":
    """The chosen tests on a copy of the package with the defect."""
    shutil.copytree(PACKAGE, folder / "shared" / "tickwork", ignore=shutil.ignore_patterns("__pycache__"))
    for beside in ("supabase", "infra"):
        (folder / beside).symlink_to(REPOSITORY / beside)
    module = folder / "shared" / "tickwork" / mutant.module
    module.write_text(broken(module.read_text(), mutant))
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", mutant.tests, "-k", mutant.chosen]
    environment = {**os.environ, "PYTHONPATH": str(folder / "shared")}
    return subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True)


def broken(text: str, mutant: GuardMutant) -> str:
    assert text.count(mutant.before) == 1, f"{mutant.module} no longer has {mutant.before!r} once"
    return text.replace(mutant.before, mutant.after)
