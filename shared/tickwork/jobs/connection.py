"""The connection that a handler gets: in a transaction that holds its job, so that the rows of its tenant are open."""

import psycopg
from psycopg.rows import DictRow

Connection = psycopg.Connection[DictRow]
