"""Pages that another crawler visits: handed out, judged by what it reports, learned.

Under `recrawl.Scheduler`, which adds a lock, and under a crawl that lends pages to others.

Touches: a store and the clock, through what it is given.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING, TypeAlias

from recrawl.detect.masks.json_text import read_masks
from recrawl.entries.entries import HostSeen, VisitMade
from recrawl.entries.records import digest_of
from recrawl.entries.reports import AnsweredReport, VisitsReported
from recrawl.errors import InvalidParameter, StoreCorrupt
from recrawl.fetch.polite import asked_to_wait
from recrawl.scheduler.reports import KnownPage, judge, manifest_in, outcome_of
from recrawl.units import SECONDS_A_DAY, http_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.detect.verdict import Verdict
    from recrawl.entries.entries import Copy
    from recrawl.entries.manifests import Manifest
    from recrawl.frontier.agenda import Lease
    from recrawl.parse.messages import Response
    from recrawl.scheduler.crawl_schedule import CrawlSchedule, DuePage
    from recrawl.scheduler.reports import Report
    from recrawl.settings.settings import Settings
    from recrawl.visits.status import VisitOutcome

Newest: TypeAlias = "Callable[[int, Copy | None, str], tuple[Copy | None, str]]"


@dataclass(frozen=True, slots=True)
class JudgedVisit:
    """What a crawler reports of a visit, and what it means.

    Args:
        page: The page.
        report: The report.
        verdict: What became of the page.
        manifest: Chunks of the new copy; None where none are listed.
    """

    page: DuePage
    report: Report
    verdict: Verdict
    manifest: Manifest | None

    @property
    def target(self) -> str:
        """Address that the page has moved to; empty where it has not."""
        return "" if self.report.response is None else self.report.response.target


@dataclass(frozen=True, slots=True)
class LearnedVisits:
    """What visits have taught.

    Args:
        outcomes: What became of each; None of a page that was not out.
        made: Those that count, to be written down.
        moved: Those of them that found their page moved.
    """

    outcomes: list[VisitOutcome | None]
    made: list[VisitMade]
    moved: list[JudgedVisit]


def judge_visit(
    page: DuePage, report: Report, known: KnownPage, settings: Settings, now: float
) -> JudgedVisit:
    """What a report says of a page. Takes longest of all, and needs nothing of the schedule.

    Args:
        page: The page.
        report: The report.
        known: What is known of the page.
        settings: Settings of the crawl.
        now: When, in days after 1970.

    Raises:
        InvalidParameter: The report does not say what became of the page.
    """
    verdict = judge(report, known, settings.robots_agent, now * SECONDS_A_DAY)
    manifest = manifest_in(verdict, known) if settings.feed_chunks else None
    return JudgedVisit(page, report, verdict, manifest)


def reported_visits(
    found: LearnedVisits, batch: tuple[str, bytes] | None, now: float
) -> VisitsReported:
    """Visits as they are written down.

    Args:
        found: What they have taught.
        batch: Key and digest of the batch that they came in; None for one without a key.
        now: When, in days after 1970.
    """
    report = None
    if batch is not None:
        labels = [None if each is None else each.label for each in found.outcomes]
        report = AnsweredReport(*batch, json.dumps(labels))
    return VisitsReported(found.made, report, now * SECONDS_A_DAY)


def outcomes_in(report: AnsweredReport) -> list[VisitOutcome | None]:
    """What became of the pages of a batch that was written down."""
    return [outcome_of(label) for label in json.loads(report.answer)]


class OutsideVisits:
    """Hands pages to another crawler, and learns what it found; for one thread.

    Args:
        schedule: The schedule.
        newest: Copy and masks of a page, given those on disk: newer ones may not be there yet.
        version: The newest version of a page.
    """

    def __init__(
        self,
        schedule: CrawlSchedule,
        newest: Newest = lambda _, copy, masks: (copy, masks),
        version: Callable[[int], bytes | None] | None = None,
    ) -> None:
        self._schedule = schedule
        self._newest = newest
        self._version = version or self._stored_version
        self._out: dict[int, Lease] = {}

    def __len__(self) -> int:
        """Count the pages that are out."""
        return len(self._out)

    def due(self, most: int) -> list[DuePage]:
        """Pages that are most worth a visit now, with what conditional requests need."""
        pages = self._schedule.due(most)
        self._out |= {page.lease.page: page.lease for page in pages}
        return self._with_validators(pages)

    def has(self, page: DuePage) -> bool:
        """Whether a page was handed out, and not taken back."""
        return self._out.get(page.lease.page) == page.lease

    def require(self, page: DuePage) -> None:
        """Raise for a page that was not handed out, or has been taken back."""
        if not self.has(page):
            raise InvalidParameter(
                f"{page.address} is not out: it was seen or released already, or another scheduler "
                "gave it"
            )

    def release(self, page: DuePage, wait: float = 0.0) -> None:
        """Take back a page that was not visited; it is due again after some days."""
        self.require(page)
        del self._out[page.lease.page]
        self._schedule.release(page, wait)

    def known(self, page: DuePage) -> KnownPage:
        """What is known of a page; its version is read now, for the judge reads no store."""
        crawl, reader, number = self._schedule.crawl, self._schedule.reader, page.lease.page
        (copy,), (masks,) = reader.copies([number]), reader.masks([number])
        copy, masks = self._newest(number, copy, masks)
        before = float(crawl.last[number])
        keeps = crawl.settings.versions > 0
        body = self._version(number) if copy is not None and keeps else None
        return KnownPage(
            page.address,
            page.first,
            copy,
            crawl.settings.rules[crawl.agenda.term(number)],
            lambda: body,
            read_masks(masks) if masks else crawl.trust.masks(page.lease.host),
            None if isnan(before) else before * SECONDS_A_DAY,
            keeps,
        )

    def learn(self, visits: list[JudgedVisit | None]) -> LearnedVisits:
        """Learn from visits; those of pages that are not out any more, and None, count nothing."""
        found = LearnedVisits([], [], [])
        for visit in visits:
            if visit is None or not self.has(visit.page):
                found.outcomes.append(None)
                continue
            del self._out[visit.page.lease.page]
            made = self._learn(visit)
            found.outcomes.append(None if made is None else made.outcome)
            if made is not None:
                found.made.append(made)
                found.moved.extend([visit] if visit.target else [])
        return found

    def _learn(self, visit: JudgedVisit) -> VisitMade | None:
        """Learn from a visit; None for one to a page that nobody wants to know of any more."""
        schedule, lease, response = self._schedule, visit.page.lease, visit.report.response
        now, agenda, verdict = schedule.clock.now(), schedule.crawl.agenda, visit.verdict
        agenda.answered(lease, now)
        if response is not None:
            self._leave_alone(lease.host, response, now)
        if agenda.is_withdrawn(lease.page):
            agenda.drop(lease.page)
            return None
        learned = schedule.learn(
            *(lease, visit.page.address, verdict.outcome, now),
            age=verdict.age,
            gist=verdict.gist,
        )
        event, keeps = learned.event, schedule.crawl.settings.versions > 0
        if event is not None:
            version = digest_of(verdict.body) if verdict.body is not None and not keeps else None
            target = visit.target or None
            event = replace(event, target=target, version=version, manifest=visit.manifest)
        return VisitMade(
            *(lease.page, now * SECONDS_A_DAY, verdict.outcome),
            http=response.status if response is not None else None,
            age=None if isnan(verdict.age) else verdict.age,
            size=len(response.body) if response is not None and response.body else None,
            share=None if isnan(verdict.share) else verdict.share,
            copy=verdict.copy,
            body=verdict.body if keeps else None,
            change=learned.change,
            event=event,
        )

    def _with_validators(self, pages: list[DuePage]) -> list[DuePage]:
        """Pages with what a conditional request for them needs, where their hosts are believed."""
        trust, found = self._schedule.crawl.trust, []
        copies = self._schedule.reader.copies([page.lease.page for page in pages])
        for page, copy in zip(pages, copies, strict=True):
            if copy is None or not trust.use_conditional(page.lease.host, page.lease.page):
                found.append(page)
                continue
            modified = copy.modified_seconds
            dated = "" if modified is None else http_text(modified)
            found.append(replace(page, etag=copy.etag or "", last_modified=dated))
        return found

    def _leave_alone(self, host: int, response: Response, now: float) -> None:
        """Leave a host alone that asks for it by Retry-After."""
        days, hosts = asked_to_wait(response, now), self._schedule.crawl.hosts
        if days is not None:
            hosts.block(host, now + days)
            until, latency = (now + days) * SECONDS_A_DAY, hosts.latency(host) * SECONDS_A_DAY
            self._schedule.write(HostSeen(hosts.names[host], hosts.delay(host), until, latency))

    def _stored_version(self, page: int) -> bytes | None:
        try:
            return self._schedule.reader.newest_body(page)
        except StoreCorrupt:  # the copy's signatures tell changes, too, and `check` tells of it
            return None
