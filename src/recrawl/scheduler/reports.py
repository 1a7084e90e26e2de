"""What somebody else's crawler says of a visit, judged: whether the page changed, is gone, moved.

A crawler says as much as it knows. It may have compared the page itself (`changed`), hand over a
digest, or all of the response; a response is judged as our own crawler judges one, but for the
second requests that tell what differs by itself on a page.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from math import inf, isfinite, nan
from typing import TYPE_CHECKING, TypeAlias

from xxhash import xxh3_64_digest

from recrawl.detect.masks.masks import NO_MASKS
from recrawl.detect.reading import read_response
from recrawl.detect.verdict import (
    PageFacts,
    Verdict,
    verdict_by_content,
    verdict_by_signature,
    verdict_unread,
    with_lasting_validators,
    with_robots_tags,
)
from recrawl.entries.entries import Copy
from recrawl.errors import InvalidParameter
from recrawl.extract import manifest_of, read_content
from recrawl.parse.addresses import canonical
from recrawl.parse.headers import validators
from recrawl.parse.messages import MOST_HEADERS, Response
from recrawl.parse.robots_tags import NO_TAGS, RobotsTags, read_robots_tags
from recrawl.visits.status import RobotsTag, VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from recrawl.detect.masks.masks import Masks
    from recrawl.entries.manifests import Manifest
    from recrawl.settings.rules import Rule

Headers: TypeAlias = "Mapping[str, str] | Iterable[tuple[str, str]]"

_OK, _NOT_MODIFIED = 200, 304
_MOVED = frozenset({301, 308})
_STATUSES = range(100, 600)
_UNSIGNED = bytes(8)  # the signature of a copy that nobody gave us


@dataclass(frozen=True, slots=True)
class Report:
    """What a crawler says of a visit.

    Args:
        changed: Whether the page had changed; None where that is for us to tell.
        outcome: What became of it, where that is known; None where it is for us to tell.
        digest: What differs if the page does.
        response: What was answered; None where nothing is said of it.
        body: Whether the response's body was handed over.
        age: Days since the page changed; nan where that is unknown.
    """

    changed: bool | None = None
    outcome: VisitOutcome | None = None
    digest: str | bytes | None = None
    response: Response | None = None
    body: bool = False
    age: float = nan


@dataclass(frozen=True, slots=True)
class KnownPage:
    """What is known of a page before a visit.

    Args:
        address: Its address.
        first: Whether there is no copy of it.
        copy: Signatures and validators of the copy; None where there are none.
        rule: What is asked for it.
        old_body: Gives the version that is kept; None where none is.
        masks: What differs by itself on it.
        before: Epoch seconds of the visit before; None where there was none.
        keeps: Whether versions are kept.
    """

    address: str
    first: bool
    copy: Copy | None
    rule: Rule
    old_body: Callable[[], bytes | None]
    masks: Masks = NO_MASKS
    before: float | None = None
    keeps: bool = True


def outcome_of(outcome: VisitOutcome | str | None) -> VisitOutcome | None:
    """An outcome by its name.

    >>> outcome_of("gone")
    <VisitOutcome.GONE: 4>
    """
    if outcome is None or isinstance(outcome, VisitOutcome):
        return outcome
    names = {each.label: each for each in VisitOutcome}
    if outcome not in names:
        raise InvalidParameter(f"outcome must be one of {', '.join(names)} (got {outcome!r})")
    return names[outcome]


def address_of(text: str) -> str:
    """An address in its canonical form; `InvalidParameter` for what is none."""
    found = canonical(text)
    if found is None:
        message = f"{text!r} is not an address; write it like https://example.org/news"
        raise InvalidParameter(message)
    return found


def response_of(
    address: str, status: int | None, headers: Headers | None, body: bytes | str = b""
) -> Response:
    """A response of plain things; `InvalidParameter` for what is none.

    A body that is text already, as a browser gives it, is taken for HTML.

    >>> response_of("https://a.org/", 301, {"Location": "/b"}).target
    'https://a.org/b'
    """
    status = _OK if status is None else status
    if status not in _STATUSES:
        raise InvalidParameter(f"status must be that of a response, 100 to 599 (got {status!r})")
    found = _plain_headers(headers)
    if isinstance(body, str):
        body = body.encode(errors="replace")
        found["content-type"] = "text/html; charset=utf-8"
    if not isinstance(body, bytes):
        raise InvalidParameter(f"body must be bytes or text (got {type(body).__name__})")
    target = canonical(found.get("location", ""), address) if status in _MOVED else None
    return Response(address, status, found, body, target=target or "")


def report_of(
    address: str,
    report: Report,
    *,
    status: int | None = None,
    headers: Headers | None = None,
    body: bytes | str | None = None,
    url: str | None = None,
) -> Report:
    """A report with the response that comes with it, if anything is said of one.

    >>> report_of("https://a.org/", Report(), status=404).response.status
    404
    """
    if all(each is None for each in (status, headers, body, url)):
        return report
    answered = address if url is None else address_of(url)
    response = response_of(answered, status, headers, body or b"")
    return replace(report, response=response, body=body is not None)


def judge(report: Report, page: KnownPage, agent: str, at: float) -> Verdict:
    """What a report says of a page.

    Args:
        report: The report.
        page: What is known of the page.
        agent: Name of the crawler, which robots tags may name.
        at: Epoch seconds of the visit.

    Raises:
        InvalidParameter: The report does not say what became of the page.
    """
    try:
        verdict = _judged(report, page, agent, at)
    except InvalidParameter:
        raise
    except Exception:  # noqa: BLE001 - no page, whatever it holds, may end a crawl
        return Verdict(VisitOutcome.FAILED)
    outcome = verdict.outcome
    if page.first and outcome.compared:
        outcome = VisitOutcome.FIRST
    elif not page.first and outcome is VisitOutcome.FIRST:
        # A copy that was never handed over: the next visit has something to compare with.
        outcome = VisitOutcome.SAME
    if isfinite(report.age):
        verdict = replace(verdict, age=report.age)
    return replace(verdict, outcome=outcome)


def manifest_in(verdict: Verdict, page: KnownPage) -> Manifest | None:
    """Chunks of a new copy; None where there is none, or where no copy of it may be kept."""
    body, copy = verdict.body, verdict.copy
    if body is None or (copy is not None and RobotsTag.NOARCHIVE in copy.robots):
        return None
    try:
        criteria = page.rule.criteria
        content = read_content(body, "", page.address, masks=page.masks, criteria=criteria)
        return None if content is None else manifest_of(content)
    except Exception:  # noqa: BLE001 - a page whose chunks cannot be told is a copy all the same
        return None


def _judged(report: Report, page: KnownPage, agent: str, at: float) -> Verdict:
    response = report.response
    if report.outcome is not None:
        return Verdict(report.outcome)
    if report.changed is not None or report.digest is not None:
        return _compared_elsewhere(report, page)
    if response is None:
        if page.first:
            return Verdict(VisitOutcome.FIRST)
        raise InvalidParameter(
            f"{page.address}: say whether it has changed, or a status, a digest, a body or an "
            "outcome"
        )
    if response.target:
        return Verdict(VisitOutcome.MOVED)
    if response.status == _NOT_MODIFIED and page.first:
        raise InvalidParameter(
            f"{page.address}: there is no copy of it yet that could be not modified (status 304)"
        )
    if response.status == _OK and not report.body:
        if page.first:
            return Verdict(VisitOutcome.FIRST, copy=_signed(_UNSIGNED, response))
        raise InvalidParameter(
            f"{page.address}: say whether it has changed, or a body or a digest to compare with"
        )
    return _judge_response(response, page, agent, at)


def _compared_elsewhere(report: Report, page: KnownPage) -> Verdict:
    """The verdict of a crawler that compares pages itself, or by a digest."""
    signature, known = _UNSIGNED, page.copy
    changed = report.changed
    if report.digest is not None:
        text = report.digest
        signature = xxh3_64_digest(text.encode() if isinstance(text, str) else text)
        if changed is None:
            has_old = known is not None and known.bytes_signature != _UNSIGNED
            changed = has_old and known is not None and known.bytes_signature != signature
    elif known is not None and not changed:
        signature = known.bytes_signature
    outcome = VisitOutcome.CHANGED if changed else VisitOutcome.SAME
    copy = _signed(signature, report.response)
    if not changed and known is not None and report.response is None:
        # Nothing was said of validators: those of the copy hold on.
        copy = replace(known, bytes_signature=signature)
    return Verdict(outcome, copy=None if copy == known else copy)


def _signed(signature: bytes, response: Response | None) -> Copy:
    """A copy with the validators of a response."""
    known = validators({} if response is None else response.headers)
    modified = int(known.modified) if isfinite(known.modified) else None
    return Copy(signature, None, known.etag or None, modified)


def _judge_response(response: Response, page: KnownPage, agent: str, at: float) -> Verdict:
    """The verdict on a response, in the steps of `recrawl.detect.verdict`."""
    tags = _tags(response, page, agent)
    copy, address, criteria = page.copy, page.address, page.rule.criteria
    if response.status == _NOT_MODIFIED and copy is None:
        return Verdict(VisitOutcome.NOT_MODIFIED)
    settled = verdict_unread(address, response, copy)
    if settled is None:
        keeps = page.keeps and RobotsTag.NOARCHIVE not in tags.at(at)
        known = PageFacts(copy, page.masks, page.before, keeps=keeps)
        read = read_response(response, criteria)
        settled = verdict_by_signature(address, response, read, known)
    if settled is None:
        body = page.old_body() if copy is not None else None
        old = None if body is None else read_response(response, criteria, body)
        settled = verdict_by_content(address, response, read, known, criteria, old=old, at=at)
    settled = with_lasting_validators(settled, response, at)
    return with_robots_tags(settled, tags, copy, at)


def _tags(response: Response, page: KnownPage, agent: str) -> RobotsTags:
    """What a page asks, where that is heeded; a 304 only adds to what the page has said."""
    if not page.rule.robots_tags:
        return NO_TAGS
    tags = read_robots_tags(response, agent)
    if response.status != _NOT_MODIFIED or page.copy is None:
        return tags
    after = page.copy.unavailable_after_seconds
    return tags | RobotsTags(page.copy.robots, inf if after is None else after)


def _plain_headers(headers: Headers | None) -> dict[str, str]:
    """Headers by lower-case name, without control characters, no more than are worth reading."""
    if headers is None:
        return {}
    items = headers.items() if hasattr(headers, "items") else headers
    found: dict[str, str] = {}
    for name, value in islice(items, MOST_HEADERS):
        text = "".join(filter(str.isprintable, str(value)))
        key = str(name).lower()
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found
