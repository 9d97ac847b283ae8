"""What a deployment may say about itself, and the one line that it reads when it says something else."""

import sys
from dataclasses import FrozenInstanceError

import pytest

from tickwork.errors import BadSetting
from tickwork.settings import ALIASES, READERS, VARIABLES, Settings, load_settings
from tickwork.waking.rabbitmq import Broker, broker_of

URL = "postgresql://tickwork_worker@127.0.0.1:5432/postgres"
OLD, NEW = "o" * 32, "n" * 32


def test_a_database_is_all_that_is_needed_and_nobody_may_call() -> None:
    settings = load_settings({"TICKWORK_DATABASE_URL": URL})

    assert settings == Settings(database_url=URL, budget_seconds=50, max_jobs=100, grace_seconds=8, poll_seconds=1)
    assert settings.bearer_secret is settings.hmac_secret is settings.oidc_audience is settings.oidc_email is None
    assert not settings.open_on_loopback


def test_settings_come_from_the_environment_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKWORK_DATABASE_URL", URL)
    monkeypatch.setenv("TICKWORK_MAX_JOBS", "7")

    assert load_settings().max_jobs == 7


def test_values_are_read_as_what_they_mean() -> None:
    settings = load_settings(
        {
            "TICKWORK_DATABASE_URL": URL,
            "TICKWORK_BUDGET_SECONDS": "0.5",
            "TICKWORK_GRACE_SECONDS": "0",
            "TICKWORK_BEARER_SECRET": f"{OLD},{NEW}",
            "TICKWORK_OIDC_AUDIENCE": "https://a.run.app",
            "TICKWORK_OIDC_EMAIL": "cron@a.iam.gserviceaccount.com",
            "TICKWORK_OPEN_ON_LOOPBACK": "true",
            "HOME": "/root",
        }
    )

    assert (settings.budget_seconds, settings.grace_seconds, settings.open_on_loopback) == (0.5, 0, True)
    assert settings.bearer_secret == f"{OLD},{NEW}"


@pytest.mark.parametrize(
    ("word", "meant"), [("true", True), ("1", True), ("Yes", True), ("ON", True), ("false", False), ("0", False)]
)
def test_a_yes_or_a_no_is_read_as_people_write_it(word: str, meant: bool) -> None:
    settings = load_settings({"TICKWORK_DATABASE_URL": URL, "TICKWORK_OPEN_ON_LOOPBACK": word})

    assert settings.open_on_loopback is meant


def test_an_empty_value_counts_as_unset() -> None:
    settings = load_settings(
        {"TICKWORK_DATABASE_URL": URL, "TICKWORK_BEARER_SECRET": "", "TICKWORK_MAX_JOBS": "", "TICKWORK_OIDC_EMAIL": ""}
    )

    assert settings == Settings(database_url=URL)


def test_settings_cannot_be_changed() -> None:
    settings = load_settings({"TICKWORK_DATABASE_URL": URL})

    with pytest.raises(FrozenInstanceError):
        settings.open_on_loopback = True  # type: ignore[misc]


@pytest.mark.parametrize("environment", [{}, {"TICKWORK_DATABASE_URL": ""}, {"DATABASE_URL": URL}])
def test_a_missing_database_is_named_with_an_example(environment: dict[str, str]) -> None:
    with pytest.raises(BadSetting, match=r"^TICKWORK_DATABASE_URL is not set\. Example: postgresql://\S+$"):
        load_settings(environment)


@pytest.mark.parametrize(
    "url",
    [
        "postgres://u:p@host/db",
        "postgresql://u:p%40ss%2Fw%25rd@host:6543/db?sslmode=require",
        "postgresql://u:p#a?s@host/db",
        "postgresql://host-1:5432,host-2:5433/db",
        "postgresql:///db?host=/cloudsql/project:region:instance",
        "postgresql://u:p@[::1]:5432/db",
    ],
)
def test_every_spelling_that_libpq_knows_is_a_database(url: str) -> None:
    assert load_settings({"TICKWORK_DATABASE_URL": url}).database_url == url


