"""A forecaster that is shown the syncs of one source, one after the other.

It gets cycles and stocks from `Syncs` and nothing else: every crawled day of training, then each
sync on which the replay is advanced, and nothing between two of them. Schedules of a
live crawl, plans from files and backtests all learn in this way.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recrawl.listings.data.sync import Syncs

if TYPE_CHECKING:
    from recrawl.listings.data.attributes import ObjectGroups
    from recrawl.listings.data.cycles import Cycle
    from recrawl.listings.data.grid import DayGrid
    from recrawl.listings.forecast.forecast import Forecast
    from recrawl.listings.forecast.methods import Method

TRAIN_DAYS = 80


class SyncReplay:
    """A forecaster and what it has learnt of a source, sync by sync.

    Args:
        grid: The listing day by day.
        groups: Group of each object.
        method: The forecaster.
        train: Days of training.
    """

    def __init__(
        self, grid: DayGrid, groups: ObjectGroups, method: Method[Any], *, train: int
    ) -> None:
        self.grid, self.groups, self.method = grid, groups, method
        days = [day for day in grid.crawled.tolist() if day <= train]
        self._synced = Syncs(grid, groups)
        training = [cycle for day in days if (cycle := self._synced.next(day)) is not None]
        self._trained = method.start(training, len(groups))
        for rekey in getattr(self._trained, "rekeys", ()):
            self._synced.forget_ages(rekey.day)
        self.restart()

    def restart(self) -> None:
        """Go back to the end of training."""
        self.state, self.syncs = self._trained, self._synced.copy()

    def forecast(self, ahead: int) -> Forecast:
        """Look ahead from the last sync."""
        return self.method.forecast(self.state, self.syncs.stock, ahead)

    def advance(self, day: int) -> Cycle:
        """Sync, and learn from it."""
        cycle = self.syncs.next(day)
        assert cycle is not None  # noqa: S101 - training holds the first
        self.state = self.method.learn(self.state, cycle)
        if getattr(self.state, "rekeyed", False):
            self.syncs.forget_ages(day)
        return cycle
