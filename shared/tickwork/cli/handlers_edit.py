"""Adds a handler to the HANDLERS of a family's main.py."""

import ast
from pathlib import Path


def add_handler(main: Path, type: str) -> bool:
    """Import the type's file and list its handler; False, and nothing changed, where HANDLERS is no plain dict."""
    text = main.read_text()
    changed = with_handler(text, type)
    if changed is None or not lists(changed, type):
        return False
    main.write_text(changed)
    return True


def with_handler(text: str, type: str) -> str | None:
    handlers = handlers_in(text)
    imports = [node for node in ast.parse(text).body if isinstance(node, ast.Import | ast.ImportFrom)]
    if handlers is None or not imports:
        return None
    lines = text.splitlines(keepends=True)
    end = offset(lines, handlers.end_lineno, handlers.end_col_offset) - 1
    before = text[:end].rstrip()
    comma = "" if before.endswith(("{", ",")) else ","
    text = f'{before}{comma}\n    "{type}": {type.upper()},\n{text[end:]}'
    after_imports = offset(lines, imports[-1].end_lineno, imports[-1].end_col_offset)
    return f"{text[:after_imports]}\nfrom {type} import {type.upper()}{text[after_imports:]}"


def handlers_in(text: str) -> ast.Dict | None:
    for node in ast.parse(text).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        if isinstance(value, ast.Dict) and any(
            isinstance(each, ast.Name) and each.id == "HANDLERS" for each in targets
        ):
            return value
    return None


def offset(lines: list[str], line: int | None, column: int | None) -> int:
    """Where in the text; Python counts columns in bytes."""
    assert line is not None
    assert column is not None
    return sum(map(len, lines[: line - 1])) + len(lines[line - 1].encode()[:column].decode())


def lists(text: str, type: str) -> bool:
    try:
        handlers = handlers_in(text)
    except SyntaxError:
        return False
    keys = handlers.keys if handlers else []
    return any(isinstance(key, ast.Constant) and key.value == type for key in keys)
