"""Places of a page that masks blank: part of a line, or a block of lines between two others.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from xxhash import xxh3_64_hexdigest

from recrawl.detect.masks.hunks import link_directory
from recrawl.detect.masks.templates import merge_templates
from recrawl.detect.text.lines import GAP

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Sequence

    from recrawl.detect.diff.patience import Hunk
    from recrawl.detect.masks.templates import Template

# A longer line beside a place is kept as its beginning and a hash.
KEPT_LENGTH = 80
# If so many lines with one template are all new at each fetch, all such lines are.
EVERYWHERE = 3
MANY_DIRECTORIES = 5  # of links: a block that had so many may hold any
_MOST_CONTEXT = 4  # lines to locate a block by, where the nearest is not unique
MANY_TEXTS = 4  # of a block: one that had so many may have any
_OFTEN = 2  # times that each of fewer texts was seen, on average, for them to be all there are
_MOST_TIMES = 1 << 20
_SENTENCE_ENDS = (".", "!", "?", "\u2026", "\u3002", "\uff01", "\uff1f", "\u061f", "\u0964")
_CLOSING = "\"')]\u2019\u201d\u00bb\u300d "
_MOST_LINES = 200  # a larger block is no place but a page


@dataclass(frozen=True, slots=True)
class LinePart:
    """LinePart of a line.

    Args:
        template: Template of the line.
        before: Line before it; empty at the top.
        after: Line after it; empty at the end.
        lines: Number of lines with this template, all of which differed; 0 if other lines have it,
            too, so that only a line beside it locates it.
    """

    kind: ClassVar[str] = "part"
    template: Template
    before: str
    after: str
    lines: int

    @property
    def name(self) -> tuple[str, ...]:
        """Identity of the place."""
        return (self.kind, *self.template.pieces)

    def grown(self, hidden: Sequence[str]) -> LinePart:
        """The part, wide enough for texts that it was seen to hide."""
        template = replace(
            self.template,
            longest=max(self.template.longest, *map(len, hidden)),
            spaces=max(self.template.spaces, *(text.count(" ") for text in hidden)),
        )
        return replace(self, template=template)

    def joined(self, other: Place) -> LinePart | None:
        """A part that covers both; None if they cannot be parts of one line."""
        if not isinstance(other, LinePart):
            return None
        beside = self.before == other.before or self.after == other.after
        if self.template.pieces != other.template.pieces and not (
            beside or (self.lines and other.lines)
        ):
            return None
        template = merge_templates(self.template, other.template)
        if template is None:
            return None
        return LinePart(template, other.before, other.after, min(self.lines, other.lines))


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Block of lines between two others.

    Args:
        kind: "run" where other lines may come, "order" where the same lines come in any order.
        before: Lines before them, the nearest last; none at the top.
        after: Lines after them, the nearest first; none at the end.
        least: Fewest lines seen.
        most: Most lines seen.
        longest: Letters of the longest line seen.
        only: Signature of its lines if it is either there with these lines or empty; else empty.
        links: Directories of links that its lines began with; if there were many, any may come.
        times: How often its lines were seen; 0 where nobody counted.
        texts: Signatures of its lines, each once; if there were many, any may come.
        endings: How single lines ended: "s" as sentences do, "o" otherwise; empty if unknown.
    """

    kind: Literal["run", "order"]
    before: tuple[str, ...]
    after: tuple[str, ...]
    least: int
    most: int
    longest: int
    only: str = ""
    links: tuple[str, ...] = ()
    times: int = 0
    texts: tuple[str, ...] = ()
    endings: str = ""

    @property
    def has_few_texts(self) -> bool:
        """Whether it has one of a few texts, all of which have been seen.

        Other lines are not its own then: some were added beside it, or others have taken its place.
        """
        return (
            self.kind == "run"
            and len(self.texts) < MANY_TEXTS
            and self.times >= _OFTEN * len(self.texts) > 0
        )

    @property
    def name(self) -> tuple[str, ...]:
        """Identity of the place."""
        return ("run", *self.before, GAP, *self.after)

    def grown(self, hidden: Sequence[str]) -> LineBlock:
        """The block, wide enough for lines that it was seen to hide."""
        lines = [text.split("\n") if text else [] for text in hidden]
        counts = list(map(len, lines))
        every = [line for each in lines for line in each]
        return replace(
            self,
            least=min(self.least, *counts),
            most=max(self.most, *counts),
            longest=max(self.longest, *map(len, every), 0),
            links=_link_directories(self.links, every),
            times=min(self.times + len(lines), _MOST_TIMES) if self.times else 0,
            texts=_different((*self.texts, *map(lines_signature, lines))) if self.times else (),
            endings=line_endings(every, self.endings) if self.times else "",
        )

    def joined(self, other: Place) -> LineBlock | None:
        """A block that covers both; None if they are not at one place."""
        if not isinstance(other, LineBlock) or self.name != other.name:
            return None
        return _union(self, other)

    def moved(self, other: Place) -> LineBlock | None:
        """The other block with what this one was seen to hold; None if they share no neighbour."""
        if not isinstance(other, LineBlock):
            return None
        beside = self.before == other.before or self.after == other.after
        return _union(other, self) if beside else None