@pytest.mark.parametrize(
    "url",
    [
        "mysql://u:hunter2@host/db",
        "host=host user=u password=hunter2",
        "https://u:hunter2@host/db",
        "postgresql://u:hun%ter2@host/db",
        "postgresql://u:hun@hunter2@host/db",
        "postgresql://u:hunter2/x@host/db",
        "postgresql://u:hun hunter2@host/db",
        "postgresql://u:hunter2@host:54x2/db",
        "postgresql://u:hunter2@host/db?sslmoode=require",
        "postgresql://u:hunter2@host/db\n",
    ],
)
def test_a_bad_database_is_named_without_its_password(url: str) -> None:
    assert_refused("TICKWORK_DATABASE_URL", url, secret="hunter2")


@pytest.mark.parametrize("name", ["TICKWORK_BEARER_SECRET", "TICKWORK_HMAC_SECRET"])
@pytest.mark.parametrize(
    "secret",
    [
        "hunter2",
        "x" * 31,
        f"{OLD},hunter2",
        f"{OLD},",
        f",{OLD}",
        ",",
        " ",
        f"{OLD}, {NEW}",
        f"hunter2{OLD}\n",
        f"hunter2{OLD}ä",
        f"hunter2{OLD}\udcff",
    ],
)
def test_a_secret_that_is_short_or_fits_no_header_is_refused(name: str, secret: str) -> None:
    assert_refused(name, secret, secret="hunter2")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TICKWORK_BUDGET_SECONDS", "0"),
        ("TICKWORK_BUDGET_SECONDS", "-1"),
        ("TICKWORK_BUDGET_SECONDS", "3601"),
        ("TICKWORK_BUDGET_SECONDS", "inf"),
        ("TICKWORK_BUDGET_SECONDS", "nan"),
        ("TICKWORK_BUDGET_SECONDS", "soon"),
        ("TICKWORK_MAX_JOBS", "0"),
        ("TICKWORK_MAX_JOBS", "100001"),
        ("TICKWORK_MAX_JOBS", "1.5"),
        ("TICKWORK_MAX_JOBS", "nan"),
        ("TICKWORK_MAX_JOBS", "many"),
        ("TICKWORK_LOOK_AGAIN_SECONDS", "-1"),
        ("TICKWORK_POLL_SECONDS", "0"),
        ("TICKWORK_POLL_SECONDS", "3601"),
        ("TICKWORK_LEASE_SECONDS", "9"),
        ("TICKWORK_LEASE_SECONDS", "3601"),
        ("TICKWORK_LEASE_SECONDS", "60.5"),
        ("TICKWORK_HEARTBEAT_SECONDS", "0"),
        ("TICKWORK_HEARTBEAT_SECONDS", "nan"),
        ("TICKWORK_HEARTBEAT_SECONDS", "1801"),
        ("TICKWORK_WORKER_ID", "a\nb"),
        ("TICKWORK_WORKER_ID", "x" * 201),
        ("TICKWORK_WORKER_ID", "\udcff"),
        ("BPC_JOBS_POLL_INTERVAL_MS", "0"),
        ("BPC_JOBS_POLL_INTERVAL_MS", "3600001"),
        ("BPC_JOBS_POLL_INTERVAL_MS", "1 s"),
        ("BPC_JOBS_LEASE_SECONDS", "5"),
        ("BPC_JOBS_LEASE_RENEW_SECONDS", "-1"),
        ("BPC_WORKER_ID", "a\tb"),
        ("BPC_SIGNING_KEY_ID", "key 1"),
        ("TICKWORK_AMQP_URL", "http://broker.example"),
        ("TICKWORK_AMQP_URL", "amqp://user:pass/word@broker.example"),
        ("TICKWORK_AMQP_URL", "amqp://user:pass word@broker.example"),
        ("TICKWORK_AMQP_EXCHANGE", "amq.direct"),
        ("TICKWORK_AMQP_ROUTING_KEY", "jobs trigger"),
        ("BPC_QUEUE_ENABLED", "perhaps"),
        ("TICKWORK_GRACE_SECONDS", "-0.1"),
        ("TICKWORK_GRACE_SECONDS", "nan"),
        ("TICKWORK_OPEN_ON_LOOPBACK", "perhaps"),
        ("TICKWORK_OUTBOUND_HTTP", "2"),
        ("TICKWORK_OUTBOUND_ALLOW", "10.0.0.1/8"),
        ("TICKWORK_SECRET_KEY", "c2hvcnQ="),
        ("TICKWORK_VAULT_URL", "/var/lib/vault"),
        ("TICKWORK_UNSTRUCTURED_URL", "unstructured.example.com"),
        ("TICKWORK_MICROSOFT_TENANT", "../common"),
        ("TICKWORK_MICROSOFT_TENANT", "common\n"),
        ("TICKWORK_OIDC_KEYS_URL", "http://www.googleapis.com/oauth2/v3/certs"),
        ("TICKWORK_OIDC_KEYS_URL", "http://127.0.0.1.evil.example/"),
        ("TICKWORK_OIDC_KEYS_URL", "file:///etc/passwd"),
    ],
)
def test_a_bad_value_is_named(name: str, value: str) -> None:
    assert_refused(name, value)


