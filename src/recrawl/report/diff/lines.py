"""What changed between two versions of a page, in lines for a terminal.

Where links lead is told only where that changed; what masks have hidden is a sign, "…"; and what a
terminal would obey is made visible.

Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.detect.diff.differences import Kind, gist
from recrawl.detect.diff.edits import Fate, Run
from recrawl.detect.text.lines import GAP, LINK
from recrawl.report.table import printable, shortened
from recrawl.report.words import percent
from recrawl.units import utc_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from recrawl.detect.diff.differences import Difference, Part, Span
    from recrawl.inspect.versions import Comparison

CONTEXT = 3  # lines that stay the same beside a change

_AROUND = 60  # letters of what is kept of a line beside a change
_TARGET = re.compile(rf"{LINK}\S*+\s?")


@dataclass(frozen=True, slots=True)
class Shown:
    """A line for people.

    Args:
        kind: What became of it; None for a remark.
        runs: What it says.
    """

    kind: Kind | None
    runs: tuple[Run, ...]

    @property
    def marker(self) -> str:
        """The sign that it begins with."""
        return " " if self.kind is None else MARKERS[self.kind]

    def marked(self) -> list[Run]:
        """What it says, words that came and went in brackets where others stayed."""
        if len({run.fate for run in self.runs}) <= 1:
            return list(self.runs)
        return [Run(run.fate, _BRACKETS[run.fate].format(run.text)) for run in self.runs]

    def plain(self) -> str:
        """The line without colours."""
        return " ".join([self.marker, "".join(run.text for run in self.marked())]).rstrip()


MARKERS = {
    Kind.SAME: " ",
    Kind.CHANGED: "~",
    Kind.REMOVED: "-",
    Kind.ADDED: "+",
    Kind.MOVED_AWAY: "<",
    Kind.MOVED: ">",
}
_BRACKETS = {Fate.KEPT: "{}", Fate.REMOVED: "[-{}-]", Fate.ADDED: "{{+{}+}}"}


def heading(comparison: Comparison) -> list[str]:
    """What is compared, and how much of it changed."""
    sides = [
        f"{utc_text(side.at_seconds)} ({side.size:,} bytes)"
        for side in (comparison.old, comparison.new)
    ]
    return [
        printable(comparison.page),
        f"from {sides[0]} to {sides[1]}, UTC",
        summary(comparison.difference, comparison.share),
    ]


def summary(difference: Difference, share: float) -> str:
    """What changed, in one sentence.

    >>> from recrawl.detect.diff.differences import differences
    >>> summary(differences(["a", "b 1"], ["a", "b 2", "c"]), 0.4)
    '40 % of the words changed (edited): 1 line changed, 1 added'
    """
    counted = [
        (difference.lines(kind), kind)
        for kind in (Kind.CHANGED, Kind.ADDED, Kind.REMOVED, Kind.MOVED)
    ]
    found = [f"{count:,} {kind}" for count, kind in counted if count]
    if not found:
        return "nothing that counts has changed"
    count, _, first = found[0].partition(" ")
    found[0] = f"{count} line {first}" if count == "1" else f"{count} lines {first}"
    did = "changed or moved" if difference.lines(Kind.MOVED) else "changed"
    what = gist(difference, share)
    return f"{share_words(share)} of the words {did} ({what}): {', '.join(found)}"


def share_words(share: float) -> str:
    """A share in per cent, where little is not nothing.

    >>> [share_words(0.001), share_words(0.25), share_words(0.0), share_words(float("nan"))]
    ['under 1 %', '25 %', '0 %', '-']
    """
    return "under 1 %" if 0 < share < 0.01 else percent(share)  # noqa: PLR2004 - the 1 % it says


def shown(difference: Difference) -> Iterator[Shown]:
    """Lines for people: what changed, with a few lines beside it that did not."""
    if all(part.kind is Kind.SAME for part in difference.parts):
        return
    last = len(difference.parts) - 1
    passed: set[Span] = set()
    for number, part in enumerate(difference.parts):
        if part.kind is Kind.SAME:
            lines = difference.old[slice(*part.old)]
            yield from _same(lines, above=number > 0, below=number < last)
        elif part.kind is Kind.CHANGED:
            yield from (Shown(part.kind, tuple(near(runs))) for runs in part.edits)
        elif part.kind is Kind.REMOVED:
            yield from _whole(part.kind, Fate.REMOVED, difference.old[slice(*part.old)])
        elif part.kind is Kind.ADDED:
            yield from _whole(part.kind, Fate.ADDED, difference.new[slice(*part.new)])
        else:
            down = (part.old in passed) is (part.kind is Kind.MOVED)
            passed.add(part.old)
            yield from _moved(part, "down" if down else "up")


def readable(text: str, *, targets: bool = False) -> str:
    r"""A text as people read it, harmless to a terminal.

    Args:
        text: The text, of which the targets of links are part.
        targets: Whether to tell where links lead; without any other text it is told anyway.

    Examples:
        >>> readable("Two \x10/bags bags\x1b"), readable("\x10/bags bags", targets=True)
        ('Two bags\\x1b', '→/bags bags')
    """
    if LINK in text:
        bare = _TARGET.sub("", text)
        text = bare if bare.strip() and not targets else text.replace(LINK, "→")
    return printable(text.replace(GAP, "…"))


def targetless(text: str) -> str:
    """A text as people read it, harmless to a terminal, without where its links lead."""
    return printable(_TARGET.sub("", text).replace(GAP, "…"))


def near(runs: Sequence[Run]) -> Iterator[Run]:
    """What became of the words of a line; of much that was kept, what is near a change."""
    last = len(runs) - 1
    for number, run in enumerate(runs):
        changed = run.fate is not Fate.KEPT
        text = readable(run.text, targets=changed) if changed else targetless(run.text)
        if changed or len(text) <= 2 * _AROUND + 1 or not last:
            yield Run(run.fate, text)
            continue
        head = f"{_cut(text)} " if number else ""
        tail = f" {_cut(text[::-1])[::-1]}" if number < last else ""
        yield Run(run.fate, f"{head}…{tail}")


def _cut(text: str) -> str:
    """The beginning of a text, up to the end of a word where there is one."""
    space = text.rfind(" ", _AROUND // 2, _AROUND)
    return text[: space if space > 0 else _AROUND]


def _whole(kind: Kind, fate: Fate, lines: Iterable[str]) -> Iterator[Shown]:
    return (Shown(kind, (Run(fate, readable(line)),)) for line in lines)


def _same(lines: Sequence[str], *, above: bool, below: bool) -> Iterator[Shown]:
    """Lines beside the changes above and below them; how many others there are."""
    head = CONTEXT if above else 0
    tail = CONTEXT if below else 0
    left = len(lines) - head - tail
    if left <= 1:  # to say so would take a line, too
        head, left = len(lines), 0
    yield from map(_beside, lines[:head])
    if left:
        yield _remark(f"... {left:,} lines the same")
        yield from map(_beside, lines[head + left :])


def _beside(line: str) -> Shown:
    """A line that is there to know the place by, so that its beginning is enough."""
    text = readable(line)
    text = text if len(text) <= 2 * _AROUND else f"{_cut(text)} …"
    return Shown(Kind.SAME, (Run(Fate.KEPT, text),))


def _moved(part: Part, way: str) -> Iterator[Shown]:
    """What has moved: where it was its beginning, where it is now all that is worth reading."""
    if len(part.edits) == 1:
        yield Shown(part.kind, (*near(part.edits[0]), Run(Fate.KEPT, f"  (moved {way})")))
        return
    count = f"{len(part.edits):,} lines"
    if part.kind is Kind.MOVED_AWAY:
        beginning = shortened(readable(_old(part.edits[0])), _AROUND)
        yield Shown(part.kind, (Run(Fate.KEPT, f"{count} moved {way}: {beginning}"),))
        return
    yield Shown(part.kind, (Run(Fate.KEPT, f"{count} moved {way}:"),))
    as_they_were = [number for number, runs in enumerate(part.edits) if len(runs) == 1]
    left = [number for number in as_they_were if number >= CONTEXT]
    for number, runs in enumerate(part.edits):
        if len(left) <= 1 or number not in range(left[0], left[-1] + 1) or len(runs) > 1:
            yield Shown(part.kind, tuple(near(runs)))
        elif number == left[0]:
            yield _remark(f"... {len(left):,} more lines as they were")


def _old(runs: Iterable[Run]) -> str:
    return "".join(run.text for run in runs if run.fate is not Fate.ADDED)


def _remark(sentence: str) -> Shown:
    return Shown(None, (Run(Fate.KEPT, sentence),))
