"""Figures of what happened to jobs, which somebody has to keep up to date."""
