"""The rules of vetting, one page and one visit at a time, with nothing but Python.

What `recrawl.visits.vetting` does to whole columns is written here as a person would do it by
hand, so that the two can be compared on any log.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise

from recrawl.visits.visit import AnswerKind, Flag

SECOND = 1_000_000
DAY = 86_400 * SECOND


@dataclass(frozen=True)
class Look:
    """One visit; instants are whole microseconds."""

    at: int
    changed: bool | None = None
    dated: int | None = None
    answer: AnswerKind = AnswerKind.OK
    digest: str = ""
    back: bool = False  # changed to a version that the page had before


@dataclass
class Story:
    """What the visits of one page show; ages and gaps in days, None where not known."""

    first_visit: int | None = None
    first_age: float | None = None
    gaps: list[tuple[float, bool, float | None]] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    reverted: list[bool] = field(default_factory=list)


def story_of(looks: list[Look], skew: int = 300 * SECOND, resolution: int = SECOND) -> Story:
    """Vet the visits of one page."""
    story = Story()
    looks = sorted(looks, key=lambda look: look.at)
    looks = [look for look in looks if look.answer is not AnswerKind.FAILED]
    looks = _without_absences(looks, story)
    looks = _one_a_moment(looks, resolution)
    looks = _without_stamps(looks, story)
    looks = _compared(_by_size(_from_first_digest(looks)), skew)
    looks = _telling(looks, story, skew)
    if looks:
        _begin(looks[0], story, skew, resolution)
    for before, look in pairwise(looks):
        story.gaps.append(_gap(before, look, story, skew, resolution))
        story.reverted.append(look.back)
        story.flags |= {"reverted"} if look.back else set()
    return story


def _without_absences(looks: list[Look], story: Story) -> list[Look]:
    told: list[Look] = []
    absent: list[Look] = []
    for look in looks:
        if look.answer is AnswerKind.GONE:
            absent += [look] if told else []
            continue
        if absent:
            story.flags.add("returned")
        told, absent = [*told, look], []
    if absent:
        story.flags.add("gone")
    return [*told, *absent[:1]]


def _one_a_moment(looks: list[Look], resolution: int) -> list[Look]:
    merged: list[Look] = []
    for look in looks:
        if merged and merged[-1].at // resolution == look.at // resolution:
            merged[-1] = _both(merged[-1], look)
        else:
            merged.append(look)
    return merged


def _both(one: Look, other: Look) -> Look:
    known = [flag for flag in (one.changed, other.changed) if flag is not None]
    dates = [date for date in (one.dated, other.dated) if date is not None]
    return replace(
        one,
        changed=any(known) if known else None,
        dated=max(dates, default=None),
        answer=max(one.answer, other.answer),
        digest=other.digest or one.digest,
    )


def _from_first_digest(looks: list[Look]) -> list[Look]:
    for number, look in enumerate(looks):
        if look.digest:
            return looks[number:]
        if look.changed is not None or look.dated is not None or look.answer is not AnswerKind.OK:
            return looks
    return looks


def _by_size(looks: list[Look]) -> list[Look]:
    """What sizes say: new ones are changes."""
    found = []
    seen: set[str] = set()
    for look in looks:
        if not look.digest.startswith("size:"):
            found.append(look)
            continue
        differs = look.digest not in seen if seen else None
        if look.answer is AnswerKind.GONE:
            found.append(replace(look, digest=""))
            continue
        changed = differs if look.changed is None else look.changed
        found.append(replace(look, changed=changed, digest=""))
        seen.add(look.digest)
    return found


def _compared(looks: list[Look], skew: int) -> list[Look]:
    """What digests say, where nothing else does."""
    found, known, seen, version, at = [], False, set(), "", 0
    for look in looks:
        digest = "" if look.answer is AnswerKind.GONE else look.digest
        if not digest:
            dated = (
                look.changed is None
                and look.answer is AnswerKind.OK
                and look.dated is not None
                and known
                and at < look.dated <= look.at + skew
            )
            version = "" if look.changed or dated else version
            found.append(look)
            continue
        differs = bool(version) and version != digest
        changed = look.changed
        if changed is None and version:
            changed = differs
        found.append(
            replace(look, changed=changed, back=bool(changed and differs and digest in seen))
        )
        seen.add(digest)
        version, known, at = digest, True, look.at
    return found


def _without_stamps(looks: list[Look], story: Story) -> list[Look]:
    ages = [look.at - look.dated for look in looks if look.dated is not None][-10:]
    young = [age for age in ages if age < 2 * SECOND]
    if len(ages) < 5 or 10 * len(young) < 8 * len(ages):
        return looks
    story.flags.add("lm_generated")
    return [replace(look, dated=None) for look in looks]


def _telling(looks: list[Look], story: Story, skew: int) -> list[Look]:
    telling = looks[:1]
    for look in looks[1:]:
        if look.changed is None and look.answer is AnswerKind.OK:
            if look.dated is None:
                continue
            if look.dated > look.at + skew:
                story.flags.add("lm_future")
                continue
        telling.append(look)
    return telling


def _begin(first: Look, story: Story, skew: int, resolution: int) -> None:
    story.first_visit = first.at
    if first.dated is None:
        return
    if first.dated > first.at + skew:
        story.flags.add("lm_future")
    elif first.dated > first.at:
        story.first_age = resolution / DAY
    else:
        story.first_age = (first.at - first.dated) / DAY


def _gap(  # noqa: PLR0911 - the table has as many rows
    before: Look, look: Look, story: Story, skew: int, resolution: int
) -> tuple[float, bool, float | None]:
    gap = (look.at - before.at) / DAY
    if look.answer is AnswerKind.GONE:
        return gap, True, None
    date = look.dated
    same = look.changed is False or (
        look.changed is None and look.answer is AnswerKind.NOT_MODIFIED
    )
    if same:
        if date is not None and date > before.at:
            story.flags.add("lm_touch")
        return gap, False, None
    if look.changed is None and date is not None and date <= before.at:
        return gap, False, None
    if date is None:
        return gap, True, None
    if date <= before.at:
        story.flags.add("lm_stale")
        return gap, True, None
    if date > look.at + skew:
        story.flags.add("lm_future")
        return gap, True, None
    if date > look.at:
        story.flags.add("lm_skew")
        return gap, True, min(resolution / DAY, gap / 2)
    return gap, True, (look.at - date) / DAY


def flags_of(bits: int) -> set[str]:
    """Names of the flags set in `bits`."""
    return {str(flag.name).lower() for flag in Flag if bits & flag}
