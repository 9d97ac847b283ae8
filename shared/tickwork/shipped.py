"""Where the files are that come with the code: migrations, functions, their lock, the demo's."""

from pathlib import Path

PACKAGED = Path(__file__).parent / "files"
# In an installed wheel they have the same paths as in the repository.
ROOT = PACKAGED if PACKAGED.exists() else Path(__file__).parents[2]

MIGRATIONS = ROOT / "supabase/migrations"
FUNCTIONS = ROOT / "functions"
