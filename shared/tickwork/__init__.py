"""Durable background jobs on Postgres, worked off by stateless functions."""
