"""Runs a parser on many inputs: the same ones for the same seed."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from tests.fuzz.mutation import Mutator, grown, minimised
from tests.fuzz.parser import attempt, hangs_end, rewind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.fuzz.parser import Parser

_TELL_EVERY = 1_000  # inputs
_GENERATED = 0.4  # share of inputs by the rules of a language, where there are some


@dataclass(slots=True)
class Findings:
    """What inputs have shown so far.

    Attributes:
        inputs: How many there were.
        failed: How many of them failed.
        failures: For each kind of failure its shortest input.
        cpu_seconds: CPU time of all of them, and of making them.
        slowest: The largest CPU time of one.
        memory_bytes: The most that one has added to the size of the process.
    """

    inputs: int = 0
    failed: int = 0
    failures: dict[str, bytes] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    slowest: float = 0.0
    memory_bytes: int = 0


def fuzz(
    parser: Parser,
    inputs: int,
    seed: int,
    *,
    real: Sequence[bytes] = (),
    reached: Callable[[], int] | None = None,
    traced: int = 0,
    tell: Callable[[Findings], None] = lambda _: None,
    before: Callable[[bytes], None] = lambda _: None,
) -> Findings:
    """Try inputs on a parser.

    Args:
        parser: The parser.
        inputs: How many.
        seed: The same seed gives the same inputs, as long as `reached` says the same.
        real: Examples from real files.
        reached: Number of branches reached so far; an input that adds to it becomes an example.
        traced: How many inputs, the first ones, `reached` is asked after.
        tell: Called now and then with what was found.
        before: Called with each input before it is tried.
    """
    random = Random(f"{parser.name} {seed}")  # noqa: S311 - the same inputs again are wanted
    mutator = Mutator((*parser.seeds, *real), parser.tokens, random, parser.longest)
    found = Findings()
    branches = 0
    attempt(parser, mutator.examples[0])  # loads what is loaded late
    started = time.process_time()
    with hangs_end(parser):
        for data in _inputs(parser, mutator, random, inputs):
            before(data)
            rewind(parser)
            outcome = attempt(parser, data)
            found.inputs += 1
            found.cpu_seconds = time.process_time() - started
            found.slowest = max(found.slowest, outcome.cpu_seconds)
            found.memory_bytes = max(found.memory_bytes, outcome.memory_bytes)
            if outcome.failure:
                found.failed += 1
                known = found.failures.get(outcome.failure)
                if known is None or len(data) < len(known):
                    found.failures[outcome.failure] = data
            if reached is not None and found.inputs <= traced and (now := reached()) > branches:
                branches = now
                mutator.learn(data)
            if found.inputs % _TELL_EVERY == 0:
                tell(found)
    return found


def _inputs(parser: Parser, mutator: Mutator, random: Random, count: int) -> Iterator[bytes]:
    """Examples as they are, then what is made of them."""
    whole = [*parser.once, *mutator.examples][:count]
    yield from whole
    for _ in range(count - len(whole)):
        if parser.generate is None or random.random() >= _GENERATED:
            yield mutator.mutated()
        else:
            made = parser.generate(random)[: parser.longest]
            yield made if random.random() < 0.5 else mutator.mutated(made)


def smallest(parser: Parser, failure: str, data: bytes) -> bytes:
    """Return a short input that fails in the same way."""

    def fails(shorter: bytes) -> bool:
        rewind(parser)
        return attempt(parser, shorter).failure == failure

    with hangs_end(parser):
        return minimised(data, fails)


@dataclass(frozen=True, slots=True)
class Growth:
    """How the cost of one shape grows with its size.

    Args:
        chunk: What is repeated.
        ends: What stands before and after it.
        seconds: CPU time at sizes that double.
    """

    chunk: bytes
    ends: tuple[bytes, bytes]
    seconds: tuple[float, ...]

    @property
    def factor(self) -> float:
        """Largest factor of the time for twice the size: 2 for what is linear, 4 if quadratic."""
        pairs = zip(self.seconds, self.seconds[1:], strict=False)
        return max((later / earlier for earlier, later in pairs if earlier > 0), default=0.0)


_LEAST_SECONDS = 0.03  # below, noise decides
_SUPER_LINEAR = 6.5  # for four times the size: 4 is linear, 8 is size to the power of 1.5


def super_linear(
    parser: Parser, shapes: int, seed: int, *, real: Sequence[bytes] = (), size: int = 1 << 14
) -> list[Growth]:
    """Shapes whose cost grows faster than their size, found by repeating parts of examples.

    Args:
        parser: The parser.
        shapes: How many to try.
        seed: The same seed tries the same shapes.
        real: Examples from real files.
        size: Bytes of the smallest; the largest is four times as long.
    """
    random = Random(f"{parser.name} shapes {seed}")  # noqa: S311 - as above
    examples = [data for data in (*parser.seeds, *real) if data] or [b" "]
    found = []
    with hangs_end(parser):
        for _ in range(shapes):
            chunk, ends = _shape(parser, examples, random)
            if _cost(parser, grown(chunk, 4 * size, ends=ends), 1) < _LEAST_SECONDS:
                continue
            sizes = (size, 2 * size, 4 * size)
            seconds = tuple(_cost(parser, grown(chunk, each, ends=ends), 3) for each in sizes)
            if seconds[2] > _SUPER_LINEAR * max(seconds[0], 1e-4):
                found.append(Growth(chunk, ends, seconds))
    return found


def _shape(
    parser: Parser, examples: Sequence[bytes], random: Random
) -> tuple[bytes, tuple[bytes, bytes]]:
    example = random.choice(examples)[: parser.longest]
    start = random.randint(0, len(example) - 1)
    end = min(len(example), start + random.choice((1, 2, 4, 8, 16, 64)))
    chunk = example[start:end]
    if parser.tokens and random.random() < 0.5:
        chunk = b"".join(random.choices(parser.tokens, k=random.choice((1, 1, 2, 3))))
    ends = random.choice(((example[:start], example[end:]), (example[:start], b""), (b"", b"")))
    return chunk or b" ", ends


def _cost(parser: Parser, data: bytes, times: int) -> float:
    """Least CPU time of some attempts."""
    costs = []
    for _ in range(times):
        rewind(parser)
        started = time.process_time()
        attempt(parser, data)
        costs.append(time.process_time() - started)
    return min(costs)
