"""The connection that a handler gets: in a transaction that holds its job, with access to the rows of its tenant."""

import psycopg
from psycopg.rows import DictRow

Connection = psycopg.Connection[DictRow]
