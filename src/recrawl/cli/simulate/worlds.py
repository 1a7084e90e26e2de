"""Where `recrawl simulate` takes its world from: a store, two files, or a maker.

Touches: files.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from recrawl.simulate.world import World


@dataclass(frozen=True, slots=True)
class Made:
    """A made-up world: its kind, empty for none, and what it is like."""

    kind: str
    count: int
    lasting: str
    every: str
    spread: float


@dataclass(frozen=True, slots=True)
class Source:
    """Where the world comes from: a store, two files, or a maker."""

    store: Path | None
    pages: Path | None
    changes: Path | None
    made: Made
    ignore: str

    def check(self) -> None:
        """Refuse several and none."""
        files = [self.pages, self.changes]
        if sum([bool(self.made.kind), any(files), self.store is not None]) > 1:
            message = "only one of STORE, --world and --pages with --changes can be given"
            raise typer.BadParameter(message)
        if self.store is None and not self.made.kind and not all(files):
            message = "--pages and --changes are needed, or a STORE, or --world"
            raise typer.BadParameter(message)

    def read(self, seed: int) -> tuple[World, int]:
        """The world, and how many changes lay outside of the lives of their pages."""
        import numpy as np

        from recrawl.adapters.stores.world import world_of_store
        from recrawl.adapters.tables.worlds import read_world_and_count
        from recrawl.simulate.made import log_normal_rates, make_world
        from recrawl.units import days

        if self.pages is not None and self.changes is not None:
            kinds = [kind.strip() for kind in self.ignore.split(",") if kind.strip()]
            return read_world_and_count(self.pages, self.changes, ignore=kinds)
        random, made = np.random.default_rng([seed, 1]), self.made  # not what breaks ties
        if self.store is not None:
            return world_of_store(self.store, random), 0
        rates = log_normal_rates(
            made.count, every=days(made.every), spread=made.spread, random=random
        )
        return make_world(made.kind, rates, days=days(made.lasting), random=random), 0
