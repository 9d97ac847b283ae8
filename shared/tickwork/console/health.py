"""When the queue was last looked after, in words."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from psycopg.rows import DictRow

from tickwork.console.rendering import largest_unit

if TYPE_CHECKING:
    from tickwork.console.view import View


def last_tick(view: "View", health: Sequence[DictRow]) -> str:
    """How long ago, in words."""
    detail = next((check["detail"] for check in health if check["name"] == "tick"), "")
    seconds = re.fullmatch(r"last (\d+) s ago", detail)
    return view.say("{} ago", largest_unit(int(seconds[1]), view.say)) if seconds else view.say("never")
