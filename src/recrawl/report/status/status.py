"""Status of a crawl in about a dozen lines.

Pure.
"""

from __future__ import annotations

from math import inf, isnan
from typing import TYPE_CHECKING

from recrawl.inspect.status.values import WEEK, furthest_off
from recrawl.report.listings.standing import listing_sentence
from recrawl.report.table import printable
from recrawl.report.words import counted, every, size_text, visits_text
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import PageStatus, Refusal, VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.entries.filtering import RefusedAddresses
    from recrawl.entries.records import DiskUsage
    from recrawl.inspect.status.destinations import DestinationStanding
    from recrawl.inspect.status.values import (
        BudgetUse,
        CrawlStatus,
        FeedCompleteness,
        HostThatLies,
        PushStanding,
        Target,
        VisitCount,
    )

_ENOUGH_TO_TELL = 50  # visits, of a bin or of all, for their shares to be meaningful
_MORE_THAN_ONE = 1.5
_SHOWN = 5  # hosts
_SHOWN_TARGETS = 10
_REFUSED = {
    Refusal.EXCLUDED: '{:,} by exclude = "{}"',
    Refusal.NOT_INCLUDED: "{:,} not in include",
    Refusal.PARAMETER: "{:,} with {} (dropped)",
    Refusal.REPEATED: "{:,} with {} again and again (a trap)",
    Refusal.TRAP: "{:,} like {} (a trap)",
    Refusal.ROBOTS: "{:,} forbidden by robots.txt",
}
_WITHOUT_CONTENT = (  # outcomes that are told where there were some
    *(VisitOutcome.FAILED, VisitOutcome.WALLED, VisitOutcome.GONE, VisitOutcome.MOVED),
    *(VisitOutcome.REFUSED, VisitOutcome.DUPLICATE),
)
_WRONG = {"not_modified": "said 'not modified'", "modified": "gave wrong dates"}


def _counted(lately: VisitCount) -> str:
    """A number of visits and its period.

    >>> from recrawl.inspect.status.values import VisitCount
    >>> counts = VisitCount(840, 7.0), VisitCount(90, 3.0), VisitCount(50, 0.01)
    >>> [_counted(each) for each in counts]
    ['120 per day over the last week', '30 per day over the last 3.0d', '50 in the last 14m']
    """
    if isnan(lately.a_day):
        return f"{visits_text(lately.visits)} in the last {every(lately.days)}"
    last = "week" if lately.days >= WEEK else every(lately.days)
    return f"{visits_text(lately.a_day)} per day over the last {last}"


def status_rows(status: CrawlStatus) -> list[tuple[str, str]]:
    """Subject and sentence of each line."""
    return [
        ("fresh", _fresh(status)),
        *([("staleness", _age(status))] if not isnan(status.age) else []),
        *([("outlook", _outlook(status))] if status.outlooks else []),
        *(("target", each) for each in target_sentences(status.targets)),
        ("pages", _pages(status)),
        *([("failing", _failing(status.failing))] if status.failing else []),
        *([("shells", _shells(status.shells))] if status.shells else []),
        *([("unknown", unknown_sentence(status))] if status.unknown is not None else []),
        *([("left out", refused_sentence(status.refused))] if status.refused else []),
        *([("versions", _not_kept(status.noarchive))] if status.noarchive else []),
        ("overdue", f"{status.overdue:,}" if status.overdue else "none"),
        *(("visits", _visits(spent, len(status.spent))) for spent in _used(status.spent)),
        *([("found", _found(status))] if status.visits else []),
        *([("pushes", push_sentence(status.pushes, status.at))] if status.pushes else []),
        *([("feed", feed_sentence(status.feed))] if status.feed else []),
        *(("delivery", each) for each in destination_sentences(status.destinations, status.at)),
        *([("forecast", _forecast(status))] if _visits_forecast(status) >= _ENOUGH_TO_TELL else []),
        *([("exploration", _to_learn(status))] if status.learning.looked_at else []),
        *(("distrusted", each) for each in _lies(status)),
        *(("listing", listing_sentence(each, status.at)) for each in status.listings),
        *([("disk", disk_sentence(status.disk, status.room))] if status.disk else []),
        ("next", _next(status)),
    ]


