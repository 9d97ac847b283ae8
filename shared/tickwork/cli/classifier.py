"""The command for the document classifier."""

from pathlib import Path
from typing import Annotated

import typer

from tickwork.errors import InvalidRequest
from tickwork.shipped import MIGRATIONS

commands = typer.Typer()


@commands.command()
def classifier(
    folder: Annotated[
        Path | None,
        typer.Argument(help="Folder with one text file per type; by default the held-out corpus of the repository."),
    ] = None,
) -> None:
    """Measure the classifier on documents it has not seen."""
    from tickwork.families.classify import evaluate

    samples = evaluate.read_corpus(folder or evaluate.HELD_OUT)
    if not samples:
        raise InvalidRequest(f"FOLDER: there are no documents in {folder or evaluate.HELD_OUT}")
    print("\n".join(evaluate.report(evaluate.judged(samples, evaluate.shipped_types(MIGRATIONS)))))
