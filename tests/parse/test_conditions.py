"""Conditions as text."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recrawl.errors import InvalidParameter
from recrawl.parse.conditions import OPERATORS, conditions

JOINED = "conditions must be joined by and, and a value of several words be in quotes"


def read(text):
    return [(found.name, found.operator, found.values) for found in conditions(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("make = BMW", [("make", "=", ("BMW",))]),
        ("make=BMW AND year>=2002", [("make", "=", ("BMW",)), ("year", ">=", ("2002",))]),
        ("make IN (BMW,Fiat , 'Alfa Romeo')", [("make", "in", ("BMW", "Fiat", "Alfa Romeo"))]),
        ("'body type' != \"it's\"", [("body type", "!=", ("it's",))]),
        ("price < -1.5e3", [("price", "<", ("-1.5e3",))]),
        ("title = ''", [("title", "=", ("",))]),
        ("  a  <=  b  ", [("a", "<=", ("b",))]),
        ("in in (in)", [("in", "in", ("in",))]),
        ("a = 'x and y = z'", [("a", "=", ("x and y = z",))]),
    ],
)
def test_conditions(text, expected):
    assert read(text) == expected


def test_a_condition_knows_where_it_begins():
    assert [found.place for found in conditions("make = BMW and  year > 2")] == [1, 17]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "position 1: a condition must begin with the name of an attribute (got the end)"),
        ("make", "position 5: 'make' must be followed by one of = != < <= > >= in (got the end)"),
        ("make ~ BMW", "position 6: 'make' must be followed by one of = != < <= > >= in (got '~')"),
        ("make =", "position 7: a value must be a word, a number or in quotes (got the end)"),
        ("make = = 3", "position 8: a value must be a word, a number or in quotes (got '=')"),
        (
            "make = Alfa Romeo",
            "position 13: " + JOINED + " (got 'Romeo')",
        ),
        (
            "a = 1 or b = 2",
            "position 7: " + JOINED + " (got 'or')",
        ),
        (
            "a = 1 and",
            "position 10: a condition must begin with the name of an attribute (got the end)",
        ),
        ("a = 'open", 'position 5: a quote must be closed (got "\'open")'),
        ("a ! b", "position 3: must be a condition (got '! b')"),
        ("a in ,b", "position 6: in must be followed by values in brackets (got ',')"),
        ("a in b", "position 6: in must be followed by values in brackets (got 'b')"),
        (
            "a in (b c)",
            "position 9: values must be separated by commas and end in a bracket (got 'c')",
        ),
        (
            "a in (b",
            "position 8: values must be separated by commas and end in a bracket (got the end)",
        ),
        ("a in ()", "position 7: a value must be a word, a number or in quotes (got ')')"),
        (
            "__import__('os')",
            "position 11: '__import__' must be followed by one of = != < <= > >= in (got '(')",
        ),
    ],
)
def test_a_broken_text_is_refused_in_one_sentence(text, message):
    with pytest.raises(InvalidParameter, match=f"^where, {re.escape(message)}$"):
        conditions(text)


def test_a_long_word_is_cut():
    with pytest.raises(InvalidParameter) as raised:
        conditions("a = 1 " + "x" * 1000)

    assert len(str(raised.value)) < 200


@given(st.text() | st.text(alphabet="ab =!<>()',\"in and 01.-"))
@example("a = 1 and\x00")
@example("a\u2028=\u00a01")
def test_any_text_is_read_or_refused(text):
    """Nothing but our own error comes out, and its position lies within the text."""
    found, refusal = outcome(text)

    if refusal:
        position = int(re.findall(r"^where, position (\d+): ", refusal)[0])
        assert 1 <= position <= len(text) + 1
        assert "\n" not in refusal
    else:
        assert found
        assert all(each.operator in OPERATORS for each in found)


def outcome(text):
    try:
        return conditions(text), ""
    except InvalidParameter as error:
        return [], str(error)


names = st.text(alphabet=st.characters(exclude_characters="\"'", codec="utf-8"))


@given(st.lists(st.tuples(names, st.sampled_from(OPERATORS[:-1]), names), min_size=1))
def test_whatever_is_in_quotes_comes_back(parts):
    text = " and ".join(f"'{name}' {sign} \"{value}\"" for name, sign, value in parts)

    assert read(text) == [(name, sign, (value,)) for name, sign, value in parts]
