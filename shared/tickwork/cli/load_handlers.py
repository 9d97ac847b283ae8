"""Loads the handlers of a family from its main.py."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from tickwork.jobs.handler import Handlers


def load_handlers(family: str, folder: Path) -> Handlers:
    """What its main.py has in HANDLERS; raises whatever it raises."""
    folder = folder.absolute()
    forget_others(folder)
    # Beside main.py are the files that it imports. Another family may have some of the same names.
    sys.path.insert(0, str(folder))
    try:
        spec = spec_from_file_location(f"tickwork_function_{family}", folder / "main.py")
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    # For what is imported later, as functions-framework does.
    sys.path.append(str(folder))
    found: Handlers = module.HANDLERS
    return found


def forget_others(folder: Path) -> None:
    """Forget modules of other families that have the name of a file in this one."""
    for file in folder.glob("*.py"):
        known = getattr(sys.modules.get(file.stem), "__file__", None)
        if known and Path(known).parent != folder and Path(known).with_name("main.py").exists():
            del sys.modules[file.stem]
