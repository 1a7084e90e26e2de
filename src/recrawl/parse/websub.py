"""WebSub as a subscriber speaks it: links to hubs, requests to them, what they ask and push.

A feed names a *hub* and its own address, its *topic*. Whoever asks the hub for the topic is asked
back whether that was meant, and is sent the feed whenever it changes, signed with a secret that
hub and subscriber share:

    feed        Link: <https://hub.example/>; rel="hub", <https://example.org/feed>; rel="self"
    to the hub  hub.mode=subscribe  hub.topic=...  hub.callback=...  hub.secret=...
    by the hub  GET callback?hub.mode=subscribe&hub.topic=...&hub.challenge=...    -> the challenge
    by the hub  POST callback, X-Hub-Signature: sha256=...                         -> 2xx

The W3C's recommendation of 2018. SHA-1, which it allows for signatures, is refused.

Pure.
"""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from recrawl.parse.addresses import LONGEST_ADDRESS, canonical

if TYPE_CHECKING:
    from collections.abc import Mapping

_METHODS = ("sha256", "sha384", "sha512")
_LONGEST_HEADER = 8192
_LONGEST_CHALLENGE = 2048
_LONGEST_LEASE = 10**9  # seconds
_LINK = re.compile(r'\s*<([^<>]*)>((?:\s*;[^<>,;"]*(?:"[^"]*")?)*+)\s*(?:,|$)')
_REL = re.compile(r';\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))', re.IGNORECASE)
_DIGEST = re.compile(r"[0-9a-fA-F]{64,128}")


@dataclass(frozen=True, slots=True)
class PushLinks:
    """Where changes of a feed are pushed from.

    Args:
        hub: Canonical address of the hub; empty for none.
        topic: What to subscribe to there, letter by letter as the feed calls itself.
    """

    hub: str = ""
    topic: str = ""


def push_links(header: str, links: Mapping[str, str], address: str) -> PushLinks:
    """Hub and topic that a feed names; its header goes before its text.

    Args:
        header: Value of the header `Link`, several joined by commas.
        links: Links of the feed itself by `rel`.
        address: Where it came from, canonical: its topic where it does not say.

    Examples:
        >>> header = '<https://hub.example/>; rel="hub", <https://a.org/feed>; rel=self'
        >>> push_links(header, {}, "https://a.org/f")
        PushLinks(hub='https://hub.example/', topic='https://a.org/feed')
        >>> push_links("", {"hub": "/hub"}, "https://a.org/f")
        PushLinks(hub='https://a.org/hub', topic='https://a.org/f')
        >>> push_links("", {"hub": "javascript:alert()"}, "https://a.org/f")
        PushLinks(hub='', topic='')
    """
    found = _of_header(header)
    if "hub" not in found:
        found = dict(links)
    hub = canonical(found.get("hub", "").strip() or "none:", address)
    if hub is None:
        return PushLinks()
    own = found.get("self", "").strip()
    return PushLinks(hub, _topic(own, address) or address)


def _of_header(header: str) -> dict[str, str]:
    """Targets of a header by `rel`, the first of each."""
    found: dict[str, str] = {}
    text, place = header[:_LONGEST_HEADER], 0
    while (link := _LINK.match(text, place)) is not None:
        place = link.end()
        rel = _REL.search(link[2])
        for word in (rel[1] or rel[2] or "").lower().split() if rel else ():
            found.setdefault(word, link[1])
        if place == len(text):
            break
    return found


def _topic(own: str, address: str) -> str | None:
    """A topic as it is written, where that is an address; a hub knows it by no other form."""
    plain = own.isascii() and own.isprintable() and not re.search(r"[\s#]", own)
    if plain and canonical(own) is not None:
        return own
    return canonical(own, address) if own else None


def subscription_form(topic: str, callback: str, secret: str, lease_seconds: int) -> str:
    """What is posted to a hub to subscribe, or to renew a subscription.

    >>> subscription_form("https://a.org/f", "https://me.example/1", "s", 60)[:56]
    'hub.mode=subscribe&hub.topic=https%3A%2F%2Fa.org%2Ff&hub'
    """
    fields = {
        "hub.mode": "subscribe",
        "hub.topic": topic,
        "hub.callback": callback,
        "hub.secret": secret,
        "hub.lease_seconds": str(lease_seconds),
    }
    return urlencode(fields)


@dataclass(frozen=True, slots=True)
class HubQuestion:
    """What a hub asks or says at a callback.

    Args:
        mode: "subscribe", "unsubscribe" or "denied".
        topic: What it is about.
        challenge: What to answer if that is meant.
        lease_seconds: How long the subscription holds; 0 where that is unsaid.
    """

    mode: str
    topic: str
    challenge: str = ""
    lease_seconds: int = 0


def read_question(query: Mapping[str, str]) -> HubQuestion | None:
    """What a hub asks; None for what no hub would.

    >>> query = {"hub.mode": "subscribe", "hub.topic": "https://a.org/f", "hub.challenge": "x"}
    >>> read_question(query | {"hub.lease_seconds": "60"}).lease_seconds
    60
    >>> read_question({"hub.mode": "subscribe", "hub.topic": "https://a.org/f"}) is None
    True
    """
    mode, topic, challenge = (query.get(f"hub.{name}", "") for name in _ASKED)
    lease = query.get("hub.lease_seconds", "")
    is_denied = mode == "denied"
    if mode not in ("subscribe", "unsubscribe", "denied") or len(topic) > LONGEST_ADDRESS:
        return None
    if not is_denied and not (
        0 < len(challenge) <= _LONGEST_CHALLENGE and challenge.isascii() and challenge.isprintable()
    ):
        return None
    seconds = int(lease) if re.fullmatch(r"[0-9]{1,10}", lease, re.ASCII) else 0
    return HubQuestion(mode, topic, challenge, min(seconds, _LONGEST_LEASE))


_ASKED = ("mode", "topic", "challenge")


def is_signed(body: bytes, header: str, secret: str) -> bool:
    """Whether a push is signed with a secret, by `X-Hub-Signature`.

    >>> import hmac
    >>> signed = hmac.new(b"key", b"feed", "sha256").hexdigest()
    >>> is_signed(b"feed", f"sha256={signed}", "key"), is_signed(b"food", f"sha256={signed}", "key")
    (True, False)
    """
    method, _, digest = header.strip().partition("=")
    if method.lower() not in _METHODS or not _DIGEST.fullmatch(digest):
        return False
    right = hmac.new(secret.encode(), body, method.lower()).hexdigest()
    return hmac.compare_digest(right, digest.lower())
