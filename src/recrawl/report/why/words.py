"""Reasons for a page's next visit in sentences: one subject and short paragraph per row.

Pure.
"""

from __future__ import annotations

from math import inf, isfinite, isnan
from textwrap import wrap
from typing import TYPE_CHECKING

from recrawl.inspect.pages import SHELL, STATUS_LABELS
from recrawl.report.why.constraints import because
from recrawl.report.words import counted, every, minute, percent
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from recrawl.inspect.why.values import Activity, Estimate, Evidence, Honesty, WhatIf, Why, Worth

_AT_ONCE = 2 / SECONDS_A_DAY  # days: sooner than anybody reads
_NO_DIFFERENCE = 0.02  # of a value
_AS_USUAL = 0.05  # of a pace or a correction
_NO_EVIDENCE = 0.005  # a share that is shown as 0 %
_NARROWEST = 40  # letters of a paragraph, however narrow the screen
_OTHERWISE = {
    "budget": "with budget = {to} instead of {was}",
    "weight": "with weight = {to} instead of {was}",
    "minimum": "with minimum = {to} instead of {was}",
    "maximum": "with maximum = {to} instead of {was}",
    "interval": "with interval = {to} instead of {was}",
    "hours": "at any hour instead of {was}",
    "host": "if its host were always free",
    "answer": "if the last visit had found no change",
    "neighbour": "if another page of its section were found changed now",
    "block": "with a block {to}",
}


# What was checked about a host's signals, and with what result.
_HEARD = {
    "not_modified": "changes denied",
    "etag": "ETags changed without a change of the page",
    "modified": "dates wrong",
    "sitemap": "sitemap dates wrong",
    "feed": "feed dates wrong",
    "noise": "pages differed when fetched twice",
    "hint": "hints wrong",
}
_SHELL = "empty without JavaScript, which is not run: there is little to compare"


def why_rows(why: Why) -> list[tuple[str, str]]:
    """Subject and sentence of each row."""
    rows = [
        ("next", _next(why)),
        ("because", because(why)),
        ("evidence", _evidence(why.evidence, why.at)),
        *([("listing", f"detail page of an object of {why.listing}")] if why.listing else []),
        *([("weight", _weight(why))] if _has_weight(why) else []),
        *([("shell", _SHELL)] if why.status == STATUS_LABELS[SHELL] else []),
    ]
    if why.estimate:
        rows.append(("estimate", _estimate(why.estimate)))
    if why.section:
        rows.append(("section", _section(why.section)))
    if why.signals:
        rows.append(("signals", _signals(why)))
    if why.honesty:
        rows.append(("host", "; ".join(map(_honesty, why.honesty))))
    if why.worth and why.worth.price > 0:
        rows.append(("value", _worth(why.worth, why.at)))
    rows += [("if", _what_if(each, why)) for each in why.what_ifs if each.moves]
    still = [each for each in why.what_ifs if not each.moves]
    if still:
        rows.append(("if", "unchanged " + ", or ".join(map(_otherwise, still))))
    if why.robots_tags:
        rows.append(("asks", _asks(why.robots_tags)))
    if not why.valued:
        lacks = "which estimates neither change rates nor values of visits"
        rows.append(("policy", f"{why.policy}, {lacks}; other visits are assumed not to affect it"))
    if why.simulated < why.pages:
        rows.append(("from", f"a random sample of {why.simulated:,} of {why.pages:,} pages"))
    return rows


def why_lines(why: Why, width: int) -> list[str]:
    """The rows as wrapped lines; a repeated subject is left out."""
    rows = why_rows(why)
    edge = max(len(subject) for subject, _ in rows) + 2
    lines, before = [], ""
    for subject, sentence in rows:
        wrapped = wrap(
            sentence,
            max(width - edge, _NARROWEST),
            break_long_words=False,
            break_on_hyphens=False,
        )
        heads = [subject if subject != before else "", *[""] * len(wrapped)]
        lines += [f"{head:{edge}}{line}" for head, line in zip(heads, wrapped, strict=False)]
        before = subject
    return lines


def _has_weight(why: Why) -> bool:
    """Whether the page weighs something else than any page does."""
    return bool(why.weights) or not (isnan(why.weight) or why.weight == 1)


def _weight(why: Why) -> str:
    """How much a fresh copy of the page matters, and who says so."""
    of_file = f"its weight in {why.weights} times " if why.weights else ""
    return f"{why.weight:g}: {of_file}the weight of its block"


def _next(why: Why) -> str:
    if why.next_visit == inf:
        return "not scheduled"
    ahead = why.next_visit - why.at
    if ahead <= _AT_ONCE:
        return "now, if the crawl is running"
    said = f"in {every(ahead)}, at {_instant(why.next_visit)}"
    if why.high == why.low:
        return said
    low, high = (max(end - why.at, 0.0) for end in (why.low, why.high))
    if why.low == why.next_visit and high == inf:
        return f"{said}, or later"
    about = said.replace("in ", "in about ", 1)
    if high == inf:
        return f"{about}; not before {every(low)} from now"
    return f"{about} (70 % interval: {every(low)} to {every(high)})"


