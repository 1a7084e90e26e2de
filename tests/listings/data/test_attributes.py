"""Columns of attributes, and groups made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidParameter
from recrawl.listings.data.attributes import Labels, Numbers, ObjectGroups, grouping, groups_by

if TYPE_CHECKING:
    from recrawl.listings.data.attributes import Attribute


def sizes(groups):
    counts = np.bincount(groups.codes, minlength=len(groups))
    return dict(zip(groups.names, counts.tolist(), strict=True))


def test_a_missing_value_is_a_value():
    make = Labels.of(["BMW"] * 70 + [""] * 60)

    assert sizes(groups_by({"make": make}, ["make"], 130)) == {"BMW": 70, "?": 60}


def test_combinations_of_attributes_are_groups():
    columns: dict[str, Attribute] = {
        "make": Labels.of(["BMW", "Fiat"] * 100),
        "year": Numbers(np.repeat([1.0, np.nan], 100)),
    }

    assert sizes(groups_by(columns, ["make", "year"], 200)) == {"(all)": 200}
    columns = {
        "make": Labels.of(["BMW", "Fiat"] * 150),
        "year": Numbers(np.repeat([1.0, np.nan], 150)),
    }
    assert sizes(groups_by(columns, ["make", "year"], 300)) == {
        "BMW, 1": 75,
        "BMW, ?": 75,
        "Fiat, 1": 75,
        "Fiat, ?": 75,
    }


def test_at_most_24_groups_and_the_rest():
    """Of 30 makes with 60 to 89 objects the 24 largest are groups of their own."""
    make = Labels.of([f"make {number}" for number in range(30) for _ in range(60 + number)])

    found = sizes(groups_by({"make": make}, ["make"], len(make)))

    assert len(found) == 25
    assert found["(rest)"] == sum(60 + number for number in range(6))


def test_groups_must_be_attributes_and_few():
    with pytest.raises(
        InvalidParameter, match=r"^attribute 'colour' not found; expected one of make$"
    ):
        groups_by({"make": Labels.of(["a"])}, ["colour"], 1)
    with pytest.raises(InvalidParameter, match="at most 3 attributes, got 4"):
        groups_by({}, ["a", "b", "c", "d"], 1)


def test_without_attributes_all_are_one_group():
    assert groups_by({}, [], 3).names == ("(all)",)
    assert len(ObjectGroups.one(0)) == 1


def test_the_attributes_of_few_values_are_chosen():
    """Not those that name each object, that are all alike, that most lack, or that are times."""
    count = 400
    columns: dict[str, Attribute] = {
        "title": Labels.of([f"title {row}" for row in range(count)]),
        "country": Labels.of(["PL"] * count),
        "colour": Labels.of(["red", "blue"] * (count // 2)),
        "fuel": Labels.of(["", "", "", "gas"] * (count // 4)),
        "year": Numbers(np.array([2000.0, 2001, 2002, 2003, 2004] * (count // 5))),
        "price": Numbers(np.linspace(0.0, 1.0, count)),
        "posted": Numbers(np.array([1.0, 2.0] * (count // 2)), dated=True),
    }

    assert grouping(columns, count).attributes == ("colour", "year")


@given(st.lists(st.none() | st.integers(0, 3)))
def test_numbers_and_labels_group_alike(values):
    labels = Labels.of(["" if value is None else str(value) for value in values])
    numbers = Numbers(
        np.array([np.nan if value is None else value for value in values], np.float64)
    )

    for column in (labels, numbers):
        codes, words = column.values()
        assert [words[code] for code in codes.tolist()] == [
            "?" if value is None else str(value) for value in values
        ]
    assert labels.missing.tolist() == numbers.missing.tolist()
    assert len(labels) == len(numbers) == len(values)
