"""Long work on Ray: actors that Ray places, and starts again when their process is lost.

Every actor is asked now and then what it has to say. One whose process or machine was lost is
started again by Ray, as often as it takes, and asked to go on. One whose work fails stays ended:
it would fail again.

Touches: processes, a cluster.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from recrawl.adapters.engines.outcomes import EngineTask
from recrawl.adapters.engines.ray import ray_session

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recrawl.adapters.engines.outcomes import Outcome

_LOOK_SECONDS = 0.5
# Calls besides `run`: to stop, and to hear what was said.
_AT_ONCE = 4


class LongWork(Protocol):
    """What an actor does; its methods are called by different threads."""

    def run(self, again: bool) -> None:  # noqa: FBT001 - passed on by Ray
        """Work until it is done or stopped; `again` where an earlier process of it was lost."""

    def stop(self) -> None:
        """Have the work stop soon, also if it has not begun."""

    def said(self) -> list[str]:
        """What was said since the last time."""


class _Actor:
    """Holds the work in a process of Ray's."""

    def __init__(self, make: Callable[[], LongWork]) -> None:
        self._work = make()

    def run(self, again: bool) -> Outcome:  # noqa: FBT001 - Ray's calls are positional
        return EngineTask(self._work.run)(again)

    def stop(self) -> None:
        self._work.stop()

    def said(self) -> list[str]:
        return self._work.said()


@dataclass(slots=True, eq=False)
class _Running:
    """An actor as whoever started it sees it."""

    actor: Any
    run: Any
    asked: Any = None
    error: str | None = None  # once it has ended; empty if it is done


def run_actors(
    makers: Sequence[Callable[[], LongWork]],
    *,
    is_stopped: Callable[[], bool],
    say: Callable[[int, str], object],
) -> list[str]:
    """Run one actor for each maker until all have ended; says why each failed, empty if it did not.

    Args:
        makers: Make the work, in the actor's process; they can be pickled.
        is_stopped: Whether all are to stop.
        say: Told what happens to an actor, and what it says.
    """
    with ray_session() as ray, ExitStack() as stack:
        remote = ray.remote(_Actor).options(
            max_concurrency=_AT_ONCE,
            max_restarts=-1,
            max_task_retries=0,
            scheduling_strategy="SPREAD",
        )
        actors = []
        for make in makers:
            actor = remote.remote(make)
            stack.callback(ray.kill, actor)
            actors.append(_Running(actor, actor.run.remote(False)))  # noqa: FBT003 - Ray's call
        stopped = False
        while any(each.error is None for each in actors):
            if is_stopped() and not stopped:
                stopped = True
                for each in actors:
                    each.actor.stop.remote()
            ray.wait([each.run for each in actors if each.error is None], timeout=_LOOK_SECONDS)
            for number, each in enumerate(actors):
                _look(ray, each, partial(say, number), stopped=stopped)
        return [each.error or "" for each in actors]


def _look(ray: Any, each: _Running, say: Callable[[str], object], *, stopped: bool) -> None:  # noqa: ANN401 - no types
    """Tell what an actor says, and see whether it has ended."""
    if each.error is not None:
        return
    if not _is_ready(ray, each.run):
        if each.asked is None:
            each.asked = each.actor.said.remote()
        elif _is_ready(ray, each.asked):
            asked, each.asked = each.asked, None
            _tell(ray, asked, say)
        return
    try:
        each.error = ray.get(each.run).error
    except ray.exceptions.ActorUnavailableError:
        each.asked = None
        if stopped:
            each.error = ""
            say("was lost while it stopped")
        else:
            each.run = each.actor.run.remote(True)  # noqa: FBT003 - the same
            say("was lost; Ray starts it again")
    except ray.exceptions.RayError as error:
        each.error = f"Ray could not run it ({type(error).__name__})"
    else:
        for asked in (each.asked, each.actor.said.remote()):
            _tell(ray, asked, say)


def _tell(ray: Any, asked: Any, say: Callable[[str], object]) -> None:  # noqa: ANN401 - no types
    """Tell what an actor answers; nothing where it is lost, for its run tells that."""
    if asked is None:
        return
    with suppress(ray.exceptions.RayError):
        for sentence in ray.get(asked):
            say(sentence)


def _is_ready(ray: Any, call: Any) -> bool:  # noqa: ANN401 - no types
    return bool(ray.wait([call], timeout=0)[0])