def disk_sentence(disk: DiskUsage, room: int) -> str:
    """What a store takes of the room that it may take, and what to do where that is not enough.

    >>> from recrawl.entries.records import DiskUsage
    >>> disk_sentence(DiskUsage(3 << 20, 0, has_versions=True), 1 << 30)
    '3 MB of 1 GB'
    >>> disk_sentence(DiskUsage(3 << 30, 2 << 20, has_versions=False), 1 << 30)
    '3 GB of 1 GB: pages and visits alone take more; no versions are left to delete'
    """
    said = f"{size_text(disk.total_bytes)} of {size_text(room)}"
    if disk.total_bytes <= room:
        return said
    if disk.total_bytes - disk.unused_bytes <= room:
        unused = size_text(disk.unused_bytes)
        return f"{said}, {unused} of it unused; `recrawl compact` frees that"
    if disk.has_versions:
        return f"{said}; the next crawl deletes the oldest versions"
    return f"{said}: pages and visits alone take more; no versions are left to delete"


def push_sentence(pushes: PushStanding, now: float) -> str:
    """How many feeds are subscribed to, and what was pushed.

    >>> from recrawl.inspect.status.values import PushStanding
    >>> push_sentence(PushStanding(3, 2, 14, 20_000.0), 20_000.5)
    '2 of 3 feeds with a hub subscribed to; 14 pushes taken, the last 12h ago'
    """
    if not pushes.feeds:
        return "no feed names a hub"
    said = f"{pushes.subscribed:,} of {counted(pushes.feeds, 'feed')} with a hub subscribed to"
    taken = f"{said}; {'1 push' if pushes.pushes == 1 else f'{pushes.pushes:,} pushes'} taken"
    if isnan(pushes.last):
        return taken
    return f"{taken}, the last {every(max(now - pushes.last, 0.0))} ago"


def feed_sentence(feed: FeedCompleteness) -> str:
    """How complete the change feed is.

    >>> from recrawl.inspect.status.values import FeedCompleteness
    >>> feed_sentence(FeedCompleteness(days=7.0, seen=970, unseen=(30.4, 20.1, 41.2)))
    'has 97.0 % of the changes of the last week (95.9 to 98.0 %); about 30 not seen yet'
    >>> feed_sentence(FeedCompleteness(days=0.5, seen=0, unseen=(0.0, 0.0, 0.0)))
    'has no changes yet'
    >>> feed_sentence(FeedCompleteness(days=0.5, seen=0, unseen=(2.8, 0.0, 5.0)))
    'has no changes yet; about 3 not seen yet'
    """
    unseen = f"about {feed.unseen[0]:,.0f} not seen yet"
    if not feed.seen:
        return "has no changes yet" + (f"; {unseen}" if feed.unseen[0] >= 1 else "")
    share, low, high = (100 * part for part in feed.share)
    last = "week" if feed.days >= WEEK else every(feed.days)
    said = f"has {share:.1f} % of the changes of the last {last} ({low:.1f} to {high:.1f} %)"
    return f"{said}; {unseen}"


def destination_sentences(destinations: Sequence[DestinationStanding], at: float) -> list[str]:
    """One sentence on all destinations where all is well; else one on each that is not.

    Args:
        destinations: How far they are.
        at: The instant, in days after 1970.

    Examples:
        >>> from recrawl.inspect.status.destinations import DestinationStanding
        >>> mail = DestinationStanding("mail", "notify", waiting=3, since_seconds=0.0)
        >>> destination_sentences([mail, DestinationStanding("index", "webhook")], 1.0)
        ['mail, index; 3 events waiting, the oldest for 1.0d']
    """
    well = [each for each in destinations if each.is_well]
    found = [_troubled(each, at) for each in destinations if not each.is_well]
    if well:
        names = [each.label for each in well]
        named = ", ".join(names) if len(names) <= _SHOWN else counted(len(names), "destination")
        waiting = max(well, key=lambda each: each.waiting)
        found.insert(0, f"{printable(named)}; {_waiting(waiting, at)}")
    return found


def _waiting(standing: DestinationStanding, at: float) -> str:
    if standing.since_seconds is None:
        return "nothing waiting"
    since = max(at - standing.since_seconds / SECONDS_A_DAY, 0.0)
    return f"{counted(standing.waiting, 'event')} waiting, the oldest for {every(since)}"


