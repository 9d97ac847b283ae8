"""The console: the queue in a browser, served by the api function."""

from tickwork.console.function import serve_api_and_console

__all__ = ["serve_api_and_console"]
