"""Places of a page that masks are for: part of a line, lines between others, lines in any order.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from xxhash import xxh3_64_hexdigest

from recrawl.detect.masks.hunks import link_directory
from recrawl.detect.masks.templates import merged
from recrawl.detect.text.lines import GAP

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Sequence

    from recrawl.detect.diff.patience import Hunk
    from recrawl.detect.masks.templates import Template

# Of a longer line that stands before or after a place, a signature is kept.
KEPT_LENGTH = 80
# So many lines with one template, all of them new at each fetch, show that all such lines are.
EVERYWHERE = 3
MANY_KINDS = 5  # of links: beyond, there is no telling what else may come
_MOST_CONTEXT = 4  # lines, where one is there more than once
_MOST_LINES = 200  # more lines than this are no place but a page


@dataclass(frozen=True, slots=True)
class Part:
    """Part of a line.

    Args:
        template: The line.
        before: Line before it; empty at the top.
        after: Line after it; empty at the end.
        lines: How many lines with this template were there when all of them differed; only one of
            the lines beside it tells where it is if this is 0.
    """

    kind: ClassVar[str] = "part"
    template: Template
    before: str
    after: str
    lines: int

    @property
    def name(self) -> tuple[str, ...]:
        """What it is told from others by."""
        return (self.kind, *self.template.pieces)

    def grown(self, hidden: Sequence[str]) -> Part:
        """The part after it was seen to hide this."""
        template = replace(
            self.template,
            longest=max(self.template.longest, *map(len, hidden)),
            spaces=max(self.template.spaces, *(text.count(" ") for text in hidden)),
        )
        return replace(self, template=template)

    def joined(self, other: Place) -> Part | None:
        """A part for both, if they are parts of what may be one line."""
        if not isinstance(other, Part):
            return None
        beside = self.before == other.before or self.after == other.after
        if self.template.pieces != other.template.pieces and not (
            beside or (self.lines and other.lines)
        ):
            return None
        template = merged(self.template, other.template)
        if template is None:
            return None
        return Part(template, other.before, other.after, min(self.lines, other.lines))


@dataclass(frozen=True, slots=True)
class Run:
    """Lines between two others.

    Args:
        kind: "run" where other lines may come, "order" where the same come in another order.
        before: Lines before them, the nearest last; none at the top.
        after: Lines after them, the nearest first; none at the end.
        least: Fewest lines seen.
        most: Most lines seen.
        longest: Most letters of a line seen.
        only: Signature of the lines where these come and go; empty where others may come.
        links: Kinds of links that lines began with; where there were many, any may come.
    """

    kind: Literal["run", "order"]
    before: tuple[str, ...]
    after: tuple[str, ...]
    least: int
    most: int
    longest: int
    only: str = ""
    links: tuple[str, ...] = ()

    @property
    def name(self) -> tuple[str, ...]:
        """What it is told from others by."""
        return ("run", *self.before, GAP, *self.after)

    def grown(self, hidden: Sequence[str]) -> Run:
        """The run after it was seen to hide this."""
        lines = [text.split("\n") if text else [] for text in hidden]
        counts = list(map(len, lines))
        every = [line for each in lines for line in each]
        return replace(
            self,
            least=min(self.least, *counts),
            most=max(self.most, *counts),
            longest=max(self.longest, *map(len, every), 0),
            links=_kinds(self.links, every),
        )

    def joined(self, other: Place) -> Run | None:
        """A run for both, if they are at one place."""
        if not isinstance(other, Run) or self.name != other.name:
            return None
        return _united(self, other)

    def moved(self, other: Place) -> Run | None:
        """The other with what was seen of this, if a line beside this has become another."""
        if not isinstance(other, Run):
            return None
        beside = self.before == other.before or self.after == other.after
        return _united(other, self) if beside else None


Place = Part | Run


def _united(run: Run, other: Run) -> Run:
    """A run that may hide what the other may."""
    return replace(
        run,
        kind=run.kind if run.kind == other.kind else "run",
        least=min(run.least, other.least),
        most=max(run.most, other.most),
        longest=max(run.longest, other.longest),
        only=run.only if run.only == other.only else "",
        links=_fewest(run.links + other.links),
    )


def part_at(template: Template, lines: Sequence[str], index: int, fitting: int) -> Part:
    """A part of the line with an index."""
    before = shortened(lines[index - 1]) if index else ""
    after = shortened(lines[index + 1]) if index + 1 < len(lines) else ""
    return Part(template, before, after, fitting)


def run_at(
    first: Sequence[str], second: Sequence[str], hunk: Hunk, counts: Counter[str]
) -> Run | None:
    """The lines of a hunk; None where they are too many for a place.

    Args:
        first: Lines of the first reading.
        second: Lines of the second.
        hunk: Where they differ.
        counts: How often each line is in the first.
    """
    one = first[hunk.start : hunk.end]
    other = second[hunk.new_start : hunk.new_end]
    if max(len(one), len(other)) > _MOST_LINES:
        return None
    if max(len(one), len(other)) == max(len(first), len(second)):
        return None  # nothing stands beside it
    up = 0
    while up < min(_MOST_CONTEXT, hunk.start, hunk.new_start) and (
        first[hunk.start - up - 1] == second[hunk.new_start - up - 1]
    ):
        up += 1
    down = 0
    while down < min(_MOST_CONTEXT, len(first) - hunk.end, len(second) - hunk.new_end) and (
        first[hunk.end + down] == second[hunk.new_end + down]
    ):
        down += 1
    before = _telling(first[hunk.start - up : hunk.start][::-1], counts)[::-1]
    after = _telling(first[hunk.end : hunk.end + down], counts)
    return Run(
        kind="order" if len(one) > 1 and sorted(one) == sorted(other) else "run",
        before=tuple(map(shortened, before)),
        after=tuple(map(shortened, after)),
        least=min(len(one), len(other)),
        most=max(len(one), len(other)),
        longest=max(map(len, (*one, *other))),
        only="" if one and other else signed(one or other),
        links=_kinds((), (*one, *other)),
    )


def shortened(line: str) -> str:
    """A line to be told again by: itself, or its beginning and a signature.

    >>> shortened("short"), shortened("long " * 30).replace(GAP, "...")
    ('short', 'long long long long long long long long ...0933cde048b7f311')
    """
    if len(line) <= KEPT_LENGTH:
        return line
    digest = xxh3_64_hexdigest(line.encode(errors="surrogatepass"))
    return f"{line[: KEPT_LENGTH // 2]}{GAP}{digest}"


def signed(lines: Sequence[str]) -> str:
    """A signature of lines; empty for none."""
    return xxh3_64_hexdigest("\n".join(lines).encode(errors="surrogatepass")) if lines else ""


def _kinds(known: tuple[str, ...], lines: Iterable[str]) -> tuple[str, ...]:
    """Kinds of links, with those that lines begin with."""
    return _fewest((*known, *filter(None, map(link_kind, lines))))


def link_kind(line: str) -> str:
    """The kind of link that a line begins with, cut to a length; empty for none."""
    return link_directory(line)[: KEPT_LENGTH // 2]


def _fewest(kinds: Iterable[str]) -> tuple[str, ...]:
    """Kinds of links, each once; as many as show that there are many."""
    return tuple(dict.fromkeys(kinds))[:MANY_KINDS]


def _telling(lines: Sequence[str], counts: Counter[str]) -> Sequence[str]:
    """The nearest line, and more until one of them is there once."""
    for index, line in enumerate(lines):
        if counts[line] == 1:
            return lines[: index + 1]
    return lines
