"""What every format that recrawl writes holds of one table: the same values, all of them finite."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather

from recrawl.adapters.tables.outputs import FORMATS, to_file
from recrawl.analysis.results import ResultTable
from recrawl.arrays.texts import Texts
from recrawl.report.rates import Group, Nullable

if TYPE_CHECKING:
    from pathlib import Path

    from recrawl.report.rates import Column

HEADER = ("page", "figure", "parts", "http", "changed")
figures = st.floats() | st.sampled_from([float("inf"), -float("inf"), float("nan"), 0.0])
rows = st.lists(
    st.tuples(figures, figures, st.none() | st.integers(100, 599), st.none() | st.booleans()),
    min_size=1,
)
Row = tuple[float, float, int | None, bool | None]


def table(cells: list[Row]) -> dict[str, Column]:
    """The columns after the name: a figure, one in a group, an integer and a boolean."""
    figure, part, http, changed = zip(*cells, strict=True)
    return {
        "figure": np.array(figure),
        "parts": Group({"one": np.array(part)}),
        "http": Nullable(
            np.array([each or 0 for each in http]),
            np.array([each is not None for each in http]),
        ),
        "changed": Nullable(
            np.array([bool(each) for each in changed]),
            np.array([each is not None for each in changed]),
        ),
    }


def names(cells: list[Row]) -> Texts:
    return Texts.of([f"/{number}" for number in range(len(cells))])


def expected(cells: list[Row]) -> list[dict[str, Any]]:
    """What a reader is to find: None for all that is not known."""
    return [
        {
            "page": f"/{number}",
            "figure": figure if np.isfinite(figure) else None,
            "parts": {"one": part if np.isfinite(part) else None},
            "http": http,
            "changed": changed,
        }
        for number, (figure, part, http, changed) in enumerate(cells)
    ]


def refuse(word: str) -> None:
    pytest.fail(f"not JSON: {word}")


def from_csv(path: Path) -> list[dict[str, Any]]:
    with path.open(newline="") as file:
        return [
            {
                "page": row["page"],
                "figure": float(row["figure"]) if row["figure"] else None,
                "parts": json.loads(row["parts"], parse_constant=refuse),
                "http": int(row["http"]) if row["http"] else None,
                "changed": {"": None, "true": True, "false": False}[row["changed"]],
            }
            for row in csv.DictReader(file)
        ]


def from_json(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line, parse_constant=refuse) for line in path.read_text().splitlines()]


def assert_close(found: float | None, true: float | None) -> None:
    """Equal to 11 digits: text has 12 significant ones."""
    if true is None or found is None:
        assert found is true
    else:
        assert found == pytest.approx(true, rel=1e-11, abs=1e-320)


READERS = {
    "csv": from_csv,
    "json": from_json,
    "parquet": lambda path: pq.read_table(path).to_pylist(),
    "arrow": lambda path: feather.read_table(path, memory_map=False).to_pylist(),
}


@given(rows)
def test_every_format_holds_the_same_and_nothing_infinite(
    tmp_path_factory: pytest.TempPathFactory, cells: list[Row]
) -> None:
    folder = tmp_path_factory.mktemp("written")
    truth = expected(cells)
    for suffix, kind in FORMATS.items():
        path = folder / f"table{suffix}"
        with to_file(path, HEADER) as writer:
            writer.write(names(cells), table(cells))
        for row, true in zip(READERS[kind](path), truth, strict=True):
            assert list(row) == list(HEADER)
            for name in ("page", "http", "changed"):
                assert row[name] == true[name]
                assert type(row[name]) is type(true[name])
            assert_close(row["figure"], true["figure"])
            assert_close(row["parts"]["one"], true["parts"]["one"])


@given(rows)
def test_rows_of_a_result_and_its_frames_hold_the_same(cells: list[Row]) -> None:
    result = ResultTable(names(cells), table(cells), "page")

    assert list(result) == expected(cells)
    assert result.to_arrow().to_pylist() == expected(cells)


def test_columns_with_nulls_have_the_types_of_their_values() -> None:
    cells: list[Row] = [(0.5, 1.0, 200, True), (float("inf"), 1.0, None, None)]

    schema = ResultTable(names(cells), table(cells), "page").to_arrow().schema

    assert schema.field("http").type == pa.int64()
    assert schema.field("changed").type == pa.bool_()
    assert schema.field("figure").type == pa.float64()
