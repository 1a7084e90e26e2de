"""Addresses without what says nothing of the page: tracking parameters and session ids.

`https://a.org/x?id=7&utm_source=mail` is the page `https://a.org/x?id=7`, reached from a mail. What
is dropped:

    parameters of the query    those whose names match one of some patterns, in which `*` stands
                               for any characters; upper and lower case are the same
    session ids                parameters called `sid`, `session` and the like, if their value looks
                               random: `sid=7` may well be a page, `sid=ff116799` is none;
                               `;jsessionid=...` and the like in the path; `/(S(...))/` of ASP.NET

All else stays as it is, byte for byte: the order of the query, too. Cleaning is idempotent, and
what is clean already comes back as the same text.

Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote_plus

from recrawl.parse.addresses import canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

# What mailings, advertisements and analytics append to links; none of it changes what is shown.
TRACKING_PARAMETERS = (
    "utm_*",  # campaigns, of most analytics
    *("gclid", "gclsrc", "dclid", "gbraid", "wbraid", "_ga", "_gl"),  # Google
    *("fbclid", "igshid", "msclkid", "yclid", "twclid", "ttclid", "li_fat_id"),  # other networks
    *("mc_cid", "mc_eid", "_hsenc", "_hsmi", "mkt_tok"),  # mailings
    *("vero_id", "s_cid", "mtm_*", "pk_*", "matomo_*", "_openstat"),
    *("PHPSESSID", "JSESSIONID", "ASPSESSIONID*", "ASP.NET_SessionId", "CFID", "CFTOKEN"),
)

_LONGEST_NAME = 200
_SESSION_NAMES = frozenset(
    {"sid", "sess", "sessid", "session", "sessionid", "session_id", "zenid", "oscsid"}
)
_RANDOM = re.compile(r"(?=[A-Za-z_-]*+[0-9])(?=[0-9_-]*+[A-Za-z])[0-9A-Za-z_-]{20,128}")
_SEARCHES = frozenset({"s"})  # names that are more often of other things
# At least eight hexadecimal digits, letters among them: digits alone may be the number of a page.
_SHORT_RANDOM = re.compile(r"(?=[a-f]*+[0-9])(?=[0-9]*+[a-f])[0-9a-f]{8,19}", re.IGNORECASE)
_SESSION = "session id"
_PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid|sessionid|sid)=[^;/]*+", re.IGNORECASE)
_ASP_SESSION = re.compile(r"/\((?:[A-Z]\([0-9a-z]{20,40}\)){1,3}\)(?=/)")
_SIGNS = re.compile(r"[?;(]")  # one of which an address has that is not clean


@dataclass(frozen=True, slots=True)
class CleanAddress:
    """An address without what was dropped.

    Args:
        address: The address.
        dropped: What was dropped, in order: names of parameters, or `session id`.
    """

    address: str
    dropped: tuple[str, ...] = ()


def cleaned(address: str, parameters: Sequence[str]) -> CleanAddress:
    """A canonical address without tracking parameters and session ids.

    Args:
        address: The address.
        parameters: Names to drop from the query, in which `*` stands for any characters; none to
            leave addresses as they are.

    Examples:
        >>> cleaned("https://a.org/x?id=7&utm_source=mail&Fbclid=1", TRACKING_PARAMETERS)
        CleanAddress(address='https://a.org/x?id=7', dropped=('utm_source', 'fbclid'))
        >>> cleaned("https://a.org/x;jsessionid=1A2B?", ("utm_*",)).address
        'https://a.org/x'
        >>> cleaned("https://a.org/x?sid=7", ("utm_*",)).address
        'https://a.org/x?sid=7'
    """
    if not parameters or not _SIGNS.search(address):
        return CleanAddress(address)
    path, mark, query = address.partition("?")
    shorter = _ASP_SESSION.sub("", _PATH_SESSION.sub("", path))
    dropped = [_SESSION] if shorter != path else []
    kept = []
    for pair in query.split("&") if query else ():
        name = _dropped_name(pair, tuple(parameters))
        if name:
            dropped.append(name)
        else:
            kept.append(pair)
    if not dropped:
        return CleanAddress(address)
    # What is left may have another canonical form: `/..;sid=1/` becomes `/../`.
    found = canonical(f"{shorter}{mark * bool(kept)}{'&'.join(kept)}")
    return CleanAddress(found or address, tuple(dict.fromkeys(dropped)) if found else ())


def _dropped_name(pair: str, parameters: tuple[str, ...]) -> str:
    """What a parameter of a query is called, in lower case, if it is to be dropped; else empty."""
    name, _, value = pair.partition("=")
    if not name or len(name) > _LONGEST_NAME:
        return ""
    name = unquote_plus(name).lower()
    if name in _SESSION_NAMES and (_RANDOM.fullmatch(value) or _SHORT_RANDOM.fullmatch(value)):
        return _SESSION
    if name in _SEARCHES and _RANDOM.fullmatch(value):
        return _SESSION
    return name if any(_matches(name, pieces) for pieces in _pieces(parameters)) else ""


@lru_cache(maxsize=1 << 10)
def _pieces(parameters: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """What stands between the stars of each pattern."""
    return tuple(tuple(each.lower().split("*")) for each in parameters)


def _matches(name: str, pieces: tuple[str, ...]) -> bool:
    """Whether a name is made of some pieces, in order, with anything between them.

    >>> [_matches("utm_source", tuple(each.split("*"))) for each in ("utm_*", "*u*r*e", "utm")]
    [True, True, False]
    """
    if len(pieces) == 1:
        return name == pieces[0]
    first, *between, last = pieces
    if not name.startswith(first) or not name[len(first) :].endswith(last):
        return False
    place, end = len(first), len(name) - len(last)
    for piece in between:
        found = name.find(piece, place, end)  # the leftmost place leaves most to the others
        if found < 0:
            return False
        place = found + len(piece)
    return True
