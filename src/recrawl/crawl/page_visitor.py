"""One visit to a page: a request, the verdict on it, a second request where that must be checked.

A host that says "not modified" may be wrong, and a page that differs may differ by itself. Both
are found out by fetching the page once more, at once, on a sample of visits:

    304   -- fetched all the same -->  it had changed, and is denied again: the host denies changes
    200   -- asked if modified    -->  the same, where it was fetched in full after several 304s
    200   -- fetched again        -->  what differs between the two is no change

Requests wait for a slot at the host like all others, and each counts as a visit of the budget.

Touches: the network, the clock and a store, through what it is given.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from math import inf, isnan, nan
from typing import TYPE_CHECKING

from recrawl.crawl.double_fetch import compared
from recrawl.crawl.page_visit import PageVisit
from recrawl.detect.change import not_converted
from recrawl.detect.masks.masks import Masks
from recrawl.detect.reading import ReadPage, has_kept_lines, read_response, reading_of
from recrawl.detect.recent_texts import RevertedTexts, SharedTexts
from recrawl.detect.reliability import ETAG, MODIFIED, NOT_MODIFIED
from recrawl.detect.verdict import (
    PageFacts,
    Verdict,
    is_date_right,
    verdict_by_content,
    verdict_by_signature,
    verdict_unread,
    with_lasting_validators,
    with_robots_tags,
)
from recrawl.extract import manifest_of, read_content
from recrawl.fetch.host_slots import HostBusy, HostSlot
from recrawl.parse.documents import document_kind
from recrawl.parse.headers import is_same_tag, validators
from recrawl.parse.messages import Request
from recrawl.parse.robots_tags import NO_TAGS, RobotsTags, read_robots_tags
from recrawl.units import SECONDS_A_DAY, http_text
from recrawl.visits.status import NO_TAG, Audit, RobotsTag, VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.clock import Clock
    from recrawl.crawl.ledger import NewestVersions
    from recrawl.crawl.page_reader import PageReader, ReadyBody
    from recrawl.crawl.page_visit import LeasedPage
    from recrawl.detect.change import Convert
    from recrawl.entries.entries import Copy
    from recrawl.entries.manifests import Manifest
    from recrawl.entries.records import VersionLines
    from recrawl.fetch.polite import PoliteClient
    from recrawl.parse.messages import Response
    from recrawl.state.opening import Crawl

_OK, _NOT_MODIFIED = 200, 304
# A difference no larger than so many times that between two fetches at once says nothing.
_AS_BY_ITSELF = 1.5
_SAME = (VisitOutcome.SAME, VisitOutcome.COSMETIC)
_DENIED = (VisitOutcome.CHANGED, VisitOutcome.GONE)
_SAYS_NOTHING = (VisitOutcome.FAILED, VisitOutcome.WALLED)
_GONE = frozenset({404, 410})


class PageVisitor:
    """Visits pages.

    Args:
        crawl: The crawl as it stands.
        client: Makes requests.
        versions: Newest versions of pages.
        clock: Source of the current time.
        reader: Makes bodies ready to be read.
        stopping: Whether the crawl was asked to stop: no second request begins then.
    """

    def __init__(
        self,
        crawl: Crawl,
        client: PoliteClient,
        versions: NewestVersions,
        clock: Clock,
        reader: PageReader,
        stopping: Callable[[], bool],
    ) -> None:
        self._crawl = crawl
        self._trust = crawl.trust
        self._client = client
        self._versions = versions
        self._clock = clock
        self._reader = reader
        self._stopping = stopping
        self._repeats = SharedTexts()
        self._returns = RevertedTexts()

    async def visit(self, page: LeasedPage) -> PageVisit:
        """Visit a page, twice where that is to be checked; `HostBusy` where it cannot be now."""
        host, trust = page.lease.host, self._trust
        number, whole = page.lease.page, trust.must_be_whole(page.lease.page)
        conditional = page.copy if trust.use_conditional(host, number) else None
        response = await self._client.get(
            _request(page, conditional), slot=HostSlot(host), stop_at=self._others_than(page)
        )
        now = self._clock.now()
        if response.problem == "forbidden":
            return self._visit_of(page, response, Verdict(VisitOutcome.REFUSED), now)
        if response.ok and response.target:
            return self._visit_of(page, response, Verdict(VisitOutcome.MOVED), now)
        try:
            visit = await self._judge(page, response, now)
            if visit.outcome is VisitOutcome.NOT_MODIFIED:
                if trust.audit_304(host, number):
                    visit = await self._check_not_modified(page, visit)
            else:
                visit = await self._check(page, visit)
                validated = conditional and (conditional.etag or conditional.modified_seconds)
                if validated and visit.outcome is VisitOutcome.CHANGED:
                    trust.count_told(host, number)
                elif whole:
                    visit = await self._check_word(page, visit)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - no page, whatever it holds, may end a crawl
            detail = f"the page cannot be read ({error!r:.200})"
            response = replace(response, body=b"", problem="bad-answer", detail=detail)
            return self._visit_of(page, response, Verdict(VisitOutcome.FAILED), now)
        visit.read = None  # nobody asks for it any more
        return await self._with_manifest(page, self._weighed(page, visit))

    def _others_than(self, page: LeasedPage) -> Callable[[str], bool]:
        """Whether an address is of another page of the crawl's own sites, taken in or left out."""
        settings = self._crawl.settings
        return lambda to: bool(settings.rule_for(to)) and settings.admit(to).address != page.address

    @staticmethod
    def _visit_of(page: LeasedPage, response: Response, verdict: Verdict, now: float) -> PageVisit:
        return PageVisit(page.lease.page, page.address, now, response, verdict)

    async def _judge(
        self,
        page: LeasedPage,
        response: Response,
        now: float,
        masks: Masks | None = None,
        read: ReadPage | None = None,
    ) -> PageVisit:
        """The verdict on one response, with what it asks of crawlers.

        Args:
            page: The page.
            response: The response.
            now: The instant.
            masks: What differs by itself on the page; None for what was known before.
            read: What a reader sees of the response, where it was read already.
        """
        at = now * SECONDS_A_DAY
        settled = verdict_unread(page.address, response, page.copy)
        if settled is None:
            known = self._known(page, masks)
            settled, tags, read = await self._judge_content(page, response, known, at, read)
        elif response.body:
            async with self._reader.turn(len(response.body), response.address) as run:
                tags = await run(partial(self._tags, page, response))
        else:
            tags = self._tags(page, response)
        settled = with_lasting_validators(settled, response, at)
        visit = self._visit_of(page, response, with_robots_tags(settled, tags, page.copy, at), now)
        visit.read = read
        return visit

    def _tags(self, page: LeasedPage, response: Response) -> RobotsTags:
        """What a page asks, where that is heeded; a 304 only adds to what the page has said."""
        if not page.rule.robots_tags:
            return NO_TAGS
        tags = read_robots_tags(response, self._crawl.settings.robots_agent)
        if response.status != _NOT_MODIFIED or page.copy is None:
            return tags
        after = page.copy.unavailable_after_seconds
        if after is None and page.copy.robots is NO_TAG:  # as nearly always
            return tags
        return tags | RobotsTags(page.copy.robots, inf if after is None else after)

    async def _judge_content(
        self,
        page: LeasedPage,
        response: Response,
        known: PageFacts,
        at: float,
        read: ReadPage | None,
    ) -> tuple[Verdict, RobotsTags, ReadPage]:
        """The verdict on a response that must be read, what it asks of crawlers, what it shows."""
        site = response.address
        ready = await self._reader.ready(response.body, site)
        size = max(ready.size, len(response.body))
        async with self._reader.turn(size, site) as run:
            kept = self._kept(page, response)
            step = partial(self._read, page, response, known, ready, kept, read)
            seen, tags, settled = await run(step)
            if settled is not None:
                return settled, tags, seen
            keeps = self._crawl.settings.versions > 0 and RobotsTag.NOARCHIVE not in tags.at(at)
            known = known if keeps else replace(known, keeps=False)
            by_content = partial(self._by_content, page, response, seen, known, at)
            if kept is not None and kept.reading == reading_of(response, page.rule.criteria):
                return await run(partial(by_content, ReadPage(kept.lines))), tags, seen
            body = self._old_body(page)
            if not document_kind(body or b""):
                return await run(partial(by_content, body)), tags, seen
        # Outside of the turn: others go on while an old document is converted.
        old = await self._reader.ready(body or b"", site)
        async with self._reader.turn(old.size, site) as run:
            return await run(partial(by_content, body, old.convert)), tags, seen

    def _read(
        self,
        page: LeasedPage,
        response: Response,
        known: PageFacts,
        ready: ReadyBody,
        kept: VersionLines | None,
        read: ReadPage | None,
    ) -> tuple[ReadPage, RobotsTags, Verdict | None]:
        """What a reader sees, what is asked of crawlers, and the verdict where it reads as before.

        In one step: a large page goes to a thread once.
        """
        tags = self._tags(page, response)
        seen = read or read_response(response, page.rule.criteria, None, ready.convert, kept)
        return seen, tags, verdict_by_signature(page.address, response, seen, known)

    @staticmethod
    def _by_content(  # noqa: PLR0913, PLR0917 - a page now, a page before, and what is known of both
        page: LeasedPage,
        response: Response,
        now: ReadPage,
        known: PageFacts,
        at: float,
        before: ReadPage | bytes | None,
        convert: Convert = not_converted,
    ) -> Verdict:
        """The verdict on a response that does not read as the copy did, read already or not."""
        criteria, old = page.rule.criteria, before
        if isinstance(old, bytes):
            old = read_response(response, criteria, old, convert)
        return verdict_by_content(page.address, response, now, known, criteria, old=old, at=at)

    def _known(self, page: LeasedPage, masks: Masks | None = None) -> PageFacts:
        host, number = page.lease.host, page.lease.page
        before = float(self._crawl.last[number])
        known = page.masks if masks is None else masks
        # What its neighbours have learned holds for a page until it has shown itself.
        if masks is None and not page.masks and not self._trust.false_changes.checked[number]:
            known = known.joined(self._trust.masks(host))
        return PageFacts(
            page.copy,
            known,
            None if isnan(before) else before * SECONDS_A_DAY,
            self._trust.believes_dates(host),
        )

    def _old_body(self, page: LeasedPage) -> bytes | None:
        """The version that is kept; None where none is."""
        keeps = page.copy is not None and self._crawl.settings.versions > 0
        return self._versions.body(page.lease.page) if keeps else None

    def _kept(self, page: LeasedPage, response: Response) -> VersionLines | None:
        """The version that is kept, with what a reader saw of it; None where nobody knows that."""
        keeps = page.copy is not None and self._crawl.settings.versions > 0
        if not keeps or not has_kept_lines(response.body):  # the old one may well be as small
            return None
        return self._versions.lines(page.lease.page)

    # Second requests.

    async def _check_not_modified(self, page: LeasedPage, visit: PageVisit) -> PageVisit:
        """Fetch a page that its host calls unmodified: the audit of a 304."""
        second = await self._refetch(page, gone=True)
        if second is None:
            return visit
        found = await self._judge(page, second, self._clock.now())
        if found.outcome in _SAYS_NOTHING:  # of the page; its host has said something
            return replace(visit, audit=Audit.WORD)
        if found.outcome is VisitOutcome.CHANGED:
            found = await self._check_noise(page, found, sampled=False)
        if found.outcome in _DENIED and await self._denies(page):
            self._trust.count_denied(page.lease.host, page.lease.page)
        if found.outcome in _SAME:
            self._trust.count_signal(page.lease.host, NOT_MODIFIED, silent=1)
            self._trust.validators.seen(page.lease.page, whole=True)
            copy = found.verdict.copy or visit.verdict.copy
            verdict = replace(visit.verdict, copy=copy)
            found = replace(visit, verdict=verdict, masks=found.masks)
        return replace(found, audit=Audit.WORD)

    async def _check_word(self, page: LeasedPage, visit: PageVisit) -> PageVisit:
        """Ask whether a page was modified that was fetched in full after it had not been, often."""
        copy = page.copy
        if copy is None or not (copy.etag or copy.modified_seconds):
            return visit
        if visit.outcome in _SAME:
            self._trust.count_signal(page.lease.host, NOT_MODIFIED, silent=1)
        elif visit.outcome in _DENIED:
            if await self._denies(page):
                self._trust.count_denied(page.lease.host, page.lease.page)
            return replace(visit, audit=Audit.WORD)
        return visit

    async def _denies(self, page: LeasedPage) -> bool:
        """Whether a host still denies a change; if not, it came between two requests, or might."""
        response = await self._ask_again(page, page.copy)
        return response is not None and response.ok and response.status == _NOT_MODIFIED

    async def _check(self, page: LeasedPage, visit: PageVisit) -> PageVisit:
        """Fetch a page again where it seems to have changed, or where it is drawn for a sample."""
        outcome, trust = visit.outcome, self._trust
        # The sample is drawn first: what is left over by other checks would be too quiet.
        whole = outcome in (VisitOutcome.SAME, VisitOutcome.COSMETIC, VisitOutcome.CHANGED)
        if whole and trust.draw_sample(page.lease.host):
            visit = await self._check_noise(page, visit, sampled=True)
        elif outcome is VisitOutcome.CHANGED and self._checks(page, visit.verdict):
            visit = await self._check_noise(page, visit, sampled=False)
        if visit.outcome is VisitOutcome.CHANGED and visit.audit is Audit.NONE:
            false = trust.false_changes.chance(page.lease.host, page.lease.page)
            visit.false_changes = false
        return visit

    def _checks(self, page: LeasedPage, verdict: Verdict) -> bool:
        """Whether to refetch a page that seems to have changed: by chance, or for what it shows.

        A change that undoes another may be one of two texts by chance, and one that takes the place
        of a mask away leaves noise unmasked.
        """
        new = verdict.copy.text_signature if verdict.copy else None
        old = page.copy.text_signature if page.copy else None
        returned = bool(new and old and self._returns.seen(page.lease.page, new, old))
        doubtful = verdict.displaced or returned
        return self._trust.refetch_changed(page.lease.host, page.lease.page, doubtful=doubtful)

    async def _check_noise(self, page: LeasedPage, visit: PageVisit, *, sampled: bool) -> PageVisit:
        """Fetch a page again at once, and leave out what differs by itself.

        What the pair teaches may be a new mask: then the first response is judged again under it.
        A change no larger than what differs between the two fetches is none.
        """
        second = await self._refetch(page)
        if second is None:
            return visit
        host, first = page.lease.host, visit.response
        known = self._known(page)
        ready = [await self._reader.ready(each.body, page.address) for each in (first, second)]
        converts = [each.convert for each in ready]
        async with self._reader.turn(ready[0].size, page.address) as run:
            work = partial(compared, first, second, page, known.masks, converts, visit.read)
            pair = await run(work)
        self._trust.count_pair(
            host,
            page.lease.page,
            differed=pair.differed,
            masked=pair.masks is not None,
            sampled=sampled,
        )
        visit = replace(visit, audit=Audit.NOISE)
        if pair.masks is not None:
            self._trust.learn_masks(host, page.address, pair.masks)
            visit = await self._judge(page, first, visit.at, pair.masks, visit.read)
            visit = replace(visit, audit=Audit.NOISE, masks=pair.masks)
        verdict = visit.verdict
        if verdict.outcome is VisitOutcome.CHANGED and verdict.share <= _AS_BY_ITSELF * pair.left:
            verdict = replace(
                verdict, outcome=VisitOutcome.COSMETIC, age=nan, body=None, lines=None
            )
            visit = replace(visit, verdict=verdict)
        return visit

    async def _refetch(self, page: LeasedPage, *, gone: bool = False) -> Response | None:
        """Fetch a page once more, whole; None where that cannot be, or says nothing of it."""
        response = await self._ask_again(page)
        if response is None or not response.ok or response.target:
            return None
        if gone and response.status in _GONE:
            return response
        return response if response.status == _OK and response.body else None

    async def _ask_again(self, page: LeasedPage, copy: Copy | None = None) -> Response | None:
        """Make one more request, and pay for it: later visits wait for that. None if not made."""
        if self._stopping():
            return None
        try:
            response = await self._client.get(_request(page, copy), stop_at=self._others_than(page))
        except HostBusy:
            return None
        except asyncio.CancelledError:
            if not self._stopping():
                raise
            return None  # what was found first is not lost
        self._crawl.agenda.audited(page.lease.page, self._clock.now())
        return response

    # What is learned of hosts.

    def _weighed(self, page: LeasedPage, visit: PageVisit) -> PageVisit:
        """Take a page that several addresses answer with for a wall, and hear what hosts say."""
        verdict, host = visit.verdict, page.lease.host
        parts = bool(page.rule.watch or page.rule.ignore)  # alike on pages that are different
        if verdict.outcome is VisitOutcome.CHANGED and verdict.copy and page.copy and not parts:
            signature = verdict.copy.text_signature
            old = page.copy.text_signature
            name = self._crawl.hosts.names[host]
            if signature and self._repeats.seen(name, page.address, signature, old):
                return replace(visit, verdict=Verdict(VisitOutcome.WALLED, wall="repeated"))
        self._hear_validators(page, visit)
        return visit

    def _hear_validators(self, page: LeasedPage, visit: PageVisit) -> None:
        """Count how right ETag and Last-Modified were, where the page itself says."""
        copy, verdict, response = page.copy, visit.verdict, visit.response
        whole = verdict.outcome in _SAME or verdict.outcome is VisitOutcome.CHANGED
        if copy is None or not whole or response.address != page.address:
            return
        host, trust, now = page.lease.host, self._trust, validators(response.headers)
        same = verdict.outcome in _SAME and not verdict.share
        if same and copy.etag and now.etag:
            kept = is_same_tag(copy.etag, now.etag)
            trust.count_signal(host, ETAG, **{"right" if kept else "wrong": 1.0})
        if isnan(now.modified):
            return
        if same or verdict.outcome is VisitOutcome.CHANGED:
            before = float(self._crawl.last[page.lease.page]) * SECONDS_A_DAY
            right = is_date_right(
                response, copy, before, visit.at * SECONDS_A_DAY, changed=not same
            )
            if right is not None:
                trust.count_signal(host, MODIFIED, **{"right" if right else "wrong": 1.0})

    async def _with_manifest(self, page: LeasedPage, visit: PageVisit) -> PageVisit:
        """Add the chunks of a new copy, where the settings ask for them."""
        body, copy = visit.verdict.body, visit.verdict.copy
        if body is None or not self._crawl.settings.feed_chunks:
            return visit
        if copy is not None and RobotsTag.NOARCHIVE in copy.robots:
            return visit
        of_page = page.masks if visit.masks is None else visit.masks
        masks = Masks((*self._trust.masks(page.lease.host).masks, *of_page.masks))
        try:
            ready = await self._reader.ready(body, page.address)
            async with self._reader.turn(ready.size, page.address) as run:
                found = await run(partial(_manifest, body, page, masks, ready.convert))
        except Exception:  # noqa: BLE001 - a page whose chunks cannot be told is a copy all the same
            return visit
        return replace(visit, manifest=found)


def _request(page: LeasedPage, copy: Copy | None) -> Request:
    """A request for a page, conditional on the validators of a copy where there is one."""
    etag, modified = "", ""
    if copy is not None:
        etag = copy.etag or ""
        if copy.modified_seconds is not None:
            modified = http_text(copy.modified_seconds)
    return Request(page.address, etag, modified, local=page.rule.local)


def _manifest(body: bytes, page: LeasedPage, masks: Masks, convert: Convert) -> Manifest | None:
    criteria = page.rule.criteria
    content = read_content(body, "", page.address, masks=masks, criteria=criteria, convert=convert)
    return None if content is None else manifest_of(content)
