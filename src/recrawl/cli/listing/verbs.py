"""`recrawl listing`: verbs for sites that list objects.

Touches: nothing until a verb runs.
"""

from __future__ import annotations

from recrawl.cli.listing.backtest import backtest
from recrawl.cli.listing.changes import changes
from recrawl.cli.listing.decay import decay
from recrawl.cli.listing.describe import describe
from recrawl.cli.listing.forecast import forecast
from recrawl.cli.listing.objects import objects
from recrawl.cli.listing.partition import partition
from recrawl.cli.listing.schedule import schedule
from recrawl.cli.listing.syncs import syncs
from recrawl.cli.verbs import verb_group

_HELP = """Analyse sites that list objects: decay of a copy, when to sync.

A source is a folder with objects (and events and crawls) as CSV, JSON lines or
Parquet, or with one file per snapshot of the list, its date in its name; or a
listing in the store of `recrawl crawl`.

\b
Examples:
    recrawl listing describe cars/
    recrawl listing forecast recrawl.db
"""

app = verb_group(
    "listing",
    _HELP,
    {
        "Study": {
            "describe": describe,
            "decay": decay,
            "forecast": forecast,
            "schedule": schedule,
            "partition": partition,
            "backtest": backtest,
        },
        "Look": {"syncs": syncs, "objects": objects, "changes": changes},
    },
    file_verb="describe",
)