def _evidence(seen: Evidence, now: float) -> str:
    if not seen.visits:
        return "no visits yet"
    visits = counted(seen.visits, "visit")
    said = f"{visits} in {every(max(now - seen.first_visit, 0.0))}"
    if seen.compared:
        changes = f"found {counted(seen.changes, 'change')}"
        said += f"; {seen.compared:,} compared it with its copy and {changes}"
    if seen.first_age > 0:
        said += f"; the first found a Last-Modified of {every(seen.first_age)} before"
    if not isnan(seen.last_change):
        said += f", the last {every(now - seen.last_change)} ago"
    said += f". Last visit {every(now - seen.last_visit)} ago"
    walls = seen.outcomes.get(VisitOutcome.WALLED.label, 0)
    if walls:
        said += f"; {counted(walls, 'visit')} met a wall"
    if seen.failures:
        met = f", {seen.failure}" if seen.failure else ""
        failed = "the last visit" if seen.failures == 1 else f"the last {seen.failures:,} visits"
        said += f"; {failed} failed{met}"
    return said + "."


def _asks(tags: str) -> str:
    """What a page asks of crawlers, and what follows from it.

    >>> _asks("noindex, noarchive")
    'the page asks for noindex, noarchive: no version of it is kept'
    """
    follows = {
        "noarchive": "no version of it is kept",
        "nofollow": "its links are not followed",
    }
    said = [what for tag, what in follows.items() if tag in tags]
    return f"the page asks for {tags}" + (f": {', '.join(said)}" if said else "")


def _estimate(believed: Estimate) -> str:
    band = f"{every(1 / believed.high)} to {every(1 / believed.low)}"
    said = f"changes every {every(1 / believed.rate)} (90 % interval: {band})"
    own = f"{percent(believed.own)} of this rests on its own visits and dates"
    if believed.own < _NO_EVIDENCE:
        own = "nothing is known of this page itself yet"
    said += f"; {own}, similar pages alone suggest every {every(1 / believed.relatives)}"
    if abs(believed.correction - 1) >= _AS_USUAL:
        said += (
            f". Pages with such a history changed {believed.correction:.2g} times as often as"
            " expected, which this includes"
        )
    return f"{said}. Its copy is fresh with a probability of {percent(believed.fresh)}."


def _section(active: Activity) -> str:
    times = "" if abs(active.pace - 1) < _AS_USUAL else f"{active.pace:.2g} times "
    said = f"{active.address} ({counted(active.pages, 'page')}) is {times}as active as usual"
    more = active.value / active.even - 1 if active.even > 0 else 0.0
    if abs(more) < _NO_DIFFERENCE:
        said += "; its recent activity does not change the value of a visit"
    else:
        change = (
            f"{'raises' if more > 0 else 'lowers'} the value of a visit by {percent(abs(more))}"
        )
        said += f"; its recent activity {change}"
    return f"{said}. Weekdays and hours are not considered."


def _signals(why: Why) -> str:
    signals, hinted = why.signals or {}, ""
    if "hint_chance" in signals:
        chance = percent(signals["hint_chance"])
        hinted = f"a hint, a list or a push says that it has changed, which is right with {chance}"
        if "hinted_at" in signals:
            hinted = f"{_hinted(signals['hinted_at'], why)}: {hinted}"
    if "announcements" not in signals:
        return hinted
    count = int(signals["announcements"])
    share = percent(signals["announced_share"])
    said = f"its host announces {share} of its changes"
    asked = every(max(why.at - signals["asked_at"], 0.0))
    said += f"; {counted(count, 'announcement')} since the last visit, last checked {asked} ago"
    return f"{hinted}; {said}" if hinted else said


def _hinted(at: float, why: Why) -> str:
    """When a page was hinted, and that no visit has told since whether it changed."""
    visited = why.evidence.last_visit > at
    since = "no visit has reached it since" if visited else "not visited since"
    return f"hinted {every(max(why.at - at, 0.0))} ago, {since}"


def _honesty(found: Honesty) -> str:
    of = f"{found.wrong:,} of {found.heard:,} {_HEARD[found.word]}"
    return f"{of} ({100 * found.low:.1f} to {100 * found.high:.1f} %)"


def _worth(worth: Worth, now: float) -> str:
    points = (
        f"{percent(value / worth.price)} {'now' if at <= now else 'in ' + every(at - now)}"
        for at, value in worth.values
    )
    # A visit that is due now has all its points now: they are said once.
    return f"{', '.join(dict.fromkeys(points))} (100 % = the least valuable visit being made)"


def _what_if(each: WhatIf, why: Why) -> str:
    ahead, sooner = each.at - why.at, why.next_visit - each.at
    when = "now" if ahead <= _AT_ONCE else f"in {every(ahead)}" if ahead < inf else "never"
    said = f"{when} {_otherwise(each)}"
    if not isfinite(sooner):
        return said
    return f"{said}: {every(abs(sooner))} {'sooner' if sooner > 0 else 'later'}"


def _otherwise(each: WhatIf) -> str:
    return _OTHERWISE[each.change].format(was=each.was, to=each.to)


def _instant(days: float) -> str:
    return f"{minute(days)} UTC"
