"""`recrawl demo`: rates worked out from a made visit log, beside the truth.

Touches: files, the standard output.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from recrawl.rates.estimates import Estimates
    from recrawl.visits.visit import Visit

_SEED = typer.Option(help="Another number makes another world.", min=0)
_KEEP = typer.Option(
    "--keep", metavar="F", help="Also write the made visits to F (CSV).", show_default=False
)


def demo(*, seed: Annotated[int, _SEED] = 3, keep: Annotated[Path | None, _KEEP] = None) -> None:
    """Make a visit log with known change rates, estimate it, show both.

    Sixteen pages of two sites change at rates from twenty a day to one in three
    months. They are visited about once a day for a month. A visit shows whether
    a page has changed, never how often; a third of the pages also say when.

    \b
    Examples:
        recrawl demo
        recrawl demo --seed 7 --keep visits.csv
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from datetime import UTC, datetime

    import numpy as np

    from recrawl.cli import screen
    from recrawl.parse.sites import sites_of
    from recrawl.rates.gamma import Gamma
    from recrawl.rates.priors import fit_prior
    from recrawl.simulate.visit_log import visit_log
    from recrawl.visits.vetting import histories_of

    rates = _world()
    start = datetime(2026, 1, 1, tzinfo=UTC)
    random = np.random.default_rng(seed)
    visits = list(visit_log(rates, start=start, days=30, gap=1, dated=1 / 3, random=random))
    if keep is not None:
        _write(keep, visits)
    names, histories = histories_of(visits)
    sites, _ = sites_of(names)
    estimates = Gamma(fit_prior(histories, sites)).estimate(histories)
    truth = np.array([rates[name] for name in names])
    screen.show_table(
        ("page", "visits", "changed", "truly every", "estimate", "90 % band", ""),
        _rows(names, estimates, truth),
        left=(0, 6),
    )
    held = int(((estimates.low <= truth) & (truth <= estimates.high)).sum())
    screen.remark(
        f"{len(visits)} visits to {len(names)} pages; the band holds the truth for {held} of them."
    )


def _world() -> dict[str, float]:
    """Rates of a busy site and of a quiet one."""
    busy = [20.0, 8.0, 5.0, 3.0, 2.0, 1.5, 1.0, 0.5]
    quiet = [0.7, 0.3, 0.15, 0.1, 0.07, 0.03, 0.02, 0.01]
    pages = {f"https://news.example.com/{number}": rate for number, rate in enumerate(busy, 1)}
    return pages | {
        f"https://docs.example.org/{number}": rate for number, rate in enumerate(quiet, 1)
    }


def _rows(names: list[str], estimates: Estimates, truth: object) -> list[list[str]]:
    from recrawl.report.words import every

    rows = []
    for row, name in enumerate(names):
        true = 1 / float(truth[row])  # type: ignore[index] # an array
        low, high = 1 / estimates.high[row], 1 / estimates.low[row]
        rows.append(
            [
                name,
                str(estimates.visits[row]),
                str(estimates.changes[row]),
                every(true),
                every(estimates.mean_interval[row]),
                f"{every(low)} - {every(high)}",
                "" if low <= true <= high else "missed",
            ]
        )
    return rows


def _write(path: Path, visits: list[Visit]) -> None:
    """Write visits as CSV."""
    import csv
    import io

    from recrawl.adapters.outputs import whole_file

    words = {True: "true", False: "false", None: ""}
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["page", "visited_at", "changed", "last_modified"])
    for visit in visits:
        date = "" if visit.last_modified is None else visit.last_modified.isoformat()
        rows.writerow([visit.page, visit.at.isoformat(), words[visit.changed], date])
    with whole_file(path) as raw:
        raw.write(text.getvalue().encode())
