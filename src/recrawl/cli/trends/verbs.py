"""`recrawl trends`: verbs for rates that move.

Touches: nothing until a verb runs.
"""

from __future__ import annotations

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
from recrawl.cli.verbs import verb_group

_HELP = """Find trends in how often pages change; predict the next change.

FILE holds visits, as for estimate, or all changes of each page (page,
changed_at). No verb changes it.

\b
Examples:
    recrawl trends pages visits.csv
    recrawl trends windows changes.csv
"""

app = verb_group(
    "trends",
    _HELP,
    {
        "Each page": {
            "pages": pages,
            "windows": windows,
            "test": trend_test,
            "next": next_change,
            "counts": counts,
            "change-points": change_points,
            "power-law": power_law,
            "follow": follow,
        },
        "All pages together": {"rates": rates, "gaps": gaps, "season": season, "errors": errors},
    },
    file_verb="pages",
)
