"""Scripts played by somebody else's crawler: a scheduler over a store says what is due.

It asks at every instant, and takes a page for visited when its visit has ended.

Touches: a store in a folder, the modules that are checked.
"""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Any

from recrawl.plan.budget import Budget
from recrawl.settings.rules import Rule
from recrawl.settings.settings import Settings
from recrawl.units import SECONDS_A_DAY
from tests.politeness.code import module
from tests.politeness.model import Impolite, Model
from tests.politeness.script import Answer
from tests.politeness.virtual_loop import run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.politeness.script import DueScript
    from tests.politeness.virtual_loop import VirtualLoop

_GLANCE = 0.1  # seconds between two questions


class Dues:
    """What came of a script.

    Attributes:
        impolite: The first page that was due too early.
        sent: When pages were due, and their addresses.
    """

    def __init__(self) -> None:
        self.impolite: Impolite | None = None
        self.sent: list[tuple[float, str]] = []


def play_dues(script: DueScript, folder: Path) -> Dues:
    """Play a script to its end, or to the first page that is due too early."""
    return run(partial(_play, script, folder))


async def _play(script: DueScript, folder: Path, loop: VirtualLoop) -> Dues:
    settings = Settings(
        "test (me@example.org)",
        Budget(1e6),
        delay=script.delay / SECONDS_A_DAY,
        together=script.together,
        rules=(Rule("http://a.org/", interval=1 / SECONDS_A_DAY),),
    )
    clock = module("recrawl.clock").RealClock(loop.wall, loop.time)
    scheduler = module("recrawl.scheduler.scheduler").Scheduler
    model = Model(script.delay, script.together, frozenset({"a.org"}), robots=False)
    visits, dues = cycle(script.visits), Dues()
    while loop.now < script.seconds and not dues.impolite:
        model.restart(loop.now, lost=loop.now, step=0.0)
        until = min(loop.now + script.every, script.seconds)
        with scheduler.open(folder / "pages.db", settings=settings, clock=clock) as opened:
            opened.add(f"http://a.org/{number}" for number in range(script.pages))
            try:
                await _visit_due(opened, model, visits, until, dues)
            except Impolite as impolite:
                dues.impolite = impolite
    return dues


async def _visit_due(
    scheduler: Any, model: Model, visits: Iterator[float], until: float, dues: Dues
) -> None:
    loop = asyncio.get_running_loop()
    under_way: list[tuple[float, Any]] = []
    while loop.time() < until:
        now = loop.time()
        for end, page in [each for each in under_way if each[0] <= now]:
            under_way.remove((end, page))
            model.ended(page.address, Answer(), now)
            scheduler.seen(page, changed=False)
        for page in scheduler.due(3):
            dues.sent.append((now, page.address))
            model.sent(page.address, now)
            under_way.append((now + next(visits), page))
        await asyncio.sleep(_GLANCE)
    for _, page in under_way:
        model.ended(page.address, None, loop.time())
        scheduler.release(page)
