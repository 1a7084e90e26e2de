"""Draw the pictures of the pages on listings.

    python docs/pictures/listings.py [FOLDER]

`listings-describe.svg` shows arrivals and survival in a made-up car market, `listings-forecast.svg`
how a copy of it decays, `listings-schedule.svg` when to make it anew. The same numbers come out
every time.

Touches: `listings-*.svg` in FOLDER, or else beside this file.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from recrawl.adapters.pictures import write_picture
from recrawl.listings.data.attributes import Labels
from recrawl.listings.data.grid import DayGrid
from recrawl.listings.data.spells import Listing
from recrawl.listings.forecast.tracked import track_source
from recrawl.listings.schedule.plan import plan_to_keep
from recrawl.listings.schedule.schedule import Goal
from recrawl.report.listings.charts import describe_chart
from recrawl.report.listings.forecast_chart import forecast_chart
from recrawl.report.listings.schedule_chart import GroupSchedule, schedule_chart

DAYS = 160
MAKES = (("Opel", 8), ("BMW", 16), ("Tesla", 32))
SPAN = 21.0


def market() -> Listing:
    """Cars that come in bursts, with a bulk load, and vanish at a rate by their make."""
    random = np.random.default_rng(7)
    arrived = [0] * 90
    for day in range(1, DAYS + 1):
        weekend = day % 7 > 4  # noqa: PLR2004 - Saturday and Sunday
        arrived += [day] * int(random.negative_binomial(4, 4 / (4 + (3 if weekend else 12))))
    arrived += [110] * 60
    lifetimes = [random.exponential(MAKES[number % 3][1]) for number in range(len(arrived))]
    spells = [
        (number, day, min(day + 1 + int(lifetime), DAYS + 1))
        for number, (day, lifetime) in enumerate(zip(arrived, lifetimes, strict=True))
    ]
    make = Labels.of([MAKES[number % 3][0] for number in range(len(arrived))])
    crawls = np.datetime64("2026-01-05", "us") + np.arange(DAYS + 1) * np.timedelta64(1, "D")
    keys = [str(number) for number in range(len(arrived))]
    return Listing.of(keys, crawls, spells, attributes={"make": make})


def main(folder: Path) -> None:
    """Draw all three."""
    listing = market()
    grid, name = DayGrid.of(listing), "a car market"
    chart = describe_chart(name, listing, grid, ["make"])
    write_picture(folder / "listings-describe.svg", chart)
    tracked = track_source(listing, grid)
    ahead = tracked.forecast(30)
    said = f"a copy of {ahead.stock:,.0f} cars"
    chart = forecast_chart(name, ahead, subtitle=said)
    write_picture(folder / "listings-forecast.svg", chart)
    goal = Goal(precision=0.7, recall=0.75, confidence=0.8, guarantee=True)
    plan = plan_to_keep(tracked.forecast, goal, [], SPAN)
    whole = GroupSchedule("", tracked.synced_at, plan, tracked.forecast)
    chart = schedule_chart(name, [whole], goal)
    write_picture(folder / "listings-schedule.svg", chart)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
