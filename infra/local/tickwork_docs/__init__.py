"""Writes the reference pages in docs/reference from the code, the command line and a migrated database."""
