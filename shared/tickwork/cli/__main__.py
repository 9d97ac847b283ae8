"""`python -m tickwork.cli` is `tickwork`."""

from tickwork.cli.start import main

main()
