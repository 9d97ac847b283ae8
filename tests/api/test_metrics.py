"""GET /metrics, where Prometheus looks for them, and figures and alerts below /api/v1."""

from tests.api.conftest import Users
from tests.database.test_figures import roll_up
from tests.database.test_metrics import samples_in, total
from tests.world import World
from tests.world.api import member_of


def test_prometheus_reads_the_metrics_of_a_tenant_or_of_all(world: World, users: Users) -> None:
    for tenant in (users.acme, users.acme, users.other):
        world.job("greet_person", tenant)
    roll_up(world)
    platform = member_of(world, users.acme)
    world.run("insert into tickwork.platform_admins values (%s)", platform)

    answer = users.member.get("/metrics")
    of_all = users.nobody.as_user(platform).get("/metrics", prefix="bpc_", tenant_label="tenant_id")

    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert total(samples_in(answer.body), "tickwork_jobs_enqueued_total") == 2
    assert total(samples_in(of_all.body), "bpc_jobs_enqueued_total", tenant_id=str(users.other)) == 1
    assert users.nobody.get("/metrics").status == 401
    assert users.member.get("/metrics", tenant_id=users.other).status == 403
    assert users.member.post("/metrics").status == 405


def test_a_key_that_reads_is_enough_for_a_scrape(world: World, users: Users) -> None:
    world.job("greet_person", users.other)
    world.job("greet_person", users.acme)
    roll_up(world)
    of_one = world.service.keys.create_api_key("scrape acme", ["read"], users.acme)
    of_all = world.service.keys.create_api_key("scrape", ["read"], None)

    for row, jobs in ((of_one, 1), (of_all, 2)):
        answer = users.nobody.with_key(row["key"]).get("/metrics")
        assert total(samples_in(answer.body), "tickwork_jobs_queued") == jobs


def test_figures_and_alerts_have_routes(world: World, users: Users) -> None:
    world.job("greet_person", users.acme)
    roll_up(world)

    assert users.member.get("metrics/widgets").body["jobs_in_queue"] == 1
    assert users.member.get("metrics/throughput", step="1 hour").items[0]["outcome"] == "enqueued"
    assert users.member.get("metrics/latency").items == []
    assert users.admin.get("alerts").status == users.admin.get("alerts/rules").status == 403
    platform = member_of(world, users.acme)
    world.run("insert into tickwork.platform_admins values (%s)", platform)
    admin = users.nobody.as_user(platform)
    assert admin.patch("alerts/rules/queue_size", threshold=7).body["threshold"] == 7
    assert admin.get("alerts", only_open=True).items == []
    assert len(admin.get("alerts/rules").items) >= 10
    assert admin.send("PUT", "alerts/tenant", json={"tenant_id": str(users.other)}).status == 204
