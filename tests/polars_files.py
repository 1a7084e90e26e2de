"""Polars, started: it opens files for itself when it first writes one, and never closes them.

Imported before any test runs, so that no test is blamed for them (`tests.leftovers`).

Touches: a temporary file.
"""

import tempfile
from pathlib import Path
from typing import Any

import polars as pl

with tempfile.TemporaryDirectory() as _folder:
    _frame = pl.DataFrame({"a": [1]})
    _frame.write_ipc(Path(_folder) / "started.arrow")
    _frame.write_parquet(Path(_folder) / "started.parquet")


def polars_of(table: Any) -> pl.DataFrame:
    """An Arrow table as a frame of polars."""
    found = pl.from_arrow(table)
    assert isinstance(found, pl.DataFrame)
    return found
