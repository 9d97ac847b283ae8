"""How often a job is read again that somebody waits for."""

# Seconds between two looks, in case nothing is announced; the last one from then on.
LOOK_SECONDS = (0.1, 0.2, 0.4, 0.8, 1.0, 1.0, 1.0, 2.0)
