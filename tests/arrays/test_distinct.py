"""How many different texts there were."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.arrays.distinct import DistinctCount


def counted(texts):
    count = DistinctCount()
    for text in texts:
        count.add(text)
    return count


@given(st.lists(st.text(max_size=3)), st.lists(st.text(max_size=3)))
def test_few_are_counted_exactly_joined_and_in_any_order(some, others):
    both = counted(some)
    both.join(counted(others))

    assert int(both) == len({*some, *others})
    assert both.dump() == counted([*others, *some, *others]).dump()
    assert int(DistinctCount.read(both.dump())) == int(both)


@pytest.mark.parametrize("many", [511, 512, 2_000, 50_000])
def test_many_are_counted_within_a_tenth(many):
    """The standard error is 4.4 %, and none up to 511."""
    count = counted(f"https://a.org/{number}" for number in range(many))

    assert int(count) == pytest.approx(many, rel=0.0 if many < 512 else 0.1)
    assert len(count.dump()) <= 512 * 8


def test_bytes_that_are_none_are_no_trouble():
    assert int(DistinctCount.read(b"123")) == 0
    assert int(DistinctCount.read(b"12345678" * 9999)) == 1
