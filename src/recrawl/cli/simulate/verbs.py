"""`recrawl simulate`: policies in a world whose changes are known, one verb per kind of world.

Touches: nothing until a verb runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recrawl.adapters.tables.table_options import TableOptions
from recrawl.cli import shared
from recrawl.cli.simulate.intervals import intervals
from recrawl.cli.simulate.options import RunOptions, with_run_options
from recrawl.cli.verbs import verb_group
from recrawl.errors import InvalidParameter
from recrawl.store.places import place_of

_PAGES = typer.Argument(
    metavar="PAGES",
    help="Pages (page, first_seen[, url, removed_at, weight]): CSV, JSON, Parquet or Arrow.",
    show_default=False,
)
_CHANGES = typer.Argument(
    metavar="CHANGES",
    help="All their changes (page, changed_at[, bulk, revert]).",
    show_default=False,
)
_STORE = typer.Argument(
    metavar="STORE", help="Store of a crawl.", show_default=False, parser=place_of
)
_KIND = typer.Argument(
    metavar="KIND",
    help="poisson, renewal, weibull, weekly, bursty, sections or turnover.",
    show_default=False,
)
_NUMBER = typer.Option(metavar="N", help="Number of pages.", min=1)
_FOR = typer.Option("--for", metavar="TIME", help="Duration of the world.")
_EVERY = typer.Option(metavar="TIME", help="Median interval between changes of a page.")
_SPREAD = typer.Option(
    metavar="NUMBER", help="Spread of rates: standard deviation of log(rate).", min=0.0
)
_IGNORE = typer.Option(
    metavar="KINDS",
    help="Changes to leave out: bulk, revert or both, comma-separated.",
    show_default=False,
)
_REVERTS = typer.Option(
    "--reverts",
    help="Changes marked as revert lead back: a copy is fresh again if its page returns to it.",
)

_HELP = """Compare revisit policies on pages whose changes are known.

Replays a history of changes, the visits of a crawl, or a synthetic world. A
page is known and fresh from its first_seen and gone from its removed_at.
Writes one row per policy: the share of time in which copies are fresh and
stale, with a band, their age, the visits and how many of them found a change.
optimal-known is the optimum for pages that change independently at constant
rates, which it knows; clairvoyant knows every change. Policies take parameters:
nutch:more=0.2:longest=90d. `intervals` is another question: how well a policy
estimates change intervals. No file is changed.

\b
Examples:
    recrawl simulate history pages.csv changes.csv
    recrawl simulate world sections
"""


@shared.with_options(shared.table_options, "read_as")
@with_run_options
def history(
    pages: Annotated[Path, _PAGES],
    changes: Annotated[Path, _CHANGES],
    *,
    ignore: Annotated[str, _IGNORE] = "",
    reverts: Annotated[bool, _REVERTS] = False,
    read_as: TableOptions,
    asked: RunOptions,
) -> None:
    """Compare revisit policies on a history of changes.

    PAGES has one row per page, CHANGES one row per change, in any order: CSV,
    JSON, Parquet or Arrow, packed or not; each a file, a folder of files, a quoted
    pattern such as 'changes/*.csv.gz', or - for the standard input. Changes
    outside of the life of their page are left out; the last one before a page is
    found says how old the page is then. With --reverts a change with the mark revert
    swaps the page's version with the one before, so that pages go to and fro.

    \b
    Examples:
        recrawl simulate history pages.csv changes.csv --budget 5000/1d
        recrawl simulate history pages.csv changes.csv --ignore bulk --json
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.adapters.tables.inputs import open_table
    from recrawl.adapters.tables.worlds import read_world_and_count
    from recrawl.cli.simulate.runs import compare_policies

    if pages == changes == Path("-"):
        raise InvalidParameter("only one of PAGES and CHANGES can be -, the standard input")
    kinds = [kind.strip() for kind in ignore.split(",") if kind.strip()]
    with open_table([pages], read_as) as known, open_table([changes], read_as) as happened:
        world, left_out = read_world_and_count(known, happened, ignore=kinds, reverts=reverts)
    compare_policies(world, asked, left_out=left_out)
    shared.read_remarks(known)


@with_run_options
def store(path: Annotated[Path, _STORE], *, asked: RunOptions) -> None:
    """Compare revisit policies on what a crawl has found.

    Each change that a visit of STORE found happens once: at its date where the
    host told it, else at random between the two visits. Without --budget the
    policies have the crawl's own.

    \b
    Examples:
        recrawl simulate store recrawl.db --policy all
        recrawl simulate store recrawl.db --policy recrawl,nutch --budget 100/1d
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.adapters.stores.world import world_of_store
    from recrawl.analysis.simulation_terms import world_stream
    from recrawl.cli.simulate.runs import compare_policies

    compare_policies(world_of_store(path, world_stream(asked.question.seed)), asked, store=path)


@with_run_options
def world(
    kind: Annotated[str, _KIND],
    *,
    pages: Annotated[int, _NUMBER] = 1000,
    lasting: Annotated[str, _FOR] = "365d",
    every: Annotated[str, _EVERY] = "30d",
    spread: Annotated[float, _SPREAD] = 1.5,
    asked: RunOptions,
) -> None:
    """Compare revisit policies in a synthetic world.

    Pages change at any time alike (poisson), with gamma or Weibull gaps (renewal,
    weibull), in working hours (weekly), again soon after a change (bursty),
    together with their folder (sections), or are born and removed (turnover).

    \b
    Examples:
        recrawl simulate world sections --budget 4/change --plot budget.svg
        recrawl simulate world weekly --policy uniform,nutch --json
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.analysis.simulate import MadeWorld
    from recrawl.cli.simulate.runs import compare_policies
    from recrawl.units import days

    made = MadeWorld(kind, pages, days(lasting), days(every), spread)
    compare_policies(made.make(asked.question.seed), asked)


app = verb_group(
    "simulate",
    _HELP,
    {
        "Policies": {"history": history, "store": store, "world": world},
        "Estimates of a policy": {"intervals": intervals},
    },
    file_verb="history",
)
