"""Targets of links without fragments and without session, campaign and click parameters.

These differ from visitor to visitor, and lead to the same page.

Pure.
"""

from __future__ import annotations

import re
from functools import lru_cache

# Longer targets are data, not addresses.
_LONGEST = 2000
_MOST_NAMES = 1_000
# Schemes that lead nowhere.
_NOWHERE = ("javascript:", "data:", "about:", "blob:")
_PLAIN = re.compile(r"((?:https?:)?[A-Za-z0-9/._~%+-]{0,500}+)(?:#.*+)?", re.DOTALL)  # as most are
_SESSION_IN_PATH = re.compile(r";(?:jsessionid|phpsessid|sid|sessionid)=[^/?#;]*+", re.IGNORECASE)
_OWN = (
    # sessions
    r"[a-z]*session_?(?:id|key|token)?|s?sid|zenid|oscsid|osadcampaign|cfid|cftoken|sessid"
    r"|phpsessid|jsessionid"
    # campaigns and clicks
    r"|utm_[a-z_]+|mtm_[a-z_]+|pk_[a-z_]+|hsa_[a-z]+|[gd]clid|gclsrc|gbraid|wbraid|fbclid|msclkid"
    r"|yclid|ysclid|twclid|ttclid|igshid|igsh|li_fat_id|mc_[ce]id|_ga|_gl|_hsenc|_hsmi|mkt_tok"
    r"|vero_id|_openstat|wickedid|srsltid"
)
_NAME = re.compile(r"[?&;]([^?&;=]*+)=")
_OWN_NAME = re.compile(_OWN, re.IGNORECASE)
_OWN_PARAMETER = re.compile(rf"([?&;])(?:{_OWN})=[^&;]*+", re.IGNORECASE)
_EMPTY = re.compile(r"\?[?&;]+")


def link_target(written: str) -> str:
    """Target of a link in a form that is the same at each visit; empty where it leads nowhere.

    >>> link_target("/a;jsessionid=8F?utm_source=x&page=2&PHPSESSID=1#top")
    '/a?page=2'
    >>> link_target("#top"), link_target("javascript:void(0)"), link_target(" mailto:a@b.example ")
    ('', '', 'mailto:a@b.example')
    """
    plain = _PLAIN.fullmatch(written)
    if plain:
        return plain[1]
    pieces = written[: 2 * _LONGEST].partition("#")[0].split()
    found = pieces[0] if len(pieces) == 1 else "".join(pieces)[:_LONGEST]
    if ";" in found:
        found = _SESSION_IN_PATH.sub("", found)
    if "?" in found:
        if any(map(_is_own, _NAME.findall(found))):
            found = _OWN_PARAMETER.sub(_joint, found)
        found = _EMPTY.sub("?", found).rstrip("?&;")
    if ":" in found and found.lower().startswith(_NOWHERE):
        return ""
    return found


@lru_cache(_MOST_NAMES)  # pages have few names, and they have them again and again
def _is_own(name: str) -> bool:
    return _OWN_NAME.fullmatch(name) is not None


def _joint(parameter: re.Match[str]) -> str:
    return "?" if parameter[1] == "?" else ""