def _troubled(standing: DestinationStanding, at: float) -> str:
    """What is wrong with a destination, and what can be done."""
    said = [_waiting(standing, at)]
    if standing.disabled:
        said.append(
            "it answered 410, so nothing is sent; `recrawl changes --deliver` tries it again"
        )
    elif standing.problem:
        tried = f", tried {counted(standing.attempts, 'time')}" if standing.attempts else ""
        again = (standing.next_at_seconds or 0.0) / SECONDS_A_DAY - at
        soon = f", again in {every(again)}" if standing.attempts and again > 0 else ""
        said.append(f"last: {standing.problem}{tried}{soon}")
    if standing.given_up:
        given_up = f"{counted(standing.given_up, 'event')} given up"
        said.append(f"{given_up}, see `recrawl changes --undelivered`")
    return printable(f"{standing.label}: {'; '.join(said)}")


def _fresh(status: CrawlStatus) -> str:
    if not status.copies:
        return "no copies yet"
    fresh, low, high = (100 * share for share in status.fresh)
    copies = "1 copy" if status.copies == 1 else f"{status.copies:,} copies"
    if isnan(fresh):
        return f"unknown for {copies}: the policy {status.policy} estimates no change rates"
    said = f"{fresh:.1f} % of {copies} expected fresh ({low:.1f} to {high:.1f} %)"
    by_weight = status.fresh_by_weight
    return said if isnan(by_weight) else f"{said}; {100 * by_weight:.1f} % by weight"


def _age(status: CrawlStatus) -> str:
    return f"{every(status.age)} on average (fresh copies count as 0)"


def _pages(status: CrawlStatus) -> str:
    others = [each for each in PageStatus if each is not PageStatus.COPIED]
    counts = [(each.label, status.standing.get(each, 0)) for each in others]
    said = [f"{count:,} {label}" for label, count in counts if count]
    if status.failed:
        said.append(f"{status.failed:,} failed")
    if status.unlisted:
        about = "left out or on no site; `recrawl prune` deletes them"
        said.append(f"{status.unlisted:,} unlisted ({about})")
    return ", ".join([f"{status.pages:,} known", *said])


def _failing(failing: Mapping[str, int]) -> str:
    """Pages that could not be had, by what their last visits met.

    >>> _failing({"unauthorized (401)": 8, "no answer": 1})
    '9 pages could not be fetched: 8 unauthorized (401), 1 no answer'
    """
    pages = counted(sum(failing.values()), "page")
    met = ", ".join(f"{count:,} {what}" for what, count in failing.items())
    return f"{pages} could not be fetched: {met}"


def _shells(pages: int) -> str:
    """Pages that are empty, and why.

    >>> _shells(2)
    '2 pages are empty without JavaScript, which is not run; see `recrawl pages --status shell`'
    """
    are = "1 page is" if pages == 1 else f"{pages:,} pages are"
    return f"{are} empty without JavaScript, which is not run; see `recrawl pages --status shell`"


def unknown_sentence(status: CrawlStatus) -> str:
    """How many pages are expected to exist that are not known, and where most of them are.

    >>> from recrawl.frontier.sources import UnknownPages
    >>> from recrawl.inspect.status.values import CrawlStatus
    >>> figures = (1.0, {}, 0, (1.0, 1.0, 1.0), 0.0, 0, 0, 1.0, 1.0, {}, ())
    >>> unknown_sentence(CrawlStatus(*figures, unknown=UnknownPages(12.3, 4.2, 24.8)))
    'about 12 pages still to be found (4 to 25)'
    """
    assert status.unknown is not None  # noqa: S101 - asked for where it is known
    mean, low, high = (
        round(each) for each in (status.unknown.mean, status.unknown.low, status.unknown.high)
    )
    said = f"about {counted(mean, 'page')} still to be found" if mean else "none expected"
    said = f"{said} ({low:,} to {high:,})"
    most = [site for site in status.sites if round(site.unknown.mean)][:_SHOWN]
    if len(status.sites) < _MORE_THAN_ONE or not most:
        return said
    named = ", ".join(f"{round(site.unknown.mean):,} at {site.origin}" for site in most)
    return printable(f"{said}: {named}")


