"""Runs as a table: what `recrawl simulate` writes, one row per policy.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.report.words import every, percent, tenths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.report.rates import Column
    from recrawl.simulate.bands import Band
    from recrawl.simulate.scores import SimulationRun


HEADER = ("policy", "fresh", "stale", "age", "harmonic", "visits", "found", "unvisited", "took")
SPARE = (8, 7, 6)  # of these columns, the ones that a narrow terminal leaves out first


@dataclass(frozen=True, slots=True, eq=False)
class SimulationEntry:
    """One policy's run.

    Args:
        policy: Its name.
        run: What it made of the world.
        band: Its staleness, with a band.
        seconds: How long the run took.
    """

    policy: str
    run: SimulationRun
    band: Band
    seconds: float


def simulation_columns(entries: Sequence[SimulationEntry]) -> dict[str, Column]:
    """All columns but the policy's name."""
    figures = [
        {
            "freshness": entry.run.freshness,
            "staleness": entry.run.staleness,
            "staleness_low": entry.band.low,
            "staleness_high": entry.band.high,
            "age_days": entry.run.age,
            "harmonic": entry.run.harmonic,
            "found": entry.run.found,
            "changes": entry.run.changes,
            "visits": entry.run.visits,
            "premature": entry.run.premature,
            "precision": entry.run.precision,
            "never_visited": entry.run.never_visited,
            "seconds": round(entry.seconds, 3),
        }
        for entry in entries
    ]
    return {name: np.array([row[name] for row in figures]) for name in figures[0]}


def simulation_words(entries: Sequence[SimulationEntry]) -> list[list[str]]:
    """Rows for people."""
    return [
        [
            entry.policy,
            tenths(entry.run.freshness),
            _banded(entry.band),
            every(entry.run.age),
            "-" if np.isnan(entry.run.harmonic) else f"{entry.run.harmonic:.4f}",
            f"{entry.run.visits:,}",
            f"{entry.run.found:,} ({percent(entry.run.precision)})",
            f"{entry.run.never_visited:,}",
            f"{entry.seconds:.1f}s",
        ]
        for entry in entries
    ]


def _banded(band: Band) -> str:
    if np.isnan(band.low):
        return "-" if np.isnan(band.figure) else f"{100 * band.figure:.2f} %"
    return f"{100 * band.figure:.2f} ({100 * band.low:.2f}-{100 * band.high:.2f}) %"
