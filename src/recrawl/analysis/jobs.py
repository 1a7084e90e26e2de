"""Independent runs shared among processes, with the progress of the whole.

Touches: processes.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, wait
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_REDRAW_SECONDS = 0.2

Result_co = TypeVar("Result_co", covariant=True)
Result = TypeVar("Result")


class Runs(Protocol[Result_co]):
    """Work in parts that do not need each other; it can be pickled."""

    def weights(self) -> Sequence[float]:
        """About how long each part takes, in any unit."""

    def run(self, number: int, on_progress: Callable[[float], None]) -> Result_co:
        """Do one part, telling the share of it that is done."""


def run_all(
    runs: Runs[Result], *, jobs: int = 1, progress: Callable[[float], None] | None = None
) -> list[Result]:
    """Do all parts, and return their results in order.

    Args:
        runs: The parts.
        jobs: Processes that share them.
        progress: Called with the share of the whole that is done.
    """
    weights = runs.weights()
    if jobs == 1 or len(weights) == 1:
        return _one_by_one(runs, weights, progress)
    with _Shared(runs, min(jobs, len(weights))) as shared:
        return shared.results(progress)


def _one_by_one(
    runs: Runs[Result], weights: Sequence[float], progress: Callable[[float], None] | None
) -> list[Result]:
    results, done, whole = [], 0.0, sum(weights)
    for number, weight in enumerate(weights):

        def on_progress(share: float, done: float = done, weight: float = weight) -> None:
            if progress is not None:
                progress((done + share * weight) / whole)

        results.append(runs.run(number, on_progress))
        done += weight
    return results


class _Shared(Generic[Result]):
    """Processes that do the parts; an exception ends them all."""

    def __init__(self, runs: Runs[Result], jobs: int) -> None:
        self._weights = runs.weights()
        context = get_context("spawn")  # no thread of ours is copied half-way
        self._shares = context.Array("d", len(self._weights), lock=False)
        self._pool = ProcessPoolExecutor(jobs, context, _begin, (runs, self._shares))

    def __enter__(self) -> _Shared[Result]:
        return self

    def __exit__(self, *_: object) -> None:
        for process in list((self._pool._processes or {}).values()):  # noqa: SLF001 - no other way to end one
            process.terminate()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def results(self, progress: Callable[[float], None] | None) -> list[Result]:
        """Wait for all parts."""
        futures = [self._pool.submit(_do, number) for number in range(len(self._weights))]
        left = set(futures)
        while left:
            done, left = wait(left, timeout=_REDRAW_SECONDS)
            for future in done:
                future.result()  # raises what the part raised
            if progress is not None:
                told = zip(self._weights, self._shares, strict=True)
                progress(sum(weight * share for weight, share in told) / sum(self._weights))
        return [future.result() for future in futures]


_begun: tuple[Runs[Any], Any]  # of a process that does parts


def _begin(runs: Runs[Any], shares: Any) -> None:  # noqa: ANN401 - an array that processes share
    global _begun  # noqa: PLW0603 - how a process of a pool keeps what it was given
    _begun = runs, shares


def _do(number: int) -> Any:  # noqa: ANN401 - what the part returns
    runs, shares = _begun

    def on_progress(share: float) -> None:
        shares[number] = share

    result = runs.run(number, on_progress)
    shares[number] = 1.0
    return result