Place = LinePart | LineBlock


def _union(block: LineBlock, other: LineBlock) -> LineBlock:
    """A block that may hide what either may."""
    return replace(
        block,
        kind=block.kind if block.kind == other.kind else "run",
        least=min(block.least, other.least),
        most=max(block.most, other.most),
        longest=max(block.longest, other.longest),
        only=block.only if block.only == other.only else "",
        links=_distinct(block.links + other.links),
        times=min(block.times + other.times, _MOST_TIMES) if block.times and other.times else 0,
        texts=_different(block.texts + other.texts) if block.times and other.times else (),
        endings="".join(sorted({*block.endings, *other.endings}))
        if block.times and other.times
        else "",
    )


def line_part_at(template: Template, lines: Sequence[str], index: int, fitting: int) -> LinePart:
    """The place of a template in the line with an index."""
    before = line_key(lines[index - 1]) if index else ""
    after = line_key(lines[index + 1]) if index + 1 < len(lines) else ""
    return LinePart(template, before, after, fitting)


def line_block_at(
    first: Sequence[str], second: Sequence[str], hunk: Hunk, counts: Counter[str]
) -> LineBlock | None:
    """The lines of a hunk as a block; None where there are too many.

    Args:
        first: Lines of the first fetch.
        second: Lines of the second.
        hunk: Where they differ.
        counts: How often the first fetch has each line.
    """
    one = first[hunk.start : hunk.end]
    other = second[hunk.new_start : hunk.new_end]
    if max(len(one), len(other)) > _MOST_LINES:
        return None
    if max(len(one), len(other)) == max(len(first), len(second)):
        return None  # no line beside it locates it
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
    before = _up_to_unique(first[hunk.start - up : hunk.start][::-1], counts)[::-1]
    after = _up_to_unique(first[hunk.end : hunk.end + down], counts)
    return LineBlock(
        kind="order" if len(one) > 1 and sorted(one) == sorted(other) else "run",
        before=tuple(map(line_key, before)),
        after=tuple(map(line_key, after)),
        least=min(len(one), len(other)),
        most=max(len(one), len(other)),
        longest=max(map(len, (*one, *other))),
        only="" if one and other else lines_signature(one or other),
        links=_link_directories((), (*one, *other)),
        times=2,
        texts=_different(map(lines_signature, (one, other))),
        endings=line_endings((*one, *other)),
    )


def line_key(line: str) -> str:
    """A line as it is kept to be found again: itself, or its beginning and a hash.

    >>> line_key("short"), line_key("long " * 30).replace(GAP, "...")
    ('short', 'long long long long long long long long ...0933cde048b7f311')
    """
    if len(line) <= KEPT_LENGTH:
        return line
    digest = xxh3_64_hexdigest(line.encode(errors="surrogatepass"))
    return f"{line[: KEPT_LENGTH // 2]}{GAP}{digest}"


def lines_signature(lines: Sequence[str]) -> str:
    """64-bit hash of lines in hexadecimal; empty for no lines."""
    return xxh3_64_hexdigest("\n".join(lines).encode(errors="surrogatepass")) if lines else ""


def _link_directories(known: tuple[str, ...], lines: Iterable[str]) -> tuple[str, ...]:
    """Directories of links, with those of the links that lines begin with."""
    return _distinct((*known, *filter(None, map(short_link_directory, lines))))


def short_link_directory(line: str) -> str:
    """Directory of the link that a line begins with, cut to a length; empty for none."""
    return link_directory(line)[: KEPT_LENGTH // 2]


def _distinct(kinds: Iterable[str]) -> tuple[str, ...]:
    """Directories without repeats; at most as many as show that there are many."""
    return tuple(dict.fromkeys(kinds))[:MANY_DIRECTORIES]


def line_endings(lines: Iterable[str], known: str = "") -> str:
    """How lines end, besides what is known: "s" as sentences do, "o" otherwise.

    >>> line_endings(("It rains.", "Contact us")), line_endings(("Who?",), "s")
    ('os', 's')
    """
    found = ("s" if line.rstrip(_CLOSING).endswith(_SENTENCE_ENDS) else "o" for line in lines)
    return "".join(sorted({*found, *known}))


def _different(texts: Iterable[str]) -> tuple[str, ...]:
    """Texts without repeats; at most as many as show that there are many."""
    return tuple(dict.fromkeys(texts))[:MANY_TEXTS]


def _up_to_unique(lines: Sequence[str], counts: Counter[str]) -> Sequence[str]:
    """The nearest lines, up to the first unique one."""
    for index, line in enumerate(lines):
        if counts[line] == 1:
            return lines[: index + 1]
    return lines
