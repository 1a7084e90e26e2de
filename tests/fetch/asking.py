"""Asking a server of our own, in one call."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from recrawl.fetch.fetcher import RequestLimits
from recrawl.fetch.http.client import HttpFetcher
from recrawl.parse.messages import PROBLEMS, Request
from tests.servers.faults import FaultServer

if TYPE_CHECKING:
    import ssl
    from collections.abc import Sequence

    from recrawl.fetch.fetcher import Fetcher
    from recrawl.parse.messages import Response
    from tests.servers.faults import Behaviour

AGENT = "recrawl-test (+https://example.org/bot)"
SMALL = RequestLimits(raw_bytes=1_000_000, decoded_bytes=2_000_000)

# The machine may be busy; a fetch that hangs takes far longer than this.
PATIENCE_SECONDS = 60.0


async def fetch_all(
    requests: Sequence[Request], limits: RequestLimits = SMALL, tls: ssl.SSLContext | None = None
) -> list[Response]:
    """Answers to requests made one after the other by one fetcher; each keeps the contract.

    As the polite client does, a request is made once more where a kept connection had ended.
    """
    fetcher: Fetcher = HttpFetcher(AGENT, limits, tls=tls)
    try:
        answers = []
        for request in requests:
            answer = await fetcher.fetch(request)
            answers.append(await fetcher.fetch(request) if answer.stale else answer)
    finally:
        await fetcher.close()
    for request, answer in zip(requests, answers, strict=True):
        check(request, answer, limits)
    return answers


def check(request: Request, answer: Response, limits: RequestLimits) -> None:
    """What holds of every answer."""
    assert answer.address == request.address
    assert answer.problem in {"", *PROBLEMS}
    assert bool(answer.problem) == bool(answer.detail)
    assert not (answer.problem and answer.body)
    assert bool(answer.status) or bool(answer.problem)
    assert 0 <= answer.waited_seconds <= answer.seconds
    assert answer.seconds <= limits.total_seconds + PATIENCE_SECONDS
    assert len(answer.body) <= limits.decoded_bytes
    assert len(answer.headers) <= 100
    assert all(text.isprintable() for text in answer.headers.values() if text.isascii())
    assert answer.detail.isprintable()


def ask(
    behaviour: Behaviour, limits: RequestLimits = SMALL, *, times: int = 1, **request: Any
) -> tuple[Response, FaultServer]:
    """The last answer of a server that behaves like this, and the server."""

    async def asked() -> tuple[Response, FaultServer]:
        async with FaultServer({"/": behaviour}) as server:
            question = Request(server.address("/"), local=True, **request)
            answers = await fetch_all([question] * times, limits)
        return answers[-1], server

    return asyncio.run(asked())
