"""The program that sends messages through apprise: `python -m recrawl.publish.notify.sender`.

It reads one line of JSON from its standard input and answers with one. apprise blocks, loads a
hundred services, and tells its log what it is told to keep; here it can be killed, costs the
crawl nothing, and its log goes nowhere.

    check   {"addresses": [A, ...]}          [{"markup": M, "most_body": N, "most_title": N}, ...]
    send    {"address": A, "markup": M,      {"problem": P}
             "title": T, "body": B}

An address that apprise does not know is answered with null. A problem is of our own words, so that
no part of an address is in it. Whoever sends keeps the standard input open: where it ends before
the answer, nobody waits for it any more.

Touches: the network, the standard streams, threads.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from apprise import NotifyBase

_STATUS = re.compile(r"\berror[ =:]+\(?([1-5][0-9]{2})\b")
_UNREACHED = re.compile(r"connection error|socket|timed? ?out|refused|unreachable", re.IGNORECASE)
_UNREACHED_SAID, _REFUSED_SAID = "no connection", "the service did not take it"
_APPRISE, _ADDRESSES, _ADDRESS = "apprise", "addresses", "address"


class _Reasons(logging.Handler):
    """Takes what apprise says of a failure, and keeps the little that gives nothing away."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.reason = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the first reason that is of any help."""
        said = record.getMessage()
        found = _STATUS.search(said)
        if found is not None:
            self.reason = self.reason or f"answered {found[1]}"
        elif _UNREACHED.search(said):
            self.reason = self.reason or _UNREACHED_SAID


def check(address: str) -> dict[str, Any] | None:
    """What a service takes; None where apprise does not know the address."""
    service = _service(address)
    if service is None:
        return None
    most_body, most_title = int(service.body_maxlen), int(service.title_maxlen)
    return {"markup": _markup(service), "most_body": most_body, "most_title": most_title}


def send(asked: dict[str, str]) -> dict[str, str]:
    """Send a message; what came of it."""
    from apprise import Apprise

    reasons = _Reasons()
    logging.getLogger(_APPRISE).addHandler(reasons)
    service = _service(asked[_ADDRESS])
    if service is None:
        return {"problem": "apprise does not know its address"}
    sender = Apprise(asset=service.asset)
    sender.add(service)
    # The body is in the markup of the service already: nothing is left to be converted.
    sent = sender.notify(asked["body"], title=asked["title"], body_format=asked["markup"])
    return {"problem": "" if sent else reasons.reason or _REFUSED_SAID}


def _service(address: str) -> NotifyBase | None:
    from apprise import Apprise, AppriseAsset

    asset = AppriseAsset(async_mode=False, interpret_emojis=False, interpret_escapes=False)
    if hasattr(asset, "http_redirects"):
        # A form that is sent on as a mere question is lost, and counts as taken.
        asset.http_redirects = False
    return Apprise.instantiate(address, asset=asset)


def _markup(service: NotifyBase) -> str:
    """The markup that a service reads: text, markdown or html."""
    from apprise import NotifyFormat

    if not hasattr(service, "resolve_format"):  # releases in which each has one
        return str(NotifyFormat(service.notify_format).value)
    usual = service.resolve_format()
    # Where there is Markdown but no HTML, what is called text is read as Markdown as well.
    if usual == NotifyFormat.TEXT and NotifyFormat.HTML not in service.notify_format:
        usual = service.resolve_format(NotifyFormat.MARKDOWN)
    return str(usual.value)


def _end_with_input() -> None:
    """End at once when nobody waits for the answer."""
    sys.stdin.buffer.read(1)
    os._exit(1)


def main() -> None:
    """Answer the one line that is asked."""
    answering = os.dup(1)
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - whatever a service prints
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    logging.getLogger().addHandler(logging.NullHandler())
    asked = json.loads(sys.stdin.buffer.readline())
    if _ADDRESSES in asked:
        answer: object = [check(address) for address in asked[_ADDRESSES]]
    else:
        threading.Thread(target=_end_with_input, daemon=True).start()
        answer = send(asked)
    os.write(answering, json.dumps(answer).encode() + b"\n")
    os._exit(0)  # threads of apprise may wait for ever


if __name__ == "__main__":
    main()
