"""`recrawl listing`: verbs for sites that list objects.

Touches: nothing until a verb runs.
"""

from __future__ import annotations

import typer

from recrawl.cli.listing.backtest import backtest
from recrawl.cli.listing.changes import changes
from recrawl.cli.listing.decay import decay
from recrawl.cli.listing.describe import describe
from recrawl.cli.listing.forecast import forecast
from recrawl.cli.listing.objects import objects
from recrawl.cli.listing.partition import partition
from recrawl.cli.listing.schedule import schedule
from recrawl.cli.listing.syncs import syncs

_HELP = """Analyse sites that list objects: how a copy decays, and when to sync it.

A source is a folder with objects (and events and crawls) as CSV, JSON lines or
Parquet, or with one file per snapshot of the list, its date in its name; or a
listing in the store of `recrawl crawl`.

\b
Examples:
    recrawl listing describe cars/
    recrawl listing forecast recrawl.db
"""

app = typer.Typer(name="listing", help=_HELP, rich_markup_mode=None, no_args_is_help=True)
app.command()(describe)
app.command()(decay)
app.command()(forecast)
app.command()(schedule)
app.command()(partition)
app.command()(backtest)
app.command()(syncs)
app.command()(objects)
app.command()(changes)
