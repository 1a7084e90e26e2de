"""What a soak does and when: the faults of a run, drawn from its seed before it begins.

    half of the time      faults on the wire only: one process, whose memory must stay flat
    then, to 9 tenths     kills and other ends of the process as well
    the last tenth        no faults: the crawl recovers

Instants are seconds after the beginning of the soak, on the clock that never goes back. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

WIRE = (
    "resets",
    "kept",
    "slow",
    "truncated",
    "storms",
    "busy",
    "hangs",
    "loops",
    "robots",
    "bombs",
    "dns",
)
PROCESS = ("kills", "terms", "stops", "clock", "disk")
FAULTS = (*WIRE, *PROCESS)
# Kills are the most frequent. (What would be reset on a new connection may be so on a kept one.)
_ROUND = ("kills", "disk", "clock", "stops", "kills", "terms", "kills")
_STEPS = (30.0, -30.0, 600.0, -600.0, 86_400.0, -86_400.0)  # seconds of the crawl's clock
_STEADY, _CALM = 0.5, 0.9  # shares of the soak
_SECONDS_A_DAY = 60.0


@dataclass(frozen=True, slots=True)
class Episode:
    """A fault from one instant to another: of a host on the wire, or of the process."""

    kind: str
    start: float
    end: float
    host: str = ""
    step: float = 0.0  # seconds by which the clock is wrong from then on

    @property
    def is_dns(self) -> bool:
        """Whether the host's name does not resolve: no matter of the site."""
        return self.kind == "dns"


@dataclass(frozen=True, slots=True)
class Plan:
    """One soak.

    Attributes:
        seconds: How long it lasts.
        seed: Seed of everything that is left to chance.
        faults: Kinds of faults.
        wire: Faults of hosts.
        process: Faults of the crawl's process, in order.
        delay_seconds: Least time between two requests to a host.
        seconds_a_day: In which a day passes for the crawl.
        visits_a_second: Its budget.
    """

    seconds: float
    seed: int
    faults: frozenset[str]
    wire: tuple[Episode, ...]
    process: tuple[Episode, ...]
    delay_seconds: float = 0.4
    seconds_a_day: float = _SECONDS_A_DAY
    visits_a_second: float = 25.0

    @property
    def steady(self) -> float:
        """When the steady stretch ends."""
        return _STEADY * self.seconds


def make_plan(seconds: float, seed: int, faults: frozenset[str], hosts: list[str]) -> Plan:
    chance = Random(seed)  # noqa: S311 - instants, no secrets
    wire = tuple(
        sorted(
            (each for host in hosts for each in _of_host(host, seconds, faults, chance)),
            key=lambda each: each.start,
        )
    )
    process = tuple(_of_process(seconds, faults, chance))
    day = min(_SECONDS_A_DAY, seconds / 5)
    return Plan(seconds, seed, faults, wire, process, seconds_a_day=day)


def _of_host(
    host: str, seconds: float, faults: frozenset[str], chance: Random
) -> Iterator[Episode]:
    """Faults of a host, with quiet times between them."""
    kinds = [kind for kind in WIRE if kind in faults and kind != "kept"]
    longest = min(30.0, seconds / 8)
    at = chance.uniform(0.0, 3 * longest)
    while kinds and at < _CALM * seconds:
        end = at + chance.uniform(longest / 5, longest)
        yield Episode(chance.choice(kinds), at, min(end, _CALM * seconds), host)
        at = end + chance.expovariate(1 / longest)


def _of_process(seconds: float, faults: frozenset[str], chance: Random) -> Iterator[Episode]:
    kinds = cycle([kind for kind in _ROUND if kind in faults])
    between = min(12.0, seconds / 14)
    at = _STEADY * seconds + between
    wrong = False
    for kind in kinds:
        if at >= _CALM * seconds:
            break
        lasts = chance.uniform(between / 6, between / 2)
        # A clock that was set wrong is set right at the next step.
        step = 0.0 if wrong or kind != "clock" else chance.choice(_STEPS)
        wrong = bool(step) if kind == "clock" else wrong
        yield Episode(kind, at, at + lasts, step=step)
        at += lasts + between * chance.uniform(0.5, 1.5)
    if wrong:
        yield Episode("clock", _CALM * seconds, _CALM * seconds)
