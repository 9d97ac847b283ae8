"""One function for functions-framework: the console below its path, the API everywhere else."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from tickwork.api.app import Response as ApiResponse
from tickwork.api.app import api_function
from tickwork.api.callers import Callers
from tickwork.api.connections import Connections
from tickwork.settings import Settings
from tickwork.web.starting import settings_or_exit, take_every_path, use_guarded_worker

if TYPE_CHECKING:
    from flask import Request, Response


def serve_api_and_console() -> "Callable[[Request], ApiResponse | Response]":
    settings = settings_or_exit()
    use_guarded_worker()
    function = control_plane(Connections(settings.database_url), settings)
    take_every_path(function)
    return function


def control_plane(connections: Connections, settings: Settings) -> "Callable[[Request], ApiResponse | Response]":
    api, callers, path = api_function(settings, connections), Callers(settings), settings.console_path

    def function(request: "Request") -> "ApiResponse | Response":
        if request.path == path or request.path.startswith(path + "/"):
            # Templates are not needed by those who only call the API.
            from tickwork.console.app import respond

            return respond(request, connections, callers, settings)
        return api(request)

    return function