def refused_sentence(refused: Sequence[tuple[str, RefusedAddresses]]) -> str:
    """Addresses that were found and not taken in, by reason.

    >>> from recrawl.entries.filtering import RefusedAddresses
    >>> utm = RefusedAddresses(Refusal.PARAMETER, "utm_source", b"", "", 87)
    >>> trap = RefusedAddresses(Refusal.TRAP, "/calendar/#-#", b"", "", 31)
    >>> refused_sentence([("a.org", utm), ("a.org", trap)])
    '87 addresses with utm_source (dropped), 31 like /calendar/#-# (a trap)'
    >>> forbidden = RefusedAddresses(Refusal.ROBOTS, "", b"", "https://a.org/private", 2)
    >>> refused_sentence([("a.org", forbidden)])
    '2 addresses forbidden by robots.txt, such as https://a.org/private'
    """
    found: dict[tuple[Refusal, str], int] = {}
    examples: dict[tuple[Refusal, str], str] = {}
    for _, each in refused:
        key = each.reason, each.detail
        found[key] = found.get(key, 0) + each.addresses
        if each.reason is Refusal.ROBOTS and each.example:  # no pattern says which they are
            examples.setdefault(key, f", such as {each.example}")
    most = sorted(found, key=lambda key: -found[key])
    said = [_REFUSED[key[0]].format(found[key], key[1]) + examples.get(key, "") for key in most]
    said[0] = said[0].replace(" ", " address " if found[most[0]] == 1 else " addresses ", 1)
    more = [f"{len(said) - _SHOWN:,} more reasons"] if len(said) > _SHOWN else []
    return printable(", ".join([*said[:_SHOWN], *more]))


def _not_kept(pages: int) -> str:
    """Pages without versions, and why.

    >>> _not_kept(1)
    'none kept for 1 page that asks for noarchive'
    """
    return f"none kept for {counted(pages, 'page')} that ask{'s' * (pages == 1)} for noarchive"


def _used(budgets: Sequence[BudgetUse]) -> list[BudgetUse]:
    """The budgets, without a common one that no page draws on."""
    return [each for each in budgets if each.address or each.pages or len(budgets) == 1]


def _visits(spent: BudgetUse, budgets: int) -> str:
    whose = spent.address or ("all others" if budgets > 1 else "")
    if not spent.lately.visits:
        said = "none yet" if spent.lately.days < WEEK else "none in the last week"
    else:
        young = isnan(spent.lately.a_day)  # most of today is before the first visit, or to come
        said = (
            _counted(spent.lately) if young else f"{spent.today:,} today, {_counted(spent.lately)}"
        )
    return f"{said}; budget {visits_text(spent.budget)} per day" + (f" ({whose})" if whose else "")


def _outlook(status: CrawlStatus) -> str:
    """Long-run freshness with the budget, and with half and twice of it."""
    now, *others = sorted(status.outlooks, key=lambda each: each.times != 1)
    share, low, high = (100 * part for part in now.fresh)
    said = [f"{share:.1f} % fresh in the long run ({low:.1f} to {high:.1f} %)"]
    for each in others:
        what = "half" if each.times < 1 else "twice"
        said.append(f"{100 * each.fresh[0]:.1f} % with {what} the budget")
    return ", ".join(said)


def _visits_forecast(status: CrawlStatus) -> float:
    return sum(tenth.visits for tenth in status.tenths)


def _forecast(status: CrawlStatus) -> str:
    """Accuracy of forecasts, overall and in the worst bin; of enough visits."""
    visits = _visits_forecast(status)
    forecast = sum(tenth.forecast * tenth.visits for tenth in status.tenths) / visits
    found = sum(tenth.found * tenth.visits for tenth in status.tenths) / visits
    said = (
        f"changes expected at {100 * forecast:.0f} % of the last {visits:,.0f} visits, "
        f"found at {100 * found:.0f} %"
    )
    worst = furthest_off(status.tenths, least=_ENOUGH_TO_TELL)
    if worst is None:
        return said
    expected, seen = 100 * worst.forecast, 100 * worst.found
    return f"{said}; worst bin: {expected:.0f} % expected, {seen:.0f} % found"


def _to_learn(status: CrawlStatus) -> str:
    """Share of visits that were made to learn."""
    part = status.learning
    last_week = status.days >= WEEK
    if not part.either:
        return f"no visits {'in the last week' if last_week else 'so far'}"
    visits = "the visits of the last week" if last_week else "all visits so far"
    young = f"{100 * part.share(part.young):.1f} % to pages compared fewer than three times"
    audits = f"{100 * part.share(part.audits):.1f} % to audit a response"
    return f"{100 * part.share(part.either):.1f} % of {visits}: {young}, {audits}"


