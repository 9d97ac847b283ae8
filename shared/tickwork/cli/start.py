"""Starts the command line. A command that needs no other one is loaded alone, which takes a third of the time."""

import sys


def main() -> None:
    if sys.argv[1:3] == ["passport", "verify"] and "--debug" not in sys.argv:
        verify_alone(sys.argv[2:])
    from tickwork.cli.main import main as run

    run()


def verify_alone(arguments: list[str]) -> None:
    from tickwork.cli.passports import group

    try:
        sys.exit(group(args=arguments, prog_name="tickwork passport", standalone_mode=False))
    except Exception as error:
        # Only now: they need all the rest.
        from tickwork.cli.main import explained
        from tickwork.cli.output import print_error

        print_error(*explained(error))
        sys.exit(getattr(error, "exit_code", 1))
