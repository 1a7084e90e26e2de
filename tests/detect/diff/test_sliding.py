"""Where a stretch begins that was put into a sequence."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.diff.alignment import aligned
from recrawl.detect.diff.sliding import settled

items = st.lists(st.sampled_from("abcm"), max_size=14)


def test_a_stretch_begins_with_what_is_its_own():
    """Both ways: of three that end alike the middle one is new, or gone."""
    short, long = ["A", "m", "C", "m"], ["A", "m", "B", "m", "C", "m"]
    wrong = [(0, 0), (1, 3), (2, 4), (3, 5)]

    assert settled(wrong, short, long) == [(0, 0), (1, 1), (2, 4), (3, 5)]
    turned = [(other, one) for one, other in wrong]
    assert settled(turned, long, short) == [(0, 0), (1, 1), (4, 2), (5, 3)]


def test_a_stretch_at_the_end_slides_up():
    assert settled([(0, 0), (1, 1), (2, 4)], list("Amx"), list("AmBmx")) == [(0, 0), (1, 1), (2, 4)]
    assert settled([(0, 0), (1, 3)], list("Am"), list("AmBm")) == [(0, 0), (1, 1)]


@given(items, items)
def test_as_many_equal_items_are_paired_as_before(old, new):
    before = aligned(old, new)
    found = settled(before, old, new)

    assert len(found) == len(before)
    assert all(old[one] == new[other] for one, other in found)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(found))
