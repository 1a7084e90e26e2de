"""Engines that do many tasks which do not need each other: processes, Ray or Spark.

An engine takes a function and a list of small tasks, such as paths of files, and yields the outcome
of each as it comes. Rows never pass through an engine: tasks read and write files by themselves.

Touches: processes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from recrawl.adapters.engines.outcomes import Outcome
from recrawl.checks import check_choice

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

# A function and its tasks in; the number of a task and its outcome out, in any order.
Engine: TypeAlias = Callable[
    [Callable[[Any], Outcome], Sequence[Any]], Iterator[tuple[int, Outcome]]
]

ENGINES = ("local", "ray", "spark")


def open_engine(name: str, *, jobs: int = 0) -> AbstractContextManager[Engine]:
    """An engine, which ends with its block all that it has started.

    Args:
        name: One of `ENGINES`.
        jobs: Processes of the engine "local"; as many as there are cores if 0.
    """
    check_choice(ENGINES, engine=name)
    if name == "ray":
        from recrawl.adapters.engines.ray import ray_engine

        return ray_engine()
    if name == "spark":
        from recrawl.adapters.engines.spark import spark_engine

        return spark_engine()
    from recrawl.adapters.engines.local import local_engine

    return local_engine(jobs or len(os.sched_getaffinity(0)))
