"""Threads for pure code: blocks of rows on all processors, and two tasks in parallel.

Pages are independent, numpy releases the interpreter lock while it computes, and a block's arrays
stay in one processor's cache. Each block writes its own rows only, so the result does not depend on
which thread takes which block. This is the only pure module that uses threads.

Pure.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.arrays.types import Ints

_First = TypeVar("_First")
_Second = TypeVar("_Second")

AnyArray = np.ndarray[Any, Any]

# What one step touches stays in the cache; larger blocks spill out of it, smaller ones pay
# numpy's overhead a call. Chosen with benchmarks/rates.py among powers of two.
_PAGES = 32768


_ROWS = 1 << 20  # for work of a single call of numpy


def gathered(values: AnyArray, rows: Ints) -> AnyArray:
    """`values[rows]`, computed on all processors."""
    into = np.empty(len(rows), values.dtype)

    def work(some: slice) -> None:
        # Not the default mode: it checks every row first, in a copy.
        np.take(values, rows[some], out=into[some], mode="clip")

    over_blocks(work, len(rows), _ROWS)
    return into


def over_blocks(work: Callable[[slice], None], count: int, block: int = _PAGES) -> None:
    """Call `work` for slices that cover `count` pages or rows."""
    if count <= block:
        if count:
            work(slice(0, count))
        return
    blocks = [slice(start, min(start + block, count)) for start in range(0, count, block)]
    threads = min(os.cpu_count() or 1, len(blocks))
    if threads == 1:
        for rows in blocks:
            work(rows)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, blocks):
            pass


def in_parallel(
    first: Callable[[], _First], second: Callable[[], _Second]
) -> tuple[_First, _Second]:
    """Run two tasks at the same time, `first` in a thread and `second` in this one.

    Returns what both return; both have ended when this returns or raises.

    >>> in_parallel(lambda: 1 + 1, lambda: "two")
    (2, 'two')
    """
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(first)
        found = second()
        return future.result(), found
