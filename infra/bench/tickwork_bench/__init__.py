"""Measures tickwork against other queues and against bare Postgres, all in one run on one server."""
