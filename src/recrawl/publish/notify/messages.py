"""A digest as a message: plain text, Markdown or HTML, within the room that a service gives.

What pages say is hostile. It is shown on one line of its own, without control characters, and means
nothing in any markup: no link but that of the page's own address, whose text is that address, and
no mention of people in a chat. Plain text is kept from looking like a link as well, since many
services read it as Markdown whatever they call it.

Pure.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.report.changes import what_happened
from recrawl.report.table import printable
from recrawl.report.words import counted, cut
from recrawl.units import utc_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from recrawl.entries.records import FeedEvent

MOST_CHARACTERS = 10_000
_LONGEST_TITLE, _LONGEST_ADDRESS, _LONGEST_LINE = 120, 300, 240
_FEWER_LINES = (12, 4, 2, 0)  # of each page, where there is no room for more
_MENTION = re.compile(r"@(?=(?:everyone|here|channel|all|room)\b|[!&]?[0-9])", re.IGNORECASE)
# What means something anywhere, and what does so where a line begins.
_MARKDOWN = re.compile(r"[\\`*_\[\]<>|~]|^[-+#=]")
_LINKED = ("http://", "https://")


@dataclass(frozen=True, slots=True)
class Notice:
    """What became of a page.

    Args:
        event: The last event of the page.
        times: How many events there were.
        title: Title of the page; empty where it has none.
        lines: Lines that went and came, each with its marker.
        left: How many lines are not among them.
        remark: What else is to be said.
    """

    event: FeedEvent
    times: int = 1
    title: str = ""
    lines: Sequence[str] = ()
    left: int = 0
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """A message.

    Args:
        title: Its title, plain text; empty where it is part of the body.
        body: The rest, in the markup that was asked for.
    """

    title: str
    body: str


def message_of(
    title: str, notices: Sequence[Notice], tail: Callable[[int], str], room: MessageRoom
) -> Message:
    """A message that tells of pages, the first ones where there is no room for all.

    Args:
        title: What it is about.
        notices: The pages.
        tail: The last line, by how many of the pages are shown; empty for none.
        room: What the service takes.

    Examples:
        >>> message_of("Nothing", [], lambda shown: "<none>", MessageRoom("html")).body
        '&lt;none&gt;'
    """
    write = _WRITERS[room.markup]
    inside = not room.most_title
    most = min(room.most_body, MOST_CHARACTERS)
    plans = [(len(notices), lines) for lines in _FEWER_LINES]
    plans += [(shown, 0) for shown in reversed(range(len(notices)))]
    for shown, lines in plans:
        items = [_item(each, lines) for each in notices[:shown]]
        body = write(title if inside else "", items, tail(shown))
        if len(body.encode()) <= most:  # some count bytes, some letters, which are never more
            break
    else:
        body = _cut_bytes(_inert(title), most)
    return Message("" if inside else cut(_inert(title), room.most_title), body)


@dataclass(frozen=True, slots=True)
class MessageRoom:
    """What a service takes.

    Args:
        markup: What it reads: `text`, `markdown` or `html`.
        most_body: Most characters of a message.
        most_title: Most characters of its title; 0 where there are none.
    """

    markup: str = "text"
    most_body: int = MOST_CHARACTERS
    most_title: int = 250


@dataclass(frozen=True, slots=True)
class _Item:
    """Lines on a page: what happened, where, when, and what changed."""

    head: str
    address: str
    rest: Sequence[str]


def _item(notice: Notice, lines: int) -> _Item:
    event = notice.event
    what = what_happened(event)
    if notice.times > 1:
        what = f"{what}, last of {counted(notice.times, 'change')}"
    name = cut(notice.title, _LONGEST_TITLE)
    rest = [_when(event), *([notice.remark] if notice.remark else [])]
    rest += [cut(line, _LONGEST_LINE) for line in notice.lines[:lines]]
    left = notice.left + max(len(notice.lines) - lines, 0)
    if lines and left:
        rest.append(f"… {counted(left, 'more line')}")
    address = cut(event.address, _LONGEST_ADDRESS)
    return _Item(f"{name}: {what}" if name else what, address, rest)


def _when(event: FeedEvent) -> str:
    """When it happened as far as is known."""
    seen = f"seen {utc_text(event.at_seconds)} UTC"
    if event.likely_seconds is None:
        return seen
    return f"likely {utc_text(event.likely_seconds)}, {seen}"


def _text(title: str, items: Iterable[_Item], tail: str) -> str:
    return "\n\n".join(
        [
            *([_inert(title)] if title else []),
            *("\n".join(map(_inert, (each.head, each.address, *each.rest))) for each in items),
            *([_inert(tail)] if tail else []),
        ]
    )


def _markdown(title: str, items: Iterable[_Item], tail: str) -> str:
    def lines(item: _Item) -> Iterator[str]:
        yield f"**{_escaped(item.head)}**"
        # Between angle brackets an address is a link, and shows where it leads.
        yield f"<{item.address}>" if _is_link(item.address) else _escaped(item.address)
        yield from map(_escaped, item.rest)

    return "\n\n".join(
        [
            *([f"**{_escaped(title)}**"] if title else []),
            *("  \n".join(lines(each)) for each in items),  # two spaces end a line
            *([_escaped(tail)] if tail else []),
        ]
    )


def _html(title: str, items: Iterable[_Item], tail: str) -> str:
    def lines(item: _Item) -> Iterator[str]:
        yield f"<b>{_quoted(item.head)}</b>"
        address = _quoted(item.address)
        yield f'<a href="{address}">{address}</a>' if _is_link(item.address) else address
        yield from map(_quoted, item.rest)

    return "<br/><br/>\n".join(
        [
            *([f"<b>{_quoted(title)}</b>"] if title else []),
            *("<br/>\n".join(lines(each)) for each in items),
            *([_quoted(tail)] if tail else []),
        ]
    )


_WRITERS = {"text": _text, "markdown": _markdown, "html": _html}


def _is_link(address: str) -> bool:
    """Whether an address can be a link as it is; one that was cut leads elsewhere."""
    plain = not any(letter in address for letter in ' <>"`\\|…')
    return plain and address.isascii() and address.isprintable() and address.startswith(_LINKED)


def _plain(text: str) -> str:
    """One line without control characters, and without a mention of people."""
    return _MENTION.sub("\uff20", printable(" ".join(text.split())))


def _inert(text: str) -> str:
    """Plain text that no service reads as a link, whatever it takes it for.

    >>> _inert("[Bank](https://evil.example/) <https://evil.example/|Bank>")
    '[Bank] (https://evil.example/) < https://evil.example/|Bank>'
    """
    return re.sub(r"<(?=\S)", "< ", _plain(text).replace("](", "] ("))


def _escaped(text: str) -> str:
    """Text in Markdown."""
    return _MARKDOWN.sub(r"\\\g<0>", _plain(text))


def _quoted(text: str) -> str:
    """Text in HTML."""
    return html.escape(_plain(text))


def _cut_bytes(text: str, most: int) -> str:
    return text.encode()[: max(most, 0)].decode(errors="ignore")
