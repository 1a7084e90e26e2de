"""Conditions on attributes, met or not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidParameter
from recrawl.listings.data.attributes import Attribute, Labels, Numbers
from recrawl.listings.data.where import where
from recrawl.units import epoch_days

CARS: dict[str, Attribute] = {
    "make": Labels.of(["BMW", "Fiat", "", "Alfa Romeo", "BMW"]),
    "year": Numbers(np.array([2001.0, 2003.0, 2003.0, np.nan, 2010.0])),
    "sold": Labels.of(["true", "false", "true", "", "false"]),
    "posted": Numbers(
        epoch_days(
            np.array(
                ["2026-01-01", "2026-01-02", "2026-01-03T12:00", "NaT", "2026-02-01"], "M8[us]"
            )
        ),
        dated=True,
    ),
}


def found(text):
    return np.flatnonzero(where(CARS, text, 5).wanted).tolist()


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("make = BMW and year > 2002", [4]),
        ("make != BMW", [1, 3]),
        ("make = 'Alfa Romeo'", [3]),
        ("make in (Fiat, 'Alfa Romeo')", [1, 3]),
        ("make < C", [0, 3, 4]),
        ("year = 2003", [1, 2]),
        ("year == 2.003e3", [1, 2]),
        ("year != 2003", [0, 4]),
        ("year <= 2003", [0, 1, 2]),
        ("year in (2001, 2010)", [0, 4]),
        ("sold = True", [0, 2]),
        ("posted >= 2026-01-02 and posted < 2026-01-04", [1, 2]),
        ("posted = 2026-01-03T12:00", [2]),
    ],
)
def test_conditions(text, rows):
    assert found(text) == rows


def test_objects_that_lack_the_attribute_are_left_out_and_counted():
    assert where(CARS, "make != BMW and year > 0", 5).missing == {"make": 1, "year": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "colour = red",
            "position 1: attribute 'colour' not found; expected one of make, year, sold, posted",
        ),
        (
            "make = BMW and year > new",
            r"where, position 16: year must be compared with a number \(got 'new'\)",
        ),
        ("year > nan", r"position 1: year must be compared with a number \(got 'nan'\)"),
        (
            "posted > soon",
            r"position 1: posted must be compared with a time in ISO 8601 \(got 'soon'\)",
        ),
    ],
)
def test_a_condition_that_cannot_be_met_is_refused(text, message):
    with pytest.raises(InvalidParameter, match=message):
        found(text)


@given(
    st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
    st.integers(-3, 3),
    st.lists(st.none() | st.integers(-3, 3)),
)
def test_numbers_are_compared_as_python_does(operator, value, numbers):
    column = Numbers(
        np.array([np.nan if number is None else number for number in numbers], np.float64)
    )
    compare = {
        "=": "__eq__",
        "!=": "__ne__",
        "<": "__lt__",
        "<=": "__le__",
        ">": "__gt__",
        ">=": "__ge__",
    }

    mine = where({"n": column}, f"n {operator} {value}", len(numbers)).wanted

    expected = [
        number is not None and getattr(number, compare[operator])(value) for number in numbers
    ]
    assert mine.tolist() == expected
