"""A line of blocks: figures over time in the space of a line.

Pure.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_BLOCKS = "▁▂▃▄▅▆▇█"


def spark(values: Sequence[float], width: int = 72) -> str:
    """Blocks as high as the values, from 0 to the largest; a blank where there is none.

    Where there are more values than letters, neighbours are averaged.

    >>> spark([0.0, 1.0, float("nan"), 2.0])
    '▁▅ █'
    """
    shown = _averaged(values, width)
    known = [value for value in shown if not math.isnan(value)]
    most = max(known, default=0.0)
    return "".join(" " if math.isnan(value) else _BLOCKS[_height(value, most)] for value in shown)


def _height(value: float, most: float) -> int:
    return 0 if most <= 0 else min(round(value / most * (len(_BLOCKS) - 1)), len(_BLOCKS) - 1)


def _averaged(values: Sequence[float], width: int) -> list[float]:
    if len(values) <= width:
        return list(values)
    parts = [
        values[len(values) * part // width : len(values) * (part + 1) // width]
        for part in range(width)
    ]
    return [_mean([value for value in part if not math.isnan(value)]) for part in parts]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan
