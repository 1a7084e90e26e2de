"""Noise taken out of a tree: what masks hide, and relative times.

Masks are keyed to the lines that detection reads (`recrawl.detect.text.lines`), not to elements. So
the tree is written as these same lines, with a note where each character comes from; masks blank
the lines as they do in detection; and what they hid goes from the tree. An extractor that reads the
tree afterwards finds none of it.

- Of a line of which a part is hidden, the part becomes an ellipsis, as in "made in … s". A link
  whose target is part of it links nowhere.
- Hidden lines go.
- Of lines of which only the order is hidden, the elements are sorted, if they are siblings. If not,
  they stay as they are.

Pure.
"""

from __future__ import annotations

import re
import unicodedata
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from lxml import etree  # type: ignore[import-untyped]  # ships no types

from recrawl.detect.masks.blanking import blank
from recrawl.detect.text.lines import (
    CUT,
    GAP,
    JOINT,
    SPACES,
    TAG_LEFT,
    UNSEEN,
    link_word,
    normalized,
    without_controls,
)
from recrawl.detect.text.relative_times import may_have_relative_times, without_relative_times

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recrawl.detect.masks.masks import Masks
    from recrawl.extract.tree import Element

ELLIPSIS = "…"
# Elements that detection reads as one token, of which nothing is seen.
_SKIPPED = frozenset(
    {"script", "style", "textarea", "noscript", "iframe", "noembed", "noframes", "title"}
)
_TEXT, _TAIL = "text", "tail"
_BLANK = frozenset(SPACES + UNSEEN + " ")
# Characters that a parser lets into a tree and that nobody else may put there.
_UNWRITABLE = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_LONGEST_ORDER = 500  # lines that are sorted at once


class _Piece(NamedTuple):
    """Text of a line, and where it stands: in or after an element, or in one of its attributes."""

    element: Element
    place: str
    text: str


class _Line(NamedTuple):
    """A line as detection reads it before relative times go, and its pieces."""

    text: str
    pieces: list[_Piece]


def tree_lines(tree: Element) -> list[str]:
    r"""Lines of a tree, as detection reads them from its page.

    >>> page = '<title>Shop</title><p>T<b>w</b>o <a href="/b">bags</a>, new 2 h ago'
    >>> tree_lines(etree.HTML(page))
    ['Shop', 'Two \x10/b bags, new']
    """
    found = without_relative_times([line.text for line in _lines(tree)])
    return [text for text in found if text]


def take_out_noise(tree: Element, masks: Masks) -> None:
    """Take out of a tree what differs by itself.

    Args:
        tree: Root of a page, or of the parts that are watched; it is changed.
        masks: Masks of the page.
    """
    if not masks and not may_have_relative_times(_all_text(tree)):
        return
    every = _lines(tree)
    noise = _Noise.of([line.text for line in every], masks)
    for line, (text, left) in zip(every, noise.lines, strict=True):
        if left is None:
            _clear(line)
        elif line.text != left:
            _edit(line, text, left)
    for order in noise.orders:
        _sort([every[index] for index in order])


def lines_without_noise(lines: Sequence[str], masks: Masks) -> list[str]:
    """Lines of a text that is not HTML, as they stand there, without what differs by itself.

    >>> from recrawl.detect.masks.masks import learn_masks
    >>> masks = learn_masks(("Top", "Now 12:00:01"), ("Top", "Now 12:00:02"))
    >>> lines_without_noise(("Top", "", "  Now 18:23:45"), masks)
    ['Top', '', 'Now …']
    """
    if not masks and not may_have_relative_times("\n".join(lines)):
        return list(lines)
    texts = normalized(CUT.join(lines))
    seen = [index for index, text in enumerate(texts) if text]
    noise = _Noise.of([texts[index] for index in seen], masks)
    found: list[str | None] = list(lines)
    for index, (_, left) in zip(seen, noise.lines, strict=True):
        if left is None:
            found[index] = None
        elif left != texts[index]:
            found[index] = left.replace(GAP, ELLIPSIS)
    for order in noise.orders:
        places = [seen[at] for at in order]
        for place, line in zip(places, sorted(lines[at] for at in places), strict=True):
            found[place] = line
    return [line for line in found if line is not None]


class _Noise(NamedTuple):
    """What of lines differs by itself.

    Args:
        lines: Each line without relative times, and what masks leave of it: None for nothing.
        orders: Indexes of lines of which only the order differs.
    """

    lines: list[tuple[str, str | None]]
    orders: list[list[int]]

    @classmethod
    def of(cls, lines: list[str], masks: Masks) -> _Noise:
        """Find the noise of lines, none of which is empty."""
        timeless = without_relative_times(lines)
        seen = [index for index, text in enumerate(timeless) if text]
        blanked = blank([timeless[index] for index in seen], [mask.place for mask in masks.masks])
        left: list[str | None] = [None] * len(lines)
        for index, text in zip(seen, blanked.parts, strict=True):
            left[index] = text
        orders = []
        for start, end, is_sorted in blanked.cuts:
            if is_sorted:
                orders.append(seen[start:end])
                continue
            for index in seen[start:end]:
                left[index] = None
        return cls(list(zip(timeless, left, strict=True)), orders)


def _all_text(tree: Element) -> str:
    """Words of a tree, with spaces where elements begin and end."""
    return " ".join(" ".join(tree.itertext()).split())


def _lines(tree: Element) -> list[_Line]:
    """Lines that are not empty, with their pieces."""
    written: list[list[_Piece]] = [[]]
    title = next(tree.iter("title"), None)
    if title is not None:
        written += [[_Piece(title, _TEXT, title.text or "")], []]
    walk = etree.iterwalk(tree, events=("start", "end"))
    for event, element in walk:
        tag = element.tag
        place = _TEXT if event == "start" else _TAIL
        if event == "start":
            left = TAG_LEFT[None] if tag in _SKIPPED else _left(element, tag)
            if tag in _SKIPPED:
                walk.skip_subtree()
        else:
            left = TAG_LEFT[None if tag in _SKIPPED else f"/{tag}"]
        if left == CUT:
            written.append([])
        elif left != JOINT:
            written[-1].append(_Piece(element, _attribute(tag), left))
        text = element.text if event == "start" else element.tail
        if text and not (event == "start" and tag in _SKIPPED) and not (
            event == "end" and element is tree
        ):  # fmt: skip
            written[-1].append(_Piece(element, place, text))
    clean = [[_composed(piece) for piece in pieces] for pieces in written]
    texts = normalized(CUT.join(["".join([piece.text for piece in each]) for each in clean]))
    return [_Line(text, pieces) for text, pieces in zip(texts, clean, strict=True) if text]


def _left(element: Element, tag: str) -> str:
    """What replaces a start tag in a line."""
    if tag == "a":
        return link_word(element.get("href") or "")
    if tag == "img" and element.attrib:
        return f" {element.get('alt') or ''} "
    return TAG_LEFT[tag]


def _attribute(tag: str) -> str:
    return {"a": "href", "img": "alt"}.get(tag, "")


def _composed(piece: _Piece) -> _Piece:
    if piece.place not in (_TEXT, _TAIL, "alt") or piece.text.isascii():
        text = piece.text
    else:
        text = unicodedata.normalize("NFC", piece.text)
    if piece.place != "href":  # which has a control character of ours
        text = without_controls(text)
    return piece._replace(text=text)


def _edit(line: _Line, text: str, left: str) -> None:
    """Take out of a line what relative times and masks have hidden.

    Args:
        line: The line.
        text: What it says without relative times.
        left: The same with `GAP` for what masks hide.
    """
    letters = [at for at, letter in enumerate(line.text) if letter != " "]
    kept = [at for at in _words_kept(line.text, text) if line.text[at] != " "]
    gone = dict.fromkeys(set(letters) - set(kept), "")
    for start, end in _gaps(text, left):
        before = start - text.count(" ", 0, start)
        hidden = kept[before : before + end - start - text.count(" ", start, end)]
        gone.update(dict.fromkeys(hidden, ""))
        gone.update(dict.fromkeys(hidden[:1], ELLIPSIS))
    places = [
        (number, at)
        for number, piece in enumerate(line.pieces)
        for at, letter in enumerate(piece.text)
        if letter not in _BLANK
    ]
    if len(places) != len(letters):
        return  # letters were joined across elements: which is whose cannot be told
    by_piece: dict[int, dict[int, str]] = {}
    for at, (number, place) in zip(letters, places, strict=True):
        if at in gone:
            by_piece.setdefault(number, {})[place] = gone[at]
    for number, instead in by_piece.items():
        piece = line.pieces[number]
        _set(piece, "".join([instead.get(at, letter) for at, letter in enumerate(piece.text)]))


def _words_kept(whole: str, left: str) -> Iterator[int]:
    """Places of the letters of a text that are left where words went."""
    if whole == left:
        yield from range(len(whole))
        return
    words, others = whole.split(" "), left.split(" ")
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word) + 1)
    matcher = SequenceMatcher(None, words, others, autojunk=False)
    for block in matcher.get_matching_blocks():
        yield from range(starts[block.a], max(starts[block.a + block.size] - 1, 0))


def _gaps(text: str, left: str) -> Iterator[tuple[int, int]]:
    """Ranges of a text that `GAP` stands for."""
    pieces = left.split(GAP)
    at = len(pieces[0])
    for index, piece in enumerate(pieces[1:], start=2):
        last = index == len(pieces)
        found = len(text) - len(piece) if last else text.find(piece, at)
        if found < at:
            return
        yield at, found
        at = found + len(piece)


def _set(piece: _Piece, written: str) -> None:
    element, place, _ = piece
    text = _UNWRITABLE.sub(" ", written)
    if place == _TEXT:
        element.text = text
    elif place == _TAIL:
        element.tail = text
    elif place == "href":
        element.attrib.pop("href", None)
    elif place == "alt":
        element.set("alt", text.strip())


def _clear(line: _Line) -> None:
    """Take a whole line out."""
    for piece in line.pieces:
        if piece.place == "alt":
            element = piece.element
            element.attrib.pop("alt", None)
        else:
            _set(piece, " ")


def _sort(lines: Sequence[_Line]) -> None:
    """Sort the elements of lines by what they say, where they are siblings."""
    if len(lines) > _LONGEST_ORDER:
        return
    chains = [_common([_chain(piece) for piece in line.pieces if piece.text.strip()])
              for line in lines]  # fmt: skip
    parent = _common(chains)
    depth = len(parent)
    if not parent or any(len(chain) <= depth for chain in chains):
        return
    elements = [chain[depth] for chain in chains]
    if len({parent[-1].index(each) for each in elements}) != len(elements):
        return
    ranked = sorted(range(len(lines)), key=lambda at: lines[at].text)
    tails = [element.tail for element in elements]
    places = [parent[-1].index(element) for element in elements]
    copies = [elements[at] for at in ranked]
    for place, element, tail in zip(places, copies, tails, strict=True):
        parent[-1].insert(place, element)
        element.tail = tail


def _chain(piece: _Piece) -> list[Element]:
    """Elements that a piece stands in, the outermost first."""
    chain = [*reversed(list(piece.element.iterancestors())), piece.element]
    return chain[:-1] if piece.place == _TAIL else chain


def _common(chains: Sequence[Sequence[Element]]) -> list[Element]:
    """What all chains begin with."""
    found = []
    for level in zip(*chains, strict=False):
        if any(element is not level[0] for element in level):
            break
        found.append(level[0])
    return found
