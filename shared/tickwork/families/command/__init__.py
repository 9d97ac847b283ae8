"""Commands that the operator allows, run as jobs."""
