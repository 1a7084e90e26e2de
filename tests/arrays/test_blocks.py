import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.arrays.blocks import gathered, over_blocks


@given(st.integers(0, 100), st.integers(1, 30))
def test_blocks_cover_every_row_once(count, block):
    seen = np.zeros(count, np.int64)

    def work(rows):
        seen[rows] += 1

    over_blocks(work, count, block)

    assert (seen == 1).all()


def test_blocks_are_no_longer_than_asked():
    sizes = []
    over_blocks(lambda rows: sizes.append(rows.stop - rows.start), 25, 10)

    assert sorted(sizes) == [5, 10, 10]


def test_no_rows_need_no_work():
    over_blocks(lambda _: pytest.fail("called for nothing"), 0)


@pytest.mark.parametrize("count", [5, 50])
def test_an_error_in_a_block_is_raised(count):
    """From a single block and from one of many, which other threads work on."""

    def work(rows):
        if rows.stop == count:
            raise ArithmeticError("the last block")

    with pytest.raises(ArithmeticError, match="the last block"):
        over_blocks(work, count, 10)


def test_a_single_block_needs_no_thread():
    threads = []
    over_blocks(lambda _: threads.append(threading.current_thread()), 5, 10)

    assert threads == [threading.main_thread()]


@given(st.lists(st.integers(0, 9), max_size=50))
def test_gathered_is_what_an_index_gives(rows):
    values = np.arange(10) * 1.5
    wanted = np.array(rows, np.int64)

    assert gathered(values, wanted).tolist() == values[wanted].tolist()


def test_gathered_from_many_rows():
    """More rows than a block: 2^20."""
    values = np.arange(1000, dtype=np.int8)
    wanted = np.arange(2**20 + 5) % 1000

    assert (gathered(values, wanted) == values[wanted]).all()
