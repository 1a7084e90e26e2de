"""Paths into JSON: what they find, and what is no path."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidParameter
from recrawl.parse.items.json_paths import EVERY, JsonPath

PAGE = {
    "jobs": [{"id": 1, "at": {"city": "Bern"}}, {"id": 2}],
    "all jobs": [3, 4],
    "0": "zero",
    "naïve": True,
}
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$", [PAGE]),
        ("$.jobs[*].id", [1, 2]),
        ("jobs[*].id", [1, 2]),
        ("jobs.*.id", [1, 2]),
        ("$.jobs[0].at.city", ["Bern"]),
        ("$.jobs[-1].id", [2]),
        ("$.jobs[7]", []),
        ("$.jobs[-3]", []),
        ("$['all jobs'][*]", [3, 4]),
        ('["all jobs"][1]', [4]),
        ('$["all\\u0020jobs"][0]', [3]),
        ("$.0", ["zero"]),
        ("naïve", [True]),
        (" $.jobs[ * ].id ", [1, 2]),
        ("$.jobs.id", []),
        ("$.nothing[*].at.all", []),
    ],
)
def test_a_path_finds_what_it_says(path, found):
    assert JsonPath.read(path).all(PAGE) == found


@pytest.mark.parametrize(
    "path",
    [
        *("", " ", "$.", "$..jobs", "jobs[", "jobs[x]", "jobs[?(@.id)]", "jobs[0:2]", "a b"),
        *("$['a'b']", '$["\\q"]', "jobs[99999999999]", "@.id", "li.job > a", "x" * 501),
    ],
)
def test_what_is_no_path_is_refused(path):
    with pytest.raises(InvalidParameter, match=r"path must look like \$\.jobs\[\*\]"):
        JsonPath.read(path)


@given(values, st.lists(st.text() | st.integers(-5, 5) | st.none(), max_size=4))
def test_any_document_can_be_walked_by_any_path(document, steps):
    """An oracle: the same steps, walked by hand."""
    path = JsonPath(tuple(EVERY if step is None else step for step in steps))

    assert path.all(document) == _walked(document, steps)


def _walked(value, steps):
    if not steps:
        return [value]
    step, rest = steps[0], steps[1:]
    inner = []
    if step is None and isinstance(value, dict):
        inner = list(value.values())
    elif step is None and isinstance(value, list):
        inner = value
    elif isinstance(step, str) and isinstance(value, dict) and step in value:
        inner = [value[step]]
    elif isinstance(step, int) and isinstance(value, list):
        inner = value[step:][:1] if step >= 0 else value[::-1][-step - 1 :][:1]
    return [found for each in inner for found in _walked(each, rest)]


@given(st.dictionaries(st.text(max_size=40), st.integers(), min_size=1))
def test_any_name_can_be_written_in_quotes(members):
    """A path may have 500 letters, and a letter of a name may take twelve of them."""
    name = next(iter(members))

    assert JsonPath.read(f"$[{json.dumps(name)}]").first(members) == members[name]