@pytest.mark.parametrize(
    ("alias", "value", "name", "same", "read"),
    [
        ("BPC_JOBS_POLL_INTERVAL_MS", "250", "TICKWORK_POLL_SECONDS", "0.25", ("poll_seconds", 0.25)),
        ("BPC_JOBS_LEASE_SECONDS", "120", "TICKWORK_LEASE_SECONDS", "120.0", ("lease_seconds", 120)),
        ("BPC_JOBS_LEASE_RENEW_SECONDS", "30", "TICKWORK_HEARTBEAT_SECONDS", "3e1", ("heartbeat_seconds", 30)),
        ("BPC_WORKER_ID", "worker-1", "TICKWORK_WORKER_ID", "worker-1", ("worker_id", "worker-1")),
        (
            "BPC_SIGNING_KEY_ID",
            "dev-key-1",
            "TICKWORK_SIGNING_KEY_NAME",
            "dev-key-1",
            ("signing_key_name", "dev-key-1"),
        ),
    ],
)
def test_a_name_of_the_source_documents_means_the_same(
    alias: str, value: str, name: str, same: str, read: tuple[str, object]
) -> None:
    setting, expected = read
    for environment in ({alias: value}, {name: same}, {alias: value, name: same}, {alias: value, name: ""}):
        settings = load_settings({"TICKWORK_DATABASE_URL": URL, **environment})
        assert getattr(settings, setting) == expected

    with pytest.raises(BadSetting, match=f"^{alias}: {name} means the same and has another value. Unset one of them$"):
        load_settings({"TICKWORK_DATABASE_URL": URL, alias: value, name: "17"})


def test_the_names_of_the_source_documents_are_these() -> None:
    assert set(ALIASES) == {
        "BPC_JOBS_POLL_INTERVAL_MS",
        "BPC_JOBS_LEASE_SECONDS",
        "BPC_JOBS_LEASE_RENEW_SECONDS",
        "BPC_WORKER_ID",
        "BPC_QUEUE_ENABLED",
        "BPC_HEALTH_REQUIRE_QUEUE",
        "BPC_COMPILER_BUILD_ID",
        "BPC_SIGNING_ED25519_PRIVATE_KEY_BASE64",
        "BPC_SIGNING_KEY_ID",
    }


