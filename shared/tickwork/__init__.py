"""Durable background jobs on Postgres, processed by stateless functions."""
