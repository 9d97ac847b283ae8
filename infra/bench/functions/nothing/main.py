"""A function whose jobs do nothing, to see what everything around them costs."""

from pydantic import BaseModel

from tickwork.jobs.handler import Handler, Handlers, Tools
from tickwork.serve import serve


class Nothing(BaseModel):
    number: int = 0


def do_nothing(nothing: Nothing, tools: Tools) -> None:
    return None


HANDLERS: Handlers = {"do_nothing": Handler(Nothing, do_nothing)}

main = serve("bench", HANDLERS)
