"""Every key of the settings: its parser, and the rule that errors quote.

A parser returns None for an invalid value; `rule` finishes the sentence "KEY must be ...". One that
knows better what is wrong raises `InvalidParameter`.

Pure.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from recrawl.errors import InvalidInput, InvalidParameter, NotAStore, without_logins
from recrawl.parse.address_patterns import address_patterns
from recrawl.parse.addresses import canonical
from recrawl.parse.ports import blocked_port
from recrawl.parse.store_addresses import is_postgres, read_address
from recrawl.units import days

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from recrawl.plan.budget import Budget

_LONGEST_AGENT = 256
_NAMED = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*(?:/[^\s/]+)?(?:[ ;]|$)")
_CONTACT = re.compile(r"https?://[^\s/.]+\.[^\s]+|[^\s@(;<]+@[^\s@]+\.[^\s@]+")
_HOURS = re.compile(r"([0-9]{1,2})\s*-\s*([0-9]{1,2})")
_LAST_HOUR, _MIDNIGHT = 23, 24
_PARAMETER = re.compile(r"[^\s&=#?]{1,200}")
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)B?", re.ASCII | re.IGNORECASE)
_NO_LOGIN = (
    "address must not hold a user name or a password; a [[site]] has the keys user and password "
    "for them"
)
_MOST_SLOTS = 1024
_PACES = {"auto": 0.0, "off": math.inf}  # of looks for new pages
_BYTES_IN = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


@dataclass(frozen=True, slots=True)
class Key:
    """A key of the settings.

    Args:
        read: Parses a value; None if it is invalid.
        rule: What a value must be.
    """

    read: Callable[[object], Any]
    rule: str


def agent(value: object) -> str | None:
    """User agent with a contact, fit for a header.

    >>> agent("my-crawler (+https://example.org/about)")
    'my-crawler (+https://example.org/about)'
    >>> agent("Mozilla/5.0") is None
    True
    """
    if not isinstance(value, str) or not (value.isascii() and value.isprintable()):
        return None
    fits = len(value) <= _LONGEST_AGENT and _NAMED.match(value) and _CONTACT.search(value)
    return value if fits else None


def _budget(value: object) -> Budget | None:
    from recrawl.plan.budget import Budget  # here, so that checking an agent loads no numpy

    try:
        # Visits a change need a history of changes, which a crawl that begins does not have.
        return Budget.read(value, kinds=("crawl", "page")) if isinstance(value, str) else None
    except InvalidInput:
        return None


def _objective(value: object) -> str | None:
    from recrawl.plan.objectives import OBJECTIVES  # here, as above

    return value if isinstance(value, str) and value in OBJECTIVES else None


def _policy(value: object) -> str | None:
    from recrawl.plan.objectives import OBJECTIVES  # here, as above
    from recrawl.policies.named import policy_named

    if not isinstance(value, str):
        return None
    policy_named(value, OBJECTIVES["harmonic"])  # refuses what is none, and says why
    return value


def _duration(value: object) -> float | None:
    try:
        return days(value) if isinstance(value, str) else None
    except InvalidInput:
        return None


def _discover(value: object) -> float | None:
    """Days between looks; 0 where their pace is learned, infinite for none."""
    return _PACES.get(value) if isinstance(value, str) and value in _PACES else _duration(value)


def size_bytes(value: object) -> int | None:
    """Bytes in a size such as `500M` or `2 GB`; None if it is malformed."""
    match = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or not 0 < float(match[1]) < math.inf:
        return None
    return int(float(match[1]) * _BYTES_IN[match[2].upper()])


def size_of(text: str, name: str) -> int:
    """Bytes in a size such as `500M`, of an option with this name.

    >>> size_of("500M", "memory")
    524288000
    """
    found = size_bytes(text)
    if found is None:
        raise InvalidParameter(f"{name} must look like 500M or 2G (got {text!r})")
    return found


def _hours(value: object) -> tuple[int, int] | None:
    match = _HOURS.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        return None
    first, end = int(match[1]), int(match[2])
    return (first, end) if first <= _LAST_HOUR and end <= _MIDNIGHT and first != end else None


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if value >= 0 else None


def _positive_count(value: object) -> int | None:
    return _count(value) or None


def _slots(value: object) -> int | None:
    found = _positive_count(value)
    return found if found is not None and found <= _MOST_SLOTS else None


def _positive(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # a whole number may be larger than any float
        return None
    return number if 0 < number < math.inf else None


def _share(value: object) -> float | None:
    number = _positive(value)
    return number if number is not None and number < 1 else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _file(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() and value.isprintable() else None


def _store(value: object) -> str | None:
    """Name of a file, or an address in PostgreSQL without a password."""
    found = _file(value)
    if found is not None and is_postgres(found):
        try:
            has_password = read_address(found).has_password
        except NotAStore:
            return None
        if has_password:
            raise InvalidParameter(
                "store must not hold a password; set PGPASSWORD, or write it into ~/.pgpass"
            )
    return found


def address(value: object) -> str | None:
    """Canonical address of a page; `InvalidParameter` where it holds a login or a wrong port."""
    found = canonical(value) if isinstance(value, str) else None
    if found is None and isinstance(value, str) and without_logins(value) != value:
        raise InvalidParameter(_NO_LOGIN)
    if found is not None and (why := blocked_port(urlsplit(found).port)):
        raise InvalidParameter(f"address must be one of a web server ({why})")
    return found


def addresses(value: object) -> tuple[str, ...] | None:
    """Canonical addresses of one text or of a list of texts."""
    texts = value if isinstance(value, list) else [value]
    found = list(map(address, texts))
    whole = tuple(dict.fromkeys(each for each in found if each is not None))
    return whole if found and None not in found else None


def _patterns(value: object) -> tuple[str, ...] | None:
    texts = _texts(value)
    if texts is not None:
        address_patterns(texts)  # refuses what is none, and says why
    return texts


def _parameters(value: object) -> tuple[str, ...] | None:
    texts = _texts(value)
    return texts if texts is None or all(map(_PARAMETER.fullmatch, texts)) else None


def _texts(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        return None
    return tuple(value)


def _selectors(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple) or not all(map(is_selector, value)):
        return None
    return tuple(value)


def is_selector(value: object) -> bool:
    """Whether a value is a CSS selector.

    >>> is_selector("li.job"), is_selector("li >")
    (True, False)
    """
    # Here, for few files have selectors.
    from resiliparse.parse.html import HTMLTree  # type: ignore[import-untyped] # ships no types

    if not isinstance(value, str) or not value.strip():
        return False
    try:
        HTMLTree.parse("<p>").document.query_selector(value)
    except (ValueError, SystemError):  # the latter is what some unclosed brackets end in
        return False
    return True


_TIME = "a time such as"
_PATTERNS = 'a list of patterns such as ["/calendar/", "*.pdf"]'
_SELECTORS = 'a list of CSS selectors such as ["main", ".price"]'

TOP: Mapping[str, Key] = {
    "agent": Key(
        agent,
        "the name of your crawler with a contact in it, an address https://... or an e-mail, "
        "in plain ASCII",
    ),
    "budget": Key(_budget, "visits over a time such as 500/1d"),
    "objective": Key(_objective, "one of freshness, harmonic, age, missed, detected"),
    "policy": Key(_policy, "the name of a policy such as recrawl or nutch:longest=90d"),
    "weights": Key(_file, "the name of a file"),
    "discover": Key(_discover, 'a time such as 10m, "auto" or "off"'),
}
FILTERS: Mapping[str, Key] = {
    "include": Key(_patterns, _PATTERNS),
    "exclude": Key(_patterns, _PATTERNS),
    "drop_parameters": Key(_parameters, 'a list of names such as ["utm_*", "ref"]'),
    "duplicates": Key(_flag, "true or false"),
    "traps": Key(_flag, "true or false"),
}
TABLES: Mapping[str, Mapping[str, Key]] = {
    "filters": FILTERS,
    "politeness": {
        "delay": Key(_duration, f"{_TIME} 1s"),
        "together": Key(_positive_count, "a whole number of requests, at least 1"),
    },
    "storage": {
        "store": Key(_store, "the name of a file, or postgresql://host/database"),
        "versions": Key(_count, "a whole number, at least 0"),
        "keep": Key(_duration, f"{_TIME} 90d"),
        "size": Key(size_bytes, "a size such as 500MB or 2GB"),
        "slots": Key(_slots, f"a whole number from 1 to {_MOST_SLOTS}"),
    },
    "feed": {
        "keep": Key(_duration, f"{_TIME} 90d"),
        "chunks": Key(_flag, "true or false"),
    },
}
BLOCK: Mapping[str, Key] = {
    "address": Key(address, "an address that begins with http:// or https://"),
    "budget": TOP["budget"],
    "weight": Key(_positive, "a number above 0"),
    "minimum": Key(_duration, f"{_TIME} 10m"),
    "maximum": Key(_duration, f"{_TIME} 30d"),
    "interval": Key(_duration, f"{_TIME} 1d"),
    "hours": Key(_hours, "two different hours of the day in UTC such as 22-6"),
    "links": Key(_count, "a whole number, at least 0"),
    "discover": TOP["discover"],
    "changed": Key(addresses, "the address of a list of changed pages, or several in brackets"),
    "watch": Key(_selectors, _SELECTORS),
    "ignore": Key(_selectors, _SELECTORS),
    "least_change": Key(_share, "a share of words between 0 and 1 such as 0.3"),
    "target": Key(_share, "a share of fresh copies between 0 and 1 such as 0.95"),
    "local": Key(_flag, "true or false"),
    "robots_tags": Key(_flag, "true or false"),
    **FILTERS,
}
BLOCKS = ("site", "page")
