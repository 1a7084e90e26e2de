"""What misled a crawl of the demonstration's site, in words.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass

from recrawl.report.words import percent

CAUGHT_HEADER = ("what the site does", "how often", "what came of it")
CAUGHT_LEFT = (0, 2)


@dataclass(frozen=True, slots=True)
class Board:
    """How well the copy of a job board was kept.

    Args:
        target: Share of the jobs that was to be in the copy.
        syncs: How often it was copied.
        mean: Share of the jobs that was in the copy, over time.
        kept: Share of the time in which it was no less than was wanted.
        held: Bands of forecasts that held what was found.
        foretold: How many forecasts there were.
    """

    target: float
    syncs: int
    mean: float
    kept: float
    held: int
    foretold: int


@dataclass(frozen=True, slots=True)
class Caught:
    """What misled a crawl, and what did not.

    Args:
        noisy: Visits to pages that differ by themselves.
        noisy_false: How many of them reported a change that was none.
        other_false: Visits to other pages that did.
        found_though_denied: Changes that were found on a host that denies them.
        denied: Ends of the band of the share of changes that this host is believed to deny.
        announced: Dates of sitemaps that were right, and that were wrong, by host.
        walled: Answers that were a wall.
        taken_for_walls: Visits that took their answer for one.
        second_requests: Visits that fetched their page twice.
        board: The copy of the job board.
    """

    noisy: int
    noisy_false: int
    other_false: int
    found_though_denied: int
    denied: tuple[float, float]
    announced: tuple[tuple[float, float], ...]
    walled: int
    taken_for_walls: int
    second_requests: int
    board: Board

    def rows(self) -> list[list[str]]:
        """A row for each thing that the site does."""
        low, high = self.denied
        (right, wrong), (other_right, other_wrong) = self.announced
        board = self.board
        return [
            [
                "clocks, offers, counters",
                f"{self.noisy:,} visits",
                f"{self.noisy_false:,} taken for a change",
            ],
            [
                "denies its changes",
                f"{percent(low)} to {percent(high)}",
                f"{self.found_though_denied:,} changes found all the same",
            ],
            [
                "dates in a sitemap",
                f"{right + wrong:,.0f} pages",
                f"{right:,.0f} had changed: believed",
            ],
            [
                "dates of the build",
                f"{other_right + other_wrong:,.0f} pages",
                f"{other_right:,.0f} had changed: not believed",
            ],
            [
                "a wall for two days",
                f"{self.walled:,} answers",
                f"{self.taken_for_walls:,} visits put off, none a change",
            ],
            [
                "a job board",
                f"{board.syncs:,} copies",
                f"{percent(board.mean)} of its jobs in the copy, wanted {percent(board.target)}",
            ],
        ]

    def sentences(self) -> list[str]:
        """The rest in words."""
        board = self.board
        held = f"{board.held:,} of {board.foretold:,} forecasts held what was found"
        elsewhere = f"{self.other_false:,} changes elsewhere were none"
        return [
            f"{self.second_requests:,} visits fetched their page twice to find out; {elsewhere}.",
            f"The job board's copy was good enough {percent(board.kept)} of the time; {held}.",
        ]
