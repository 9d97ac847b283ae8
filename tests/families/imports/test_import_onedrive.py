"""import_onedrive: what is special about Microsoft Graph."""

import pytest

from tests.servers.cloud import Asked, Bytes, Requests, saying
from tests.servers.graph import Graph
from tests.world import World
from tests.world.office import Office


def test_bytes_come_from_a_preauthorised_url_that_gets_no_token(office: Office, graph: Graph) -> None:
    graph.put("/papers/one.txt", b"one")

    job = office.bring(office.connect("onedrive"), "/papers")

    assert job.result["imported_count"] == 1
    (asked,) = graph.asked_for("/download/")
    assert f":{asked.port}" in graph.downloads_url
    assert not any("canary" in value for value in asked.headers.values())


@pytest.mark.parametrize("has_location", [True, False])
def test_a_resync_lists_anew_and_downloads_nothing_again(office: Office, graph: Graph, has_location: bool) -> None:
    for number in range(5):
        graph.put(f"/papers/{number}.txt", f"{number}".encode())
    connector = office.connect("onedrive")
    office.bring(connector, "/papers")
    graph.put("/papers/new.txt", b"new")
    if has_location:
        graph.expire_tokens()
    else:
        graph.troubled(graph.lists, saying(410, {"error": {"code": "resyncRequired"}}))

    job = office.bring(connector, "/papers")

    assert (job.result["imported_count"], job.result["unchanged_count"]) == (1, 5)
    assert graph.downloads.total() == 6


def test_a_place_that_leads_nowhere_is_not_kept(world: World, office: Office, graph: Graph) -> None:
    graph.put("/papers/one.txt", b"one")
    connector = office.connect("onedrive")
    office.bring(connector, "/papers")
    graph.put("/papers/two.txt", b"two")
    graph.troubled(graph.lists, saying(410, {"error": {}}, Location="https://elsewhere.example/delta"))

    refused = office.bring(connector, "/papers")
    world.run("update jobs set run_at = clock_timestamp() where id = %s", refused.id)
    office.bring(connector, "/papers")

    assert (refused.status, refused.error_code) == ("queued", "PROVIDER_UNCLEAR")
    assert {*office.documents()} == {"one.txt", "two.txt"}


def test_items_that_come_more_than_once_are_fetched_once(office: Office, graph: Graph) -> None:
    graph.page_size = 3
    for round in range(3):
        for number in range(4):
            graph.put(f"/papers/{number}.txt", f"{round} {number}".encode())

    job = office.bring(office.connect("onedrive"), "/papers")

    assert (job.result["imported_count"], graph.downloads.total()) == (4, 4)
    assert {office.content(document) for document in office.documents().values()} == {
        f"2 {number}".encode() for number in range(4)
    }


def test_a_file_that_changes_after_it_was_listed_comes_as_it_is_now(office: Office, graph: Graph) -> None:
    graph.put("/papers/one.txt", b"first")

    def change_meanwhile(requests: Requests, asked: Asked) -> None:
        graph.put("/papers/one.txt", b"second, and longer")
        graph.answer(requests, asked)

    graph.troubled("/download/", change_meanwhile)
    connector = office.connect("onedrive")

    first = office.bring(connector, "/papers")
    second = office.bring(connector, "/papers")

    assert (first.result["imported_count"], second.result["imported_count"]) == (1, 0)
    assert office.content(office.documents()["one.txt"]) == b"second, and longer"


def test_a_file_that_never_holds_still_is_left_to_a_later_import(office: Office, graph: Graph) -> None:
    graph.put("/papers/log.txt", b"0")

    def change_meanwhile(requests: Requests, asked: Asked) -> None:
        graph.put("/papers/log.txt", graph.downloads["/papers/log.txt"].to_bytes(2, "big"))
        graph.answer(requests, asked)

    graph.troubled("/download/", *[change_meanwhile] * 50)

    job = office.bring(office.connect("onedrive"), "/papers")

    assert [each["reason"] for each in job.result["failed"]] == ["FILE_CHANGED"]
    assert graph.downloads.total() < 10


