"""Wishes for freshness in words: met or missed, what they take and what they get.

Pure.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from recrawl.report.words import every, visits_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.inspect.status.values import Target

_SHOWN = 10


def target_sentences(targets: Sequence[Target]) -> list[str]:
    """A sentence a target; of very many, the first that are missed and how many others there are.

    >>> from recrawl.inspect.status.values import VisitCount, Target
    >>> lately = VisitCount(280.0, days=7.0)
    >>> wish = Target("https://a.org/", 0.95, 80, (0.97, 0.96, 0.98), lately, needed=31.0)
    >>> target_sentences([wish])
    ['met at https://a.org/: 97.0 % fresh (96.0 to 98.0 %) of 95 %; takes 31 visits a day, gets 40']
    """
    if len(targets) <= _SHOWN:
        return [_sentence(target) for target in targets]
    missed = [target for target in targets if not target.met and target.copies]
    shown = missed[:_SHOWN]
    met = sum(target.met for target in targets)
    return [
        *(_sentence(target) for target in shown),
        f"{met:,} of {len(targets):,} met, {len(missed):,} missed",
    ]


def _sentence(target: Target) -> str:
    if not target.copies:
        return f"{target.address}: no copies yet"
    share, low, high = (100 * part for part in target.fresh)
    verdict = "met" if target.met else "missed"
    if not target.sure:
        verdict = f"likely {verdict}"
    said = f"{verdict} at {target.address}: {share:.1f} % fresh ({low:.1f} to {high:.1f} %)"
    return f"{said} of {100 * target.wanted:g} %{_cost(target)}"


def _cost(target: Target) -> str:
    """What it takes, as far as that was worked out, and what it had."""
    lately, needed = target.lately, target.needed
    if isnan(lately.a_day):
        gets = f"had {visits_text(lately.visits)} visits in the last {every(lately.days)}"
    elif not isnan(needed):
        gets = f"gets {visits_text(lately.a_day)}"
    else:
        gets = f"gets {visits_text(lately.a_day)} visits a day"
    if not isnan(needed):
        return f"; takes {visits_text(needed)} visits a day, {gets}"
    if not isnan(target.most):
        return f"; out of reach: delays and bounds allow {100 * target.most:.1f} %; {gets}"
    return f"; {gets}"
