"""Blocks of pages, worked on by as many threads as there are processors.

Pages are independent, numpy lets go of the interpreter while it computes, and a block's arrays
stay in one processor's cache. Each block writes its own rows only, so the result is the same
however the blocks are shared out. This is the only pure module that knows of threads.

Pure.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# What one step touches stays in the cache; larger blocks spill out of it, smaller ones pay
# numpy's overhead a call. Chosen with benchmarks/rates.py among powers of two.
_PAGES = 32768


def over_blocks(work: Callable[[slice], None], pages: int) -> None:
    """Call `work` for slices of pages that cover them all."""
    blocks = [slice(start, min(start + _PAGES, pages)) for start in range(0, pages, _PAGES)]
    threads = min(os.cpu_count() or 1, len(blocks))
    if threads <= 1:
        for block in blocks:
            work(block)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, blocks):
            pass
