"""CPU time of a piece of work, and of nothing else."""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds that this thread spends on some work.

    Nothing is collected meanwhile: a collection takes as long as the process has objects, some
    seconds after many other tests, and may or may not fall into the work.
    """
    gc.disable()
    try:
        began = time.thread_time()
        work()
        return time.thread_time() - began
    finally:
        gc.enable()
