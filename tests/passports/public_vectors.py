"""Test vectors that others have published, as data: each file names its source."""

import json
from pathlib import Path
from typing import Any


def read_vectors(name: str, member: str = "vectors") -> Any:
    return json.loads((Path(__file__).parent / "vectors" / f"{name}.json").read_text())[member]
