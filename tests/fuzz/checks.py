"""What entries share: how an input is read as text, and what must hold of nearly every result."""

from __future__ import annotations

from recrawl.parse.addresses import LONGEST_ADDRESS, canonical
from recrawl.units import EARLIEST, LATEST
from tests.fuzz.parser import LONGEST_MESSAGE

PAGE = "https://example.org/a/b?c=1"


def as_text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def as_lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "surrogateescape").split("\n")


def is_said(text: str) -> bool:
    """Whether a text may be shown: one printable line that is not too long."""
    return text.isprintable() and len(text) <= LONGEST_MESSAGE


def is_canonical(address: str) -> bool:
    return canonical(address) == address and len(address) <= LONGEST_ADDRESS


def is_instant(seconds: float | None) -> bool:
    return seconds is None or EARLIEST.timestamp() <= seconds <= LATEST.timestamp() + 1