def test_notebooks_and_shortcuts_are_named(office: Office, graph: Graph) -> None:
    notebook, shortcut = graph.put("/papers/notes", b""), graph.put("/papers/of a friend.txt", b"")
    notebook.extra |= {"package": {"type": "oneNote"}, "file": {}, "malware": {}}
    shortcut.extra |= {"remoteItem": {"id": "x"}}
    graph.put("/papers/good.txt", b"good")

    job = office.bring(office.connect("onedrive"), "/papers")

    assert {(each["name"], each["reason"]) for each in job.result["skipped"]} == {
        ("/papers/notes", "NOT_DOWNLOADABLE"),
        ("/papers/of a friend.txt", "SHORTCUT"),
    }


def test_only_what_lies_below_the_folder_is_imported(office: Office, graph: Graph) -> None:
    for path in ("/papers/a.txt", "/papers/deep/er/b.txt", "/papers2/c.txt", "/d.txt"):
        graph.put(path, path.encode())

    office.bring(office.connect("onedrive"), "/papers")

    assert {*office.documents()} == {"a.txt", "b.txt"}
    assert [item["path"] for item in office.items()] == ["/papers/a.txt", "/papers/deep/er/b.txt"]


def test_parents_that_a_page_does_not_name_are_asked_for(office: Office, graph: Graph) -> None:
    graph.put("/papers/deep/a.txt", b"a")
    connector = office.connect("onedrive")
    office.bring(connector, "/papers")

    graph.put("/papers/deep/b.txt", b"b")
    graph.put("/elsewhere/c.txt", b"c")
    graph.feed = [each for each in graph.feed if each[0] != "folder"]
    office.world.run("update connector_folders set cursor = %s", f"{graph.url}{graph.lists}?token=0-0")
    office.bring(connector, "/papers")

    assert {*office.documents()} == {"a.txt", "b.txt"}


def test_a_link_to_another_host_gets_no_token(office: Office, graph: Graph) -> None:
    graph.put("/papers/one.txt", b"one")
    graph.troubled(graph.lists, saying(200, {"value": [], "@odata.nextLink": f"{graph.downloads_url}/steal"}))

    job = office.bring(office.connect("onedrive"))

    assert (job.status, job.error_code) == ("queued", "PROVIDER_UNCLEAR")
    assert graph.asked_for("/steal") == []


def test_503_with_a_time_is_a_pause_and_without_one_an_outage(office: Office, graph: Graph) -> None:
    graph.put("/papers/one.txt", b"one")
    connector = office.connect("onedrive")
    graph.troubled(graph.lists, saying(503), saying(503, Retry_After="30"))

    outage = office.bring(connector, "/papers")
    office.world.service.jobs.reschedule_job(outage.id, "now")
    office.work()

    pause = office.world.reload(outage)
    assert (outage.attempts, outage.error_code) == (1, "PROVIDER_UNAVAILABLE")
    assert (pause.status, pause.attempts) == ("queued", 1)
    assert [hold["reason"] for hold in office.world.service.pauses.list_holds()] == ["The provider asked to wait"]


def test_a_hash_that_does_not_match_is_noticed(office: Office, graph: Graph) -> None:
    graph.put("/papers/one.txt", b"12345").served = Bytes(b"12354")

    job = office.bring(office.connect("onedrive"), "/papers")

    assert [each["reason"] for each in job.result["failed"]] == ["FILE_CHANGED"]


def test_places_that_lead_in_a_circle_end_the_attempt(office: Office, graph: Graph) -> None:
    graph.put("/one.txt", b"one")
    connector = office.connect("onedrive")
    office.bring(connector)
    places = [f"{graph.url}{graph.lists}?token=0-{number % 2}" for number in range(20)]
    graph.troubled(graph.lists, *(saying(410, {}, Location=place) for place in places))

    job = office.bring(connector)

    assert (job.status, job.error_code) == ("queued", "RESYNC")
    assert len(graph.trouble) == 18
