"""Starts the command line. `tickwork passport verify` is loaded alone: it is to return at once."""

import sys
from argparse import ArgumentError, ArgumentParser
from pathlib import Path


def main() -> None:
    if sys.argv[1:3] == ["passport", "verify"]:
        verify_alone(sys.argv[3:])
    from tickwork.cli.main import main as run

    run()


def verify_alone(arguments: list[str]) -> None:
    """Ends the process, unless there is something to explain: the whole command line does that."""
    from tickwork.cli.verification import verify_given
    from tickwork.errors import Error

    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        given, unknown = parser().parse_known_args(arguments)
        if not unknown and given.given:
            sys.exit(verify_given(**vars(given)))
    except (ArgumentError, Error, OSError):
        return


def parser() -> ArgumentParser:
    """The options of the command in passports.py."""
    found = ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    found.add_argument("given", nargs="*")
    found.add_argument("--key", dest="trusted", action="append", default=[])
    found.add_argument("--keys", type=Path)
    found.add_argument("--status-list", type=Path)
    found.add_argument("--as-of")
    found.add_argument("--json", dest="as_json", action="store_true")
    return found
