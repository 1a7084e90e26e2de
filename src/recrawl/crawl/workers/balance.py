"""Who holds how many slots: as even as can be, and no slot moves without a reason.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def slots_to_take(held: int, free: Sequence[int], slots: int, workers: int) -> list[int]:
    """Slots that a worker takes now.

    Args:
        held: How many it holds.
        free: Those that nobody holds.
        slots: How many there are with something to crawl.
        workers: How many workers there are, with this one.

    Examples:
        >>> slots_to_take(0, [0, 1, 2, 3, 4], slots=5, workers=2)
        [0, 1, 2]
        >>> slots_to_take(3, [7], slots=5, workers=2)
        []
    """
    return list(free[: max(-(-slots // workers) - held, 0)])


def slots_to_release(held: Sequence[int], fewest: int) -> list[int]:
    """Slots that a worker gives back, so that one that has fewer may take them: its last ones.

    Args:
        held: Those that it holds.
        fewest: How many the worker holds that holds fewest.

    Examples:
        >>> slots_to_release([0, 1, 2, 3], fewest=0)
        [2, 3]
        >>> slots_to_release([0, 1], fewest=1)
        []
    """
    return list(held[len(held) - max(len(held) - fewest, 0) // 2 :])
