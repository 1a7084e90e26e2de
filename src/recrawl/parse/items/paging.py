"""Paging of a listing: by a query parameter that counts, or by a link to the next page.

    p            a parameter of the address or the form: p=1, p=2, ...
    p=0          the same from 0 on
    start=0+20   from 0 on in steps of 20

Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote_plus, urlencode

if TYPE_CHECKING:
    from collections.abc import Sequence

_COUNTED = re.compile(
    r"(?P<name>[^=+&#?\s]{1,100})(?:=(?P<first>\d{1,9})(?:\+(?P<step>[1-9]\d{0,6}))?)?"
)


@dataclass(frozen=True, slots=True)
class PageParameter:
    """Query parameter that counts pages.

    Args:
        name: Its name.
        first: Number of the first page.
        step: From one page to the next.

    Examples:
        >>> PageParameter.read("start=0+20")
        PageParameter(name='start', first=0, step=20)
        >>> PageParameter.read("start=0+20").of(2)
        '40'
        >>> PageParameter.read("a b") is None
        True
    """

    name: str
    first: int = 1
    step: int = 1

    @classmethod
    def read(cls, text: str) -> PageParameter | None:
        """Parse `name=first+step`; None where it is malformed."""
        match = _COUNTED.fullmatch(text.strip())
        if match is None:
            return None
        first = match["first"]
        return cls(match["name"], 1 if first is None else int(first), int(match["step"] or 1))

    def of(self, page: int) -> str:
        """Its value for a page, counted from 0."""
        return str(self.first + self.step * page)


def with_parameter(address: str, name: str, value: str) -> str:
    """An address with a parameter of its query set, in place of those of the same name.

    >>> with_parameter("https://example.org/jobs?p=1&q=baker", "p", "2")
    'https://example.org/jobs?q=baker&p=2'
    >>> with_parameter("https://example.org/jobs", "p", "2")
    'https://example.org/jobs?p=2'
    """
    before, _, query = address.partition("?")
    named = quote_plus(name)
    kept = [part for part in query.split("&") if part and part.partition("=")[0] != named]
    return before + "?" + "&".join([*kept, f"{named}={quote_plus(value)}"])


def form_text(form: Sequence[tuple[str, str]]) -> str:
    """Names and values of a form as browsers send them.

    >>> form_text([("q", "baker & cook"), ("p", "1")])
    'q=baker+%26+cook&p=1'
    """
    return urlencode(form)
