"""The manage function: changes many jobs at once, for people who ask for it."""

from tickwork.jobs.handler import Handlers, loaded_when_due
from tickwork.serve import serve

HANDLERS: Handlers = loaded_when_due("tickwork.families.manage", "change_jobs")

main = serve("manage", HANDLERS)
