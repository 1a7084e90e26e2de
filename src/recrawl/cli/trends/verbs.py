"""`recrawl trends`: verbs for rates that move.

Touches: nothing until a verb runs.
"""

from __future__ import annotations

import typer

from recrawl.cli.trends.change_points import change_points
from recrawl.cli.trends.counts import counts
from recrawl.cli.trends.errors import errors
from recrawl.cli.trends.follow import follow
from recrawl.cli.trends.gaps import gaps
from recrawl.cli.trends.next_change import next_change
from recrawl.cli.trends.pages import pages
from recrawl.cli.trends.power_law import power_law
from recrawl.cli.trends.rates import rates
from recrawl.cli.trends.season import season
from recrawl.cli.trends.trend_test import trend_test
from recrawl.cli.trends.windows import windows

_HELP = """Find trends in the change rate of each page, and predict the next change.

FILE holds visits, as for estimate, or all changes of each page (page,
changed_at). No verb changes it.

\b
Examples:
    recrawl trends pages visits.csv
    recrawl trends windows changes.csv
"""

app = typer.Typer(name="trends", help=_HELP, rich_markup_mode=None, no_args_is_help=True)
app.command()(pages)
app.command()(windows)
app.command("test")(trend_test)
app.command("next")(next_change)
app.command()(counts)
app.command()(rates)
app.command()(change_points)
app.command()(power_law)
app.command()(gaps)
app.command()(errors)
app.command()(follow)
app.command()(season)
