"""`python -m tickwork.cli` is `tickwork`."""

from tickwork.cli.main import main

main()
