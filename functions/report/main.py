"""The report function: writes reports, and removes artifacts that no job has."""

from tickwork.jobs.handler import Handlers, loaded_when_due
from tickwork.serve import serve

HANDLERS: Handlers = loaded_when_due("tickwork.families.report", "generate_report", "remove_artifacts")

main = serve("report", HANDLERS)
