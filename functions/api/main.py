"""The api function: the queue over HTTP, for whoever has no Postgres and no Supabase client, and the console."""

from tickwork.console import serve_api_and_console

main = serve_api_and_console()
