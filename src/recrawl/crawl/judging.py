"""What an answer says of its page: whether it changed, is gone, or nothing at all.

Only a whole answer with status 200 or 304 says anything of content. Errors, blocks and empty bodies
are not changes.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import isfinite, nan
from typing import TYPE_CHECKING

from recrawl.detect.signatures import Signatures, compared
from recrawl.detect.visible import visible_text
from recrawl.fetch.encodings import decoded
from recrawl.parse.headers import content_type, validators
from recrawl.store.entries import Copy
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import Outcome

if TYPE_CHECKING:
    from recrawl.fetch.fetcher import Answer
    from recrawl.frontier.rules import Rule

_OK, _NOT_MODIFIED = 200, 304
_GONE = frozenset({404, 410})
_PAGES = frozenset({"text/html", "application/xhtml+xml"})
# A page dated this short before its visit was dated by its visit: it is made anew every time.
_MADE_JUST_NOW_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a visit found.

    Args:
        outcome: In one word.
        copy: What is known of the copy from now on; None where that is what was known before.
        age: Days from the last change to the visit; nan where that is unknown.
        body: Bytes worth keeping as a version; None where there are none.
    """

    outcome: Outcome
    copy: Copy | None = None
    age: float = nan
    body: bytes | None = None


def judged(
    address: str,
    answer: Answer,
    known: Copy | None,
    rule: Rule,
    *,
    before: float | None,
    now: float,
) -> Judgement:
    """What an answer says of its page.

    Args:
        address: Address of the page.
        answer: The answer, after all redirects.
        known: What is known of the copy; None where there is none.
        rule: What counts as a change.
        before: Epoch seconds of the visit before; None where there was none.
        now: Epoch seconds of this visit.
    """
    if not answer.ok:
        return Judgement(Outcome.FAILED)
    if answer.status in _GONE:
        return Judgement(Outcome.GONE)
    if answer.status == _NOT_MODIFIED and known is not None:
        return Judgement(Outcome.NOT_MODIFIED, _renewed(known, answer))
    if answer.status != _OK or not answer.body:
        return Judgement(Outcome.FAILED)
    outcome, found = compared(_signatures(known), answer.body, partial(_text, answer, rule))
    copy = _copy(found, answer if answer.address == address else None)
    return Judgement(
        outcome,
        None if copy == known else copy,
        _age(copy, before, now) if outcome is Outcome.CHANGED else nan,
        answer.body if outcome in (Outcome.FIRST, Outcome.CHANGED) else None,
    )


def _signatures(known: Copy | None) -> Signatures | None:
    if known is None:
        return None
    return Signatures(known.bytes_signature, known.text_signature or b"")


def _text(answer: Answer, rule: Rule) -> str:
    """What a reader sees; of what is no page in HTML, all of it."""
    header = answer.headers.get("content-type", "")
    text = decoded(answer.body, header)
    mime = content_type(header)[0]
    if mime in _PAGES or (not mime and text.lstrip()[:1] == "<"):
        return visible_text(text, watch=rule.watch, ignore=rule.ignore)
    return text


def _copy(found: Signatures, answer: Answer | None) -> Copy:
    """A copy with the validators of an answer; none where they are another address's.

    A host that is asked "modified since?" of another page than the copy is of may well say no.
    """
    if answer is None:
        return Copy(found.content, found.text)
    known = validators(answer.headers)
    return Copy(
        bytes_signature=found.content,
        text_signature=found.text,
        etag=known.etag or None,
        modified_seconds=int(known.modified) if isfinite(known.modified) else None,
    )


def _renewed(known: Copy, answer: Answer) -> Copy | None:
    """The copy with the validators that came with "not modified", where they are others."""
    new = validators(answer.headers)
    modified = int(new.modified) if isfinite(new.modified) else known.modified_seconds
    copy = Copy(known.bytes_signature, known.text_signature, new.etag or known.etag, modified)
    return None if copy == known else copy


def _age(copy: Copy, before: float | None, now: float) -> float:
    """Days since the change, where the host's date lies where the change must lie."""
    modified = copy.modified_seconds
    if modified is None or before is None:
        return nan
    if not before <= modified + 1 <= now + 1 or modified > now - _MADE_JUST_NOW_SECONDS:
        return nan
    return max(now - modified, 0.0) / SECONDS_A_DAY
