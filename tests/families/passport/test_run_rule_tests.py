"""run_rule_tests: from a draft to validated and published rules, every status and every error."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.passports.rules.small_rules import example, mass, material, small_rules, small_tests
from tests.world import World
from tickwork.families.passport.run_rule_tests import RUN_RULE_TESTS
from tickwork.jobs.rows import Job
from tickwork.passports.rules.default import PACKAGE, default_rules, default_tests
from tickwork.passports.rules.rules import read_rules
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work

HANDLERS = {"run_rule_tests": RUN_RULE_TESTS}
WRONG = example("wrong", mass(1.2), material("steel", 1.5))


class Office:
    def __init__(self, world: World) -> None:
        self.world = world
        self.tenant = world.tenant()
        self.rules = world.service.rules

    def save(self, dsl: Any = None, tests: Any = None, version: str = "1") -> UUID:
        row = self.rules.save_rules(self.tenant, "own", version, dsl or small_rules(), tests or small_tests())
        id: UUID = row["id"]
        return id

    def work(self) -> Job:
        work(self.world.queue, "passport", HANDLERS, Deadline(60, 1))
        return Job(
            **self.world.row("select * from jobs where type = 'run_rule_tests' order by created_at desc limit 1")
        )

    def test(self, id: UUID, seed: int = 1) -> Job:
        self.rules.request_rule_tests(id, seed)
        return self.work()

    def row(self, id: UUID) -> dict[str, Any]:
        return self.world.row("select * from rule_package_versions where id = %s", id)

    def runs(self) -> list[dict[str, Any]]:
        return self.world.rows("select * from rule_tests_runs where tenant_id is not null order by created_at")

    def events(self) -> list[str]:
        return sorted(row["type"] for row in self.world.rows("select type from events where type like 'rules.%%'"))


@pytest.fixture
def office(world: World) -> Office:
    return Office(world)


def test_a_draft_that_passes_is_validated(office: Office) -> None:
    id = office.save()

    job = office.test(id, seed=-7)

    assert (job.status, job.result and job.result["status"]) == ("done", "passed")
    row = office.row(id)
    assert (row["status"], row["rules_hash"]) == ("validated", read_rules(small_rules()).hash)
    (run,) = office.runs()
    assert (run["seed"], run["status"], run["passed_count"], run["failed_count"]) == (-7, "passed", 602, 0)
    assert (run["job_id"], run["rules_hash"], run["revision"]) == (job.id, row["rules_hash"], 1)
    assert office.events() == ["rules.validated"]


def test_publishing_a_draft_tests_it_first(office: Office) -> None:
    id = office.save()

    assert office.rules.publish_rules(id)["status"] == "draft"
    job = office.work()

    assert (job.status, office.row(id)["status"]) == ("done", "published")
    assert office.row(id)["published_at"] is not None
    assert 0 <= job.payload["seed"] < 2**53
    assert office.events() == ["rules.published", "rules.validated"]


def test_failing_tests_are_a_done_job_with_a_failed_run(office: Office) -> None:
    id = office.save(tests=small_tests(examples=[*small_tests()["examples"], WRONG]))
    office.rules.publish_rules(id)

    job = office.work()

    assert (job.status, job.result and job.result["status"]) == ("done", "failed")
    (run,) = office.runs()
    assert (run["status"], run["failed_count"]) == ("failed", 1)
    assert run["first_failure"]["number"] == 2
    row = office.row(id)
    assert (row["status"], row["publish_when_validated"]) == ("draft", False)
    assert office.events() == ["rules.tests_failed"]


def test_rules_edited_while_their_tests_run_stay_a_draft(office: Office) -> None:
    id = office.save()
    office.rules.publish_rules(id)
    edited = small_rules(title="edited meanwhile")

    class EditedMeanwhile(type(RUN_RULE_TESTS)):  # type: ignore[misc]
        def __call__(self, *given: Any) -> Any:
            done = super().__call__(*given)
            office.save(edited)
            return done

    handler = EditedMeanwhile(RUN_RULE_TESTS.payload, RUN_RULE_TESTS.run, RUN_RULE_TESTS.result)
    work(office.world.queue, "passport", {"run_rule_tests": handler}, Deadline(60, 1))

    row = office.row(id)
    assert (row["status"], row["revision"], row["publish_when_validated"]) == ("draft", 2, False)
    assert [run["status"] for run in office.runs()] == ["passed"]
    assert office.events() == []


@pytest.mark.parametrize(
    ("dsl", "tests", "code"),
    [
        ({"attributes": [], "checks": [{"code": "C", "check": "1 + 1", "words": "x"}]}, {}, "RULE_TYPE_ERROR"),
        ({"attributes": {}}, {}, "RULES_INVALID"),
        (None, {"examples": 1}, "TEST_PARSE_FAILED"),
        ({"attributes": []}, {"examples": []}, "TOO_FEW_CASES"),
    ],
)
def test_what_cannot_be_tested_fails_by_name(office: Office, dsl: Any, tests: Any, code: str) -> None:
    id = office.save(dsl, tests or {"properties": []})

    job = office.test(id)

    assert (job.status, job.error_code) == ("failed", code)
    assert (office.row(id)["status"], office.runs()) == ("draft", [])


def test_rules_of_others_are_not_found(office: Office) -> None:
    foreign = office.save()
    elsewhere = office.world.tenant("elsewhere")
    common = office.world.value("select id from rule_package_versions where tenant_id is null")
    for id in (foreign, uuid4(), common):
        payload = {"rule_package_version_id": str(id), "seed": 1}
        job = office.world.job("run_rule_tests", elsewhere, payload=payload)
        work(office.world.queue, "passport", HANDLERS, Deadline(60, 1))
        assert office.world.reload(job).error_code == "RULE_PACKAGE_NOT_FOUND"


def test_the_rules_that_every_tenant_has_pass_as_a_tenants_own(office: Office) -> None:
    id = office.save(default_rules(), default_tests())
    common = office.world.row("select * from rule_package_versions where tenant_id is null")
    office.rules.publish_rules(id)

    office.work()

    assert (office.row(id)["status"], office.row(id)["rules_hash"]) == ("published", common["rules_hash"])
    assert common["dsl_source"] == default_rules()
    assert office.rules.list_rules(package=PACKAGE)[0]["status"] == "published"
