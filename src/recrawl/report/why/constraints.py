"""The binding constraint on a page's next visit, in a sentence with its figures.

Pure.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from recrawl.report.words import every, percent
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import Refusal

if TYPE_CHECKING:
    from recrawl.inspect.why.values import Why

_NEAR = 0.5  # of the time until the visit


def because(why: Why) -> str:
    """What determines the time of the next visit."""
    return _SENTENCES[why.constraint](why, dict(why.figures))


def _no_rule(why: Why, figures: dict[str, Any]) -> str:
    del why, figures
    return "no rule: no block of the settings covers it, so it is not visited"


def _filtered(why: Why, figures: dict[str, Any]) -> str:
    del why
    detail = figures["detail"]
    match figures["refusal"]:
        case Refusal.EXCLUDED.label:
            return f'left out: exclude = "{detail}" matches it'
        case Refusal.NOT_INCLUDED.label:
            return "left out: no pattern of include matches it"
        case Refusal.PARAMETER.label:
            return f"left out: it is the page {figures['known_as']}; {detail} is dropped"
        case Refusal.REPEATED.label:
            return f"left out: {detail} repeats in it, as in addresses without end (traps = true)"
    pages, barren = figures["pages"], figures["barren"]
    said = (
        f"left out: of {pages} pages like {detail}, {barren} brought nothing new, so links to more"
    )
    return f"{said} are not followed (traps = true); {figures['addresses']:,} left out so far"


def _removed(why: Why, figures: dict[str, Any]) -> str:
    ago = every(max(why.at - figures["removed_at"], 0.0))
    return (
        f"{why.status} {ago} ago by `recrawl remove`, so it is neither visited nor added again; "
        f"`recrawl add --again {why.page}` brings it back"
    )


def _robots(why: Why, figures: dict[str, Any]) -> str:
    said = f"robots.txt of {figures['host']} forbids it"
    if "robots_read_at" in figures:
        said += f", read {every(max(why.at - figures['robots_read_at'], 0.0))} ago"
    if figures["times_in_a_row"]:
        said += f"; refused {_times(figures)}"
    return said + "; the page is visited once robots.txt allows it"


def _recheck(why: Why, figures: dict[str, Any]) -> str:
    found = {"moved": "moved elsewhere", "duplicate": "a copy of another page"}
    where = found.get(why.status, "gone")
    if why.moved_to:
        where = f"moved to {why.moved_to}"
    if "original" in figures:
        by = {"canonical": ", by rel=canonical", "content": ", by its content"}[figures["sign"]]
        where = f"a copy of {figures['original']}{by}"
    said = f"recheck: found {where} {_times(figures)}"
    return f"{said}; rechecks become rarer"


def _retry(why: Why, figures: dict[str, Any]) -> str:
    times, met = figures["times_in_a_row"], why.evidence.failure
    last = "visit" if times == 1 else f"{times:,} visits"
    return f"retry: the last {last} failed{f', {met}' if met else ''}; retries back off"


def _interval(why: Why, figures: dict[str, Any]) -> str:
    ago = every(max(why.at - figures["last_visit_at"], 0.0))
    return f"interval = {every(figures['interval_days'])}, a fixed interval; last visit {ago} ago"


def _maximum(why: Why, figures: dict[str, Any]) -> str:
    ago = every(max(why.at - figures["last_visit_at"], 0.0))
    said = f"maximum = {every(figures['maximum_days'])}; last visit {ago} ago"
    return f"{said}. By {_alone(why)}, the visit would be later."


def _minimum(why: Why, figures: dict[str, Any]) -> str:
    ago = every(max(why.at - figures["last_visit_at"], 0.0))
    ends = every(max(figures["ends_at"] - why.at, 0.0))
    said = (
        f"minimum = {every(figures['minimum_days'])}; last visit {ago} ago, none for another {ends}"
    )
    return f"{said}. By {_alone(why)}, the visit would be sooner."


def _hours(why: Why, figures: dict[str, Any]) -> str:
    del why
    hours = f"{figures['first_hour']}-{figures['end_hour']}"
    return f"hours = {hours} (UTC): without this limit the visit would be sooner"


def _host(why: Why, figures: dict[str, Any]) -> str:
    host, until = figures["host"], figures["left_alone_until_at"]
    # After a slow response, twice its duration is waited before the next request.
    between = max(figures["delay_seconds"], 2 * figures["answer_seconds"])
    between += figures["answer_seconds"]
    said = f"its host: {host} gets at most one request per {every(between / SECONDS_A_DAY)}"
    if until - why.at >= (why.next_visit - why.at) / 2:
        said = f"its host: no requests to {host} for another {every(until - why.at)}"
    return f"{said}; {_visits(figures)} first among its {figures['pages_of_host']:,} pages"


def _new(why: Why, figures: dict[str, Any]) -> str:
    del why
    said = f"new page: {figures['new_pages']:,} pages have no copy yet"
    budget = f"{_few(figures['budget_per_day'])} visits per day"
    return f"{said}; {_visits(figures)} first, at {budget}"


def _pace(why: Why, figures: dict[str, Any]) -> str:
    more = "no other visit is worth more" if why.valued else "no other page is due before it"
    said = f"its turn: {more}"
    between = every(figures["between_visits_days"])
    return f"{said}; {_few(figures['budget_per_day'])} visits per day are one every {between}"


def _budget(why: Why, figures: dict[str, Any]) -> str:
    visits, pages = _few(figures["budget_per_day"]), figures["pages"]
    go = "go where they are worth more" if why.valued else "go to pages that are due before it"
    said = f"the budget: {visits} visits per day for {pages:,} pages {go}"
    if "share_of_price" not in figures:
        return said
    share = percent(figures["share_of_price"])
    said += f". A visit now is worth {share} of the current price"
    if figures["share_of_price"] >= 1:
        return f"{said}, but others are worth more."
    ahead, waits = figures["reaches_price_at"] - why.at, why.next_visit - why.at
    # Elsewhere the price is about to move, and says little of when.
    near = waits < inf and abs(ahead - waits) <= _NEAR * waits
    return f"{said}; it reaches that in {every(ahead)}." if near else f"{said}."


def _alone(why: Why) -> str:
    return "its value alone" if why.valued else "the policy alone"


def _times(figures: dict[str, Any]) -> str:
    times = figures["times_in_a_row"]
    return "once" if times == 1 else f"{times} times in a row"


def _visits(figures: dict[str, Any]) -> str:
    count = figures["visits_before"]
    return "1 visit comes" if count == 1 else f"{count:,} visits come"


def _few(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 10 or figure == round(figure) else f"{figure:.2g}"  # noqa: PLR2004 - two figures


_SENTENCES = {
    "no_rule": _no_rule,
    "filtered": _filtered,
    "removed": _removed,
    "robots": _robots,
    "recheck": _recheck,
    "retry": _retry,
    "interval": _interval,
    "maximum": _maximum,
    "minimum": _minimum,
    "hours": _hours,
    "host": _host,
    "new": _new,
    "pace": _pace,
    "budget": _budget,
}
