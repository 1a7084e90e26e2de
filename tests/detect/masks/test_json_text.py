"""Masks in a store."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.masks.json_text import as_json, read_masks
from recrawl.detect.masks.masks import NO_MASKS, learn_masks
from tests.detect.masks.test_masks import READING

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.floats(),
    lambda inner: st.lists(inner, max_size=9),
    max_leaves=30,
)


@given(READING, READING)
def test_masks_come_back_as_they_were(first, second):
    masks = learn_masks(first, second)

    assert read_masks(as_json(masks)) == masks


@pytest.mark.parametrize(
    "text",
    [
        *("", "null", "[", "[" * 100_000, "[1]", "[2,[]]", '{"a":1}', "1", "[1,[]]", "\ud800"),
        *('[1,["p",1,1,["",""],8,0,"","",1]]', '[1,["p",-1,1,["a",""],8,0,"","",1]]'),
        *('[1,["p",1,1,["a"],8,0,"","",1]]', '[1,["p",1,1,["a",1],8,0,"","",1]]'),
        *('[1,["r",1,1,[],[],1,1,1,""]]', '[1,["r",1,1,["a"],[],2,1,1,""]]', '[1,["x",1,1]]'),
        '[1,["p",true,1,["a",""],8,0,"","",1]]',
    ],
)
def test_text_of_another_kind_gives_no_masks(text):
    assert read_masks(text) == NO_MASKS


@given(JSON)
def test_whatever_is_in_the_text_nothing_is_raised(rows):
    read_masks(json.dumps(rows))
    read_masks(json.dumps([1, rows]))
    read_masks(json.dumps([1, ["p", 1, 1, rows]]))
    read_masks(json.dumps([1, ["r", 1, 1, *(rows if isinstance(rows, list) else [])]]))
