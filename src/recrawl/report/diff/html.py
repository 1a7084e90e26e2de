"""What changed between two versions of a page, as a page in HTML.

It needs nothing but itself, runs nothing and loads nothing: it may be mailed, kept and opened
anywhere, whatever the versions hold. Both stand side by side where there is room, and below each
other on a phone.

Pure.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape
from typing import TYPE_CHECKING

from recrawl.detect.diff.differences import Kind
from recrawl.detect.diff.edits import Fate
from recrawl.report.diff.lines import CONTEXT, readable, summary, targetless
from recrawl.report.diff.style import STYLE
from recrawl.units import utc_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from recrawl.detect.diff.differences import Difference, Part, Span
    from recrawl.detect.diff.edits import Run
    from recrawl.inspect.versions import Comparison, Side

_BESIDE = (Kind.SAME, Kind.CHANGED)
_OLD_SIDE = (Kind.REMOVED, Kind.MOVED_AWAY)


def difference_page(comparison: Comparison) -> str:
    """The whole page."""
    address = escape(readable(comparison.page))
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    sides = _side("From", comparison.old) + _side("To", comparison.new)
    what = escape(summary(comparison.difference, comparison.share))
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer">',
            f"<title>What changed: {address}</title>",
            f"<style>{STYLE}</style>",
            "</head>",
            "<body>",
            "<header>",
            f"<h1>{_link(comparison.page, address)}</h1>",
            f"<p>{what}.</p>",
            "</header>",
            f'<div class="pair sides">{sides}</div>',
            "<main>",
            *_rows(comparison.difference),
            "</main>",
            "</body>",
            "</html>",
        ]
    )


def _link(page: str, address: str) -> str:
    if not page.startswith(("http://", "https://")):
        return address
    return f'<a href="{escape(page)}" rel="noreferrer noopener">{address}</a>'


def _side(name: str, side: Side) -> str:
    at = utc_text(side.at_seconds)
    return f"<div><b>{name}</b> {at} UTC <small>{side.size:,} bytes</small></div>"


def _rows(difference: Difference) -> Iterator[str]:
    """All parts: what is the same across, what changed beside each other."""
    last = len(difference.parts) - 1
    passed: set[Span] = set()
    old_side: list[str] = []
    new_side: list[str] = []
    for number, part in enumerate(difference.parts):
        if part.kind in _OLD_SIDE:
            old_side.append(_block(part, difference, passed))
        elif part.kind not in _BESIDE:
            new_side.append(_block(part, difference, passed))
        else:
            yield from _pair(old_side, new_side)
            old_side, new_side = [], []
            if part.kind is Kind.SAME:
                lines = difference.old[slice(*part.old)]
                yield from _same(lines, above=number > 0, below=number < last)
            else:
                for runs in part.edits:
                    yield from _pair([_words(runs, Fate.REMOVED)], [_words(runs, Fate.ADDED)])
    yield from _pair(old_side, new_side)


def _pair(old_side: Sequence[str], new_side: Sequence[str]) -> Iterator[str]:
    if old_side or new_side:
        old, new = "".join(old_side), "".join(new_side)
        yield f'<div class="pair"><div class="old">{old}</div><div class="new">{new}</div></div>'


def _block(part: Part, difference: Difference, passed: set[Span]) -> str:
    """A part that stands on one side only."""
    if part.kind is Kind.REMOVED:
        return "".join(_line("removed", line) for line in difference.old[slice(*part.old)])
    if part.kind is Kind.ADDED:
        return "".join(_line("added", line) for line in difference.new[slice(*part.new)])
    here = part.kind is Kind.MOVED
    down = (part.old in passed) is here
    passed.add(part.old)
    name = f"moved-{part.old[0]}"
    fate = Fate.ADDED if here else Fate.REMOVED
    what = f"Moved {'down' if down else 'up'} {'to' if here else 'from'} here"
    arrow = "↓" if down is not here else "↑"
    goal, label = (name, "where it was") if here else (f"{name}-now", "where it is now")
    return (
        f'<div class="moved" id="{name}{"-now" if here else ""}">'
        f'<p class="way">{what} <a href="#{goal}">{arrow} {label}</a></p>'
        + "".join(_words(runs, fate) for runs in part.edits)
        + "</div>"
    )


def _same(lines: Sequence[str], *, above: bool, below: bool) -> Iterator[str]:
    """Lines beside the changes above and below them; the others can be unfolded."""
    head = CONTEXT if above else 0
    tail = len(lines) - (CONTEXT if below else 0)
    if tail - head <= 1:
        head = tail = len(lines)
    yield from (_line("same", line) for line in lines[:head])
    if tail > head:
        yield f"<details><summary>{tail - head:,} lines the same</summary>"
        yield from (_line("same", line) for line in lines[head:tail])
        yield "</details>"
    yield from (_line("same", line) for line in lines[tail:])


def _line(name: str, line: str) -> str:
    text = escape(readable(line))
    tag = {"removed": "del", "added": "ins"}.get(name)
    return _paragraph(name, f"<{tag}>{text}</{tag}>" if tag else text)


def _words(runs: Iterable[Run], fate: Fate) -> str:
    """One side of a line: what was kept of its words, and what came or went."""
    tag = "ins" if fate is Fate.ADDED else "del"
    parts = [
        escape(targetless(run.text))
        if run.fate is Fate.KEPT
        else f"<{tag}>{escape(readable(run.text, targets=True))}</{tag}>"
        for run in runs
        if run.fate in (fate, Fate.KEPT)
    ]
    return _paragraph("changed", "".join(parts))


def _paragraph(name: str, content: str) -> str:
    return f'<p class="{name}" dir="auto">{content}</p>'
