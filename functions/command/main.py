"""The commands that the operator allows: for `tickwork worker command`. There is no function to deploy."""

from tickwork.families.command.run_command import handlers_of_file
from tickwork.jobs.handler import Handlers

HANDLERS: Handlers = handlers_of_file()
