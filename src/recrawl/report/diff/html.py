"""Diff of two versions of a page as a self-contained HTML page.

It runs no script and loads nothing, so it may be mailed, kept and opened anywhere, whatever the
versions hold. The versions are side by side on a wide screen and below each other on a phone.

Pure.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape
from typing import TYPE_CHECKING

from recrawl.detect.diff.line_diff import BlockKind
from recrawl.detect.diff.word_diff import EditKind
from recrawl.report.diff.lines import CONTEXT, readable, summary, targetless
from recrawl.report.words import counted
from recrawl.units import utc_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from recrawl.detect.diff.line_diff import Block, PageDiff, Span
    from recrawl.detect.diff.word_diff import Edit
    from recrawl.inspect.versions import Comparison, Side

_BESIDE = (BlockKind.SAME, BlockKind.CHANGED)
_OLD_SIDE = (BlockKind.REMOVED, BlockKind.MOVED_AWAY)


def diff_page(comparison: Comparison) -> str:
    """The whole page."""
    address = escape(readable(comparison.page))
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    sides = _side("From", comparison.old) + _side("To", comparison.new)
    what = escape(summary(comparison.diff, comparison.share))
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
            f"<style>{_STYLE}</style>",
            "</head>",
            "<body>",
            "<header>",
            f"<h1>{_link(comparison.page, address)}</h1>",
            f"<p>{what}.</p>",
            "</header>",
            f'<div class="pair sides">{sides}</div>',
            "<main>",
            *_rows(comparison.diff),
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
    return f"<div><b>{name}</b> {at} UTC <small>{counted(side.size, 'byte')}</small></div>"


def _rows(diff: PageDiff) -> Iterator[str]:
    """All blocks: unchanged lines across both columns, changed ones side by side."""
    last = len(diff.blocks) - 1
    passed: set[Span] = set()
    old_side: list[str] = []
    new_side: list[str] = []
    for number, block in enumerate(diff.blocks):
        if block.kind in _OLD_SIDE:
            old_side.append(_block(block, diff, passed))
        elif block.kind not in _BESIDE:
            new_side.append(_block(block, diff, passed))
        else:
            yield from _pair(old_side, new_side)
            old_side, new_side = [], []
            if block.kind is BlockKind.SAME:
                lines = diff.old[slice(*block.old)]
                yield from _same(lines, above=number > 0, below=number < last)
            else:
                for edits in block.edits:
                    yield from _pair(
                        [_words(edits, EditKind.REMOVED)], [_words(edits, EditKind.ADDED)]
                    )
    yield from _pair(old_side, new_side)


def _pair(old_side: Sequence[str], new_side: Sequence[str]) -> Iterator[str]:
    if old_side or new_side:
        old, new = "".join(old_side), "".join(new_side)
        yield f'<div class="pair"><div class="old">{old}</div><div class="new">{new}</div></div>'


def _block(block: Block, diff: PageDiff, passed: set[Span]) -> str:
    """A block that is on one side only."""
    if block.kind is BlockKind.REMOVED:
        return "".join(_line("removed", line) for line in diff.old[slice(*block.old)])
    if block.kind is BlockKind.ADDED:
        return "".join(_line("added", line) for line in diff.new[slice(*block.new)])
    here = block.kind is BlockKind.MOVED
    down = (block.old in passed) is here
    passed.add(block.old)
    name = f"moved-{block.old[0]}"
    kind = EditKind.ADDED if here else EditKind.REMOVED
    what = f"Moved {'down' if down else 'up'} {'to' if here else 'from'} here"
    arrow = "↓" if down is not here else "↑"
    goal, label = (name, "where it was") if here else (f"{name}-now", "where it is now")
    return (
        f'<div class="moved" id="{name}{"-now" if here else ""}">'
        f'<p class="way">{what} <a href="#{goal}">{arrow} {label}</a></p>'
        + "".join(_words(edits, kind) for edits in block.edits)
        + "</div>"
    )


def _same(lines: Sequence[str], *, above: bool, below: bool) -> Iterator[str]:
    """Context lines of the changes above and below; the others can be unfolded."""
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


def _words(edits: Iterable[Edit], kind: EditKind) -> str:
    """One side of a changed line: kept words, and added or removed ones."""
    tag = "ins" if kind is EditKind.ADDED else "del"
    parts = [
        escape(targetless(edit.text))
        if edit.kind is EditKind.KEPT
        else f"<{tag}>{escape(readable(edit.text, targets=True))}</{tag}>"
        for edit in edits
        if edit.kind in (kind, EditKind.KEPT)
    ]
    return _paragraph("changed", "".join(parts))


def _paragraph(name: str, content: str) -> str:
    return f'<p class="{name}" dir="auto">{content}</p>'


# Its look, by day and by night, wide and narrow.
_STYLE = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1c2024; --quiet: #5f6b76; --rule: #d9dfe5; --band: #f5f7f9;
  --gone: #fdecec; --gone-word: #f6b5b5; --come: #e7f6ea; --come-word: #a6dcb2;
  --moved: #eaf1fc; --moved-edge: #4a7fd6; --link: #1d5fc4;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171a; --ink: #e3e7ea; --quiet: #9aa6b1; --rule: #30373e; --band: #1c2126;
    --gone: #341c1e; --gone-word: #7c3034; --come: #16301d; --come-word: #25653a;
    --moved: #18263d; --moved-edge: #5b8fe0; --link: #86b1f5;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1rem; max-width: 90rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
a { color: var(--link); }
h1 { margin: 0; font-size: 1.15rem; }
header p { margin: .25rem 0 1rem; padding: 0; color: var(--quiet); }
p { margin: 0; padding: .2rem .6rem .2rem 1.6rem; position: relative; }
p::before {
  position: absolute; left: .5rem; top: .2rem; color: var(--quiet);
  font-family: ui-monospace, monospace;
}
small, .way { color: var(--quiet); }
main { border: 1px solid var(--rule); border-radius: .4rem; overflow: clip; }
.pair { display: grid; grid-template-columns: 1fr; }
.pair + .pair, .same + .pair, details + .pair { border-top: 1px solid var(--rule); }
.pair + .same, .pair + details { border-top: 1px solid var(--rule); }
.sides { padding: .3rem .6rem; gap: 0 1rem; border: 0; }
.old p.changed, p.removed { background: var(--gone); }
.new p.changed, p.added { background: var(--come); }
.old p.changed::before, p.removed::before { content: "\\2212"; }
.new p.changed::before, p.added::before { content: "+"; }
del, ins { text-decoration: none; }
p.changed del { background: var(--gone-word); border-radius: .2rem; text-decoration: line-through; }
p.changed ins { background: var(--come-word); border-radius: .2rem; }
.moved {
  scroll-margin-top: 20vh; border-left: .25rem solid var(--moved-edge); background: var(--moved);
}
.moved p.changed { background: none; }
.moved p.changed::before { content: ""; }
.moved:target { outline: .15rem solid var(--moved-edge); outline-offset: -.15rem; }
.way { font-size: .875rem; }
.way a { white-space: nowrap; }
.old .moved { color: var(--quiet); }
summary { padding: .3rem .6rem; background: var(--band); color: var(--quiet); cursor: pointer; }
@media (min-width: 50rem) {
  .pair { grid-template-columns: 1fr 1fr; }
  .pair > .new { border-left: 1px solid var(--rule); }
  .sides { padding: .3rem 0; gap: 0; }
  .sides > div { padding-left: 1.6rem; }
}
@media print {
  .pair { break-inside: avoid; }
}
"""
