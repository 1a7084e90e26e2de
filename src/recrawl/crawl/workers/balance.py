"""Who holds how many slots: as even as can be, and no slot moves without a reason.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def slots_to_take(held: int, free: Sequence[int], fair: int, fewest: int) -> list[int]:
    """Slots that a worker takes now; none while another one holds fewer than it does.

    Args:
        held: How many it holds.
        free: Those that nobody holds.
        fair: How many each worker should hold, rounded up.
        fewest: How many the worker holds that holds fewest.

    Examples:
        >>> slots_to_take(0, [0, 1, 2, 3, 4], fair=3, fewest=0)
        [0, 1, 2]
        >>> slots_to_take(1, [7], fair=3, fewest=0)
        []
    """
    return [] if held > fewest else list(free[: max(fair - held, 0)])


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
