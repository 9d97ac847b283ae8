"""One file for each type of job, named after it."""
