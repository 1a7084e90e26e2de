"""Why a page of a crawl is visited next when it is.

The next visit is found by simulating the crawl (`recrawl.simulate.virtual_crawl`), what decides by
taking constraints away, and what would change it by changing one thing after the other.

Touches: a store.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf, isfinite, nan
from typing import TYPE_CHECKING

import numpy as np

from recrawl.inspect.left_out import left_out
from recrawl.inspect.pages import LEFT_OUT, STATUS_LABELS, hinted_at, shown_status
from recrawl.inspect.scenario import build_scenario
from recrawl.inspect.why import facts
from recrawl.inspect.why.binding import Binding, binding
from recrawl.inspect.why.figures import figures
from recrawl.inspect.why.values import Evidence, WhatIf, Why
from recrawl.inspect.why.what_if import what_ifs
from recrawl.parse.addresses import host_of, origin_of
from recrawl.parse.robots import Permission
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.settings.rules import Rule
from recrawl.simulate.next_visit import allowed_from, horizon, is_held, simulate_next_visit
from recrawl.state.snapshot import load_snapshot
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import WITH_A_COPY, PageStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.entries.entries import Copy
    from recrawl.entries.store import ReadStore
    from recrawl.simulate.next_visit import NextVisit
    from recrawl.simulate.scenario import Scenario
    from recrawl.state.snapshot import Snapshot

# Nine virtual crawls with random outcomes. The soonest and the latest would hold eight visits of
# ten if what is drawn were all that moves; in five worlds like the demonstration's they held 199 of
# 287, since pages change together more than is drawn.
_STREAMS = range(1, 10)
_PAGES_AT_RANDOM = 500
_UNKNOWN = "unknown"
_UNRULED = (Binding.NO_RULE, Binding.FILTERED)
_NOTHING_SEEN = Evidence(0, 0, 0, 0, nan, nan, nan, nan, {})


def reasons(snapshot: Snapshot, reader: ReadStore, page: int) -> Why:
    """Why a page, counted from 0, is visited next when it is.

    Args:
        snapshot: The crawl.
        reader: Its store.
        page: The page.
    """
    (address,) = reader.addresses([page])
    status = PageStatus(int(snapshot.columns.status[page]))
    if status in (PageStatus.REMOVED, PageStatus.ERASED):
        (tombstone,) = (each for each in reader.tombstones() if each.page == page)
        return _unvisited(
            snapshot,
            address,
            Binding.REMOVED,
            {"removed_at": tombstone.at_seconds / SECONDS_A_DAY},
            status=status.label,
            evidence=facts.evidence(snapshot, reader, page),
        )
    scenario = build_scenario(snapshot, reader, page)
    base = simulate_next_visit(scenario)
    kind = binding(scenario, base)
    said = _original(reader, page) if status is PageStatus.DUPLICATE else {}
    if kind is Binding.NO_RULE and (why := left_out(snapshot.settings, reader, address)):
        kind, said = Binding.FILTERED, why
    if kind not in _UNRULED and (read := _forbidden_at(snapshot, reader, address)) is not None:
        kind, said = Binding.ROBOTS, {"robots_read_at": read}
    worth = facts.worth(scenario, base)
    low, high = _band(snapshot, reader, page, scenario, base)
    rule, (copy,) = int(snapshot.rule[page]), reader.copies([page])
    ruled = kind not in _UNRULED
    return Why(
        page=address,
        at=snapshot.now,
        status=STATUS_LABELS[LEFT_OUT]
        if kind is Binding.FILTERED
        else _shown(status, copy, ruled=ruled, failing=bool(snapshot.columns.failures[page])),
        block=snapshot.settings.rules[rule].label if ruled else "",
        next_visit=base.at,
        low=low,
        high=high,
        constraint=kind.value,
        figures={**figures(kind, scenario, base, worth), **said, "host": host_of(address)},
        evidence=facts.evidence(snapshot, reader, page),
        estimate=facts.estimate(scenario) if status in WITH_A_COPY else None,
        section=facts.activity(scenario, snapshot, reader),
        signals=facts.signals(scenario, hinted_at(snapshot, reader, page)),
        honesty=facts.honesty(reader, host_of(address)),
        worth=worth,
        what_ifs=what_ifs(scenario, base)
        if ruled
        else _with_a_block(snapshot, reader, page, address),
        pages=len(snapshot.rule),
        simulated=len(scenario.last),
        policy=snapshot.settings.policy,
        valued=isinstance(snapshot.policy, Recrawl),
        robots_tags=copy.robots.label if copy else "",
        listing=snapshot.settings.rules[rule].listing if ruled else "",
        weight=scenario.own_weight if ruled else nan,
        weights=snapshot.settings.weights if ruled else "",
        moved_to=reader.moves([page])[0] if status is PageStatus.MOVED else "",
    )


def _shown(status: PageStatus, copy: Copy | None, *, ruled: bool, failing: bool) -> str:
    """What the status of a page is called that was not taken out."""
    shell = np.array([0] if copy is not None and copy.shell else [], np.int64)
    flags = np.array([ruled]), shell, np.array([failing])
    (shown,) = shown_status(np.array([status], np.uint8), *flags)
    return STATUS_LABELS[int(shown)]


def refused(snapshot: Snapshot, reader: ReadStore, address: str) -> Why | None:
    """Why a page that the crawl does not know is not taken in; None where nothing forbids it.

    Args:
        snapshot: The crawl.
        reader: Its store.
        address: Canonical address of the page.
    """
    figures = left_out(snapshot.settings, reader, address)
    if figures is None:
        return forbidden(snapshot, reader, address)
    return _unvisited(snapshot, address, Binding.FILTERED, figures)


def forbidden(snapshot: Snapshot, reader: ReadStore, address: str) -> Why | None:
    """Why a page that the crawl does not know never will be; None where no robots.txt forbids it.

    Pages that may not be fetched are left out where they are found.

    Args:
        snapshot: The crawl.
        reader: Its store.
        address: Canonical address of the page.
    """
    read = _forbidden_at(snapshot, reader, address)
    if read is None:
        return None
    host = host_of(address)
    figures: dict[str, float | str] = {"times_in_a_row": 0, "robots_read_at": read, "host": host}
    found = _unvisited(snapshot, address, Binding.ROBOTS, figures)
    return replace(found, honesty=facts.honesty(reader, host))


def _unvisited(
    snapshot: Snapshot,
    address: str,
    kind: Binding,
    figures: Mapping[str, float | str],
    *,
    status: str = _UNKNOWN,
    evidence: Evidence = _NOTHING_SEEN,
) -> Why:
    rule = snapshot.settings.rule_for(address)
    return Why(
        page=address,
        at=snapshot.now,
        status=status,
        block=rule.address if rule else "",
        next_visit=inf,
        low=inf,
        high=inf,
        constraint=kind.value,
        figures=figures,
        evidence=evidence,
        pages=len(snapshot.rule),
        simulated=len(snapshot.rule),
        policy=snapshot.settings.policy,
        valued=isinstance(snapshot.policy, Recrawl),
    )


def _band(
    snapshot: Snapshot, reader: ReadStore, page: int, scenario: Scenario, base: NextVisit
) -> tuple[float, float]:
    """Ends of the band that holds the next visit in about seven cases of ten."""
    if base.reckoned and not base.set:
        return min(allowed_from(scenario, horizon(scenario)), base.at), inf
    known = scenario.row is not None and scenario.pool.state is not None
    if not isfinite(base.at) or is_held(scenario) or not known:
        return base.at, base.at
    if len(scenario.last) > _PAGES_AT_RANDOM:
        scenario = build_scenario(snapshot, reader, page, most=_PAGES_AT_RANDOM)
    found = [simulate_next_visit(scenario, stream=stream, priced=False).at for stream in _STREAMS]
    return min(base.at, *found), max(base.at, *found)


def _forbidden_at(snapshot: Snapshot, reader: ReadStore, address: str) -> float | None:
    """When a robots.txt was read that forbids a page; None where none does."""
    read = reader.robots(origin_of(address))
    if read is None:
        return None
    at = read.at_seconds / SECONDS_A_DAY
    permission = Permission.of(read.http, read.body, at, snapshot.settings.robots_agent)
    if permission.trouble or permission.robots.allows(address):
        return None
    return at


def _original(reader: ReadStore, page: int) -> dict[str, float | str]:
    """What a duplicate is a copy of."""
    found = reader.duplicates().get(page)
    if found is None:
        return {}
    (address,) = reader.addresses([found.page])
    return {"original": address, "sign": found.sign.label}


def _with_a_block(snapshot: Snapshot, reader: ReadStore, page: int, address: str) -> list[WhatIf]:
    """When a page without a rule would be visited if it had one."""
    rules = (*snapshot.settings.rules, Rule(address, exact=True))
    seen = load_snapshot(replace(snapshot.settings, rules=rules), reader, snapshot.now)
    at = simulate_next_visit(build_scenario(seen, reader, page), priced=False).at
    return [WhatIf("block", "none", f"[[page]] {address}", at, moves=True)]
