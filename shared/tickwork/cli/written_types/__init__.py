"""Types of payloads and results for the type checkers of applications, written from the schemas of job_types."""