def test_a_broker_is_used_if_its_url_is_set_and_it_is_not_switched_off() -> None:
    given = {"TICKWORK_DATABASE_URL": URL, "TICKWORK_AMQP_URL": "amqps://user:p%40ss@broker.example/vhost"}

    assert broker_of(load_settings({"TICKWORK_DATABASE_URL": URL})) is None
    assert broker_of(load_settings({"TICKWORK_DATABASE_URL": URL, "BPC_QUEUE_ENABLED": "false"})) is None
    assert broker_of(load_settings({**given, "BPC_QUEUE_ENABLED": "false"})) is None
    for more in ({}, {"BPC_QUEUE_ENABLED": "true"}, {"TICKWORK_AMQP_ENABLED": "yes"}):
        broker = broker_of(load_settings({**given, **more}))
        assert broker == Broker("amqps://user:p%40ss@broker.example/vhost", "bpc", "jobs.trigger")


@pytest.mark.parametrize("name", ["BPC_QUEUE_ENABLED", "BPC_HEALTH_REQUIRE_QUEUE", "TICKWORK_AMQP_ENABLED"])
def test_a_broker_that_is_wanted_must_have_a_url(name: str) -> None:
    with pytest.raises(BadSetting, match=r"^TICKWORK_AMQP_URL: must be set with"):
        load_settings({"TICKWORK_DATABASE_URL": URL, name: "true"})


@pytest.mark.parametrize(
    ("heartbeat", "lease", "most"), [("31", "", "30"), ("61", "120", "60"), ("15.5", "30", "15"), ("6", "10", "5")]
)
def test_a_heartbeat_that_comes_too_late_for_the_lease_is_refused(heartbeat: str, lease: str, most: str) -> None:
    given = {"TICKWORK_DATABASE_URL": URL, "TICKWORK_LEASE_SECONDS": lease}

    assert load_settings({**given, "TICKWORK_HEARTBEAT_SECONDS": most}).heartbeat_seconds == float(most)
    with pytest.raises(BadSetting, match=f"^TICKWORK_HEARTBEAT_SECONDS: must be at most {most}, half of the lease of"):
        load_settings({**given, "TICKWORK_HEARTBEAT_SECONDS": heartbeat})


def test_every_setting_is_read_by_what_checks_it() -> None:
    unchecked = {name for name, read in READERS.items() if read is str}

    assert READERS.keys() == VARIABLES.keys()
    assert unchecked == {
        "oidc_email",
        "jwt_audience",
        "console_auth_key",
        "vault_key",
        "unstructured_api_key",
        "outbound_authorities",
        "dropbox_app_key",
        "dropbox_app_secret",
        "microsoft_client_id",
        "microsoft_client_secret",
        "google_client_id",
        "google_client_secret",
        "signing_key",
    }


def test_an_audience_without_an_account_is_refused() -> None:
    with pytest.raises(BadSetting, match=r"^TICKWORK_OIDC_EMAIL: must be set with TICKWORK_OIDC_AUDIENCE"):
        load_settings({"TICKWORK_DATABASE_URL": URL, "TICKWORK_OIDC_AUDIENCE": "https://a.run.app"})


def test_tokens_without_the_library_that_checks_them_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jwt", None)
    environment = {
        "TICKWORK_DATABASE_URL": URL,
        "TICKWORK_OIDC_AUDIENCE": "x",
        "TICKWORK_OIDC_EMAIL": "cron@example.com",
    }

    with pytest.raises(BadSetting, match=r"^TICKWORK_OIDC_AUDIENCE: needs PyJWT: install tickwork\[oidc\]"):
        load_settings(environment)


def assert_refused(name: str, value: str, *, secret: str | None = None) -> None:
    with pytest.raises(BadSetting) as refusal:
        load_settings({"TICKWORK_DATABASE_URL": URL, name: value})

    line = str(refusal.value)
    assert line.startswith(f"{name}: ")
    assert "\n" not in line
    assert secret is None or secret not in line
    assert refusal.value.__suppress_context__, "the original error may show the value"