def _lies(status: CrawlStatus) -> list[str]:
    """Hosts with wrong signals, by kind of signal."""
    said = []
    for word, what in _WRONG.items():
        hosts = [each for each in status.hosts_that_lie if each.word == word]
        if hosts:
            first, *others = hosts[:_SHOWN]
            named = [_host_that_lies(first, what), *map(_host_that_lies, others)]
            more = [f"{len(hosts) - _SHOWN:,} more hosts"] if len(hosts) > _SHOWN else []
            said.append(", ".join([*named, *more]))
    return said


def _host_that_lies(host: HostThatLies, did: str = "") -> str:
    """How often a host was wrong; what it did is said of the first host only."""
    times, band = (
        f"{host.wrong} of {host.heard}",
        f"{100 * host.low:.0f} to {100 * host.high:.0f} %",
    )
    if not did:
        return f"{host.host} for {times} ({band})"
    return f"{host.host} {did} for {times} changed pages ({band})"


def _found(status: CrawlStatus) -> str:
    """Outcomes as shares of recent visits."""
    parts = [
        f"{100 * status.share(status.count(VisitOutcome.CHANGED)):.0f} % changed",
        f"{100 * status.share(status.unchanged):.0f} % unchanged",
        f"{100 * status.share(status.count(VisitOutcome.FIRST)):.0f} % first copies",
    ]
    parts += [
        f"{100 * status.share(status.count(outcome)):.1f} % {outcome.label}"
        for outcome in _WITHOUT_CONTENT
        if status.count(outcome)
    ]
    visits = "1 visit" if status.visits == 1 else f"{status.visits:,} visits"
    return f"of {visits} in the last {every(status.days)}: {', '.join(parts)}"


def _next(status: CrawlStatus) -> str:
    if status.next_visit == inf:
        if status.pages:
            return "nothing to visit"
        remedy = "crawl` looks for pages" if status.blocks else "add https://...` adds a site"
        return f"nothing to visit yet; `recrawl {remedy}"
    days = status.next_visit - status.at
    return f"in {every(days)}" if days > 0 else "now"


def target_sentences(targets: Sequence[Target]) -> list[str]:
    """One sentence per target; of many, the first missed ones and a count.

    >>> from recrawl.inspect.status.values import VisitCount, Target
    >>> lately = VisitCount(280.0, days=7.0)
    >>> wish = Target("https://a.org/", 0.95, 80, (0.97, 0.96, 0.98), lately, needed=31)
    >>> target_sentences([wish])[0].split("; ")[1]
    'needs 31 visits per day, gets 40'
    """
    if len(targets) <= _SHOWN_TARGETS:
        return [_target(target) for target in targets]
    missed = [target for target in targets if not target.met and target.copies]
    shown = missed[:_SHOWN_TARGETS]
    met = sum(target.met for target in targets)
    return [
        *(_target(target) for target in shown),
        f"{met:,} of {len(targets):,} met, {len(missed):,} missed",
    ]


def _target(target: Target) -> str:
    if not target.copies:
        return f"{target.address}: no copies yet, or none with a change rate"
    share, low, high = (100 * part for part in target.fresh)
    verdict = "met" if target.met else "missed"
    if not target.sure:
        verdict = f"likely {verdict}"
    said = f"{verdict} at {target.address}: {share:.1f} % fresh ({low:.1f} to {high:.1f} %)"
    return f"{said}, target {100 * target.wanted:g} %{_cost(target)}"


def _cost(target: Target) -> str:
    """Visits needed, if known, and visits made."""
    lately, needed = target.lately, target.needed
    if isnan(lately.a_day):
        gets = f"had {visits_text(lately.visits)} visits in the last {every(lately.days)}"
    elif not isnan(needed):
        gets = f"gets {visits_text(lately.a_day)}"
    else:
        gets = f"gets {visits_text(lately.a_day)} visits per day"
    if not isnan(needed):
        return f"; needs {visits_text(needed)} visits per day, {gets}"
    if not isnan(target.most):
        return f"; out of reach: delays and bounds allow at most {100 * target.most:.1f} %; {gets}"
    return f"; {gets}"
