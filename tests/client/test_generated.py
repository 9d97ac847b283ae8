"""The files that `make client` writes are up to date."""

import json

from tests.world import World
from tickwork.client.json_values import functions
from tickwork_client.functions import functions_json
from tickwork_client.sync_files import BY_HAND, CLIENT, HEAD, sync_files


def test_the_files_without_an_event_loop_are_up_to_date() -> None:
    made = sync_files()

    assert set(made) == {file.name for file in (CLIENT / "aio").glob("*.py")} - set(BY_HAND)
    for name, text in made.items():
        assert (CLIENT / name).read_text() == text, "run `make client`"


def test_no_other_file_says_that_it_was_written_by_make_client() -> None:
    said = {file.name for file in CLIENT.glob("*.py") if file.read_text().startswith(HEAD[:27])}

    assert said == set(sync_files())


def test_what_the_client_knows_of_the_functions_is_up_to_date(world: World) -> None:
    made = functions_json(world.connect())

    assert json.loads((CLIENT / "functions.json").read_text()) == json.loads(made), "run `make client`"
    assert functions()["get_job"].columns["id"] == "uuid"
