"""Tasks on Ray, one remote call per task.

The cluster is the one that the program is connected to already, that `RAY_ADDRESS` names, or that
runs on this machine (`ray start`); else Ray is started on this machine alone, without its dashboard
and its reports of usage. recrawl must be installed where tasks run.

Touches: processes, a cluster.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from recrawl.adapters.engines.outcomes import Outcome
from recrawl.errors import CannotConnect, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from recrawl.adapters.engines import Engine

_LOCAL = "local"
_HERE = {"_node_ip_address": "127.0.0.1", "include_dashboard": False}


@contextmanager
def ray_engine() -> Iterator[Engine]:
    """Ray, started if need be; tasks that are not done at the end are cancelled."""
    with ray_session() as ray:
        running: dict[Any, int] = {}

        def run(
            work: Callable[[Any], Outcome], tasks: Sequence[Any]
        ) -> Iterator[tuple[int, Outcome]]:
            @ray.remote(max_retries=0)  # type: ignore[untyped-decorator] # who calls us tries again
            def remote(task: Any) -> Outcome:  # noqa: ANN401 - what the function takes
                return work(task)

            running.update({remote.remote(task): number for number, task in enumerate(tasks)})
            while running:
                for done in ray.wait(list(running))[0]:
                    yield running.pop(done), _outcome(ray, done)

        try:
            yield run
        finally:
            for left in running:
                ray.cancel(left, force=True)


@contextmanager
def ray_session() -> Iterator[Any]:
    """Ray itself, connected to a cluster; one that was started for the block ends with it."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # before Ray is imported
    try:
        import ray
    except ImportError:
        raise MissingExtra("--engine ray", "ray") from None
    if ray.is_initialized():
        yield ray
        return
    _connect(ray)
    try:
        yield ray
    finally:
        ray.shutdown()


def _connect(ray: Any) -> None:  # noqa: ANN401 - no types
    """Connect to the cluster that is there, or start one here."""
    quiet = {"log_to_driver": False, "configure_logging": False}
    named = os.environ.get("RAY_ADDRESS")
    if named == _LOCAL:
        ray.init(address=_LOCAL, **_HERE, **quiet)
        return
    try:
        ray.init(address="auto", **quiet)  # which heeds RAY_ADDRESS
    except ConnectionError:
        if named:
            raise CannotConnect(f"no Ray cluster answers at RAY_ADDRESS={named}") from None
        ray.init(address=_LOCAL, **_HERE, **quiet)


def _outcome(ray: Any, done: Any) -> Outcome:  # noqa: ANN401 - no types
    """What came of a call."""
    try:
        outcome: Outcome = ray.get(done)
    except ray.exceptions.RayTaskError as error:  # a task itself raises nothing
        return Outcome(error=f"the task could not begin ({error.cause})")
    except ray.exceptions.RayError as error:
        return Outcome(error=f"the worker was lost ({type(error).__name__})")
    return outcome
