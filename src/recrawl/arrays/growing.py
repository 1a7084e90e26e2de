"""Growing columns: rows appended in amortised constant time.

Pure.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

Arrays = TypeVar("Arrays")


def with_rows(state: Arrays, more: Arrays) -> Arrays:
    """The state with the rows of another after its own, in every field that is an array.

    Both are of one dataclass. Other fields stay as they are; a field that is such a dataclass
    itself grows likewise. The state must own its arrays.

    Examples:
        >>> from dataclasses import dataclass
        >>> @dataclass
        ... class Waiting:
        ...     days: np.ndarray
        ...     gap: float
        >>> with_rows(Waiting(np.array([1.0, 2.0]), 7.0), Waiting(np.array([3.0]), 8.0))
        Waiting(days=array([1., 2., 3.]), gap=7.0)
    """
    names: Any = fields(state)  # type: ignore[arg-type] # any dataclass will do
    for name in [field.name for field in names]:
        mine, other = getattr(state, name), getattr(more, name)
        if isinstance(mine, np.ndarray):
            setattr(state, name, append_rows(mine, other))
        elif hasattr(mine, "__dataclass_fields__"):
            with_rows(mine, other)
    return state


def append_rows(rows: npt.NDArray[Any], more: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The rows followed by more, in the spare capacity behind the first where that suffices.

    An array made here is the beginning of one twice as long, so that adding rows one by one
    costs no more than adding them together.
    """
    have, count = len(rows), len(rows) + len(more)
    room = rows.base
    if room is None or len(room) < count:
        room = np.empty((max(count, 2 * have), *rows.shape[1:]), rows.dtype)
        room[:have] = rows
    room[have:count] = more
    return room[:count]
