"""A stand-in for the network: hosts that answer as a script says, in virtual time.

Touches: nothing but the event loop that it is used in.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

from recrawl.parse.messages import Response
from recrawl.units import http_text
from tests.politeness.model import Impolite
from tests.politeness.script import ROBOTS, Answer
from tests.politeness.virtual_loop import NOON

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.parse.messages import Request
    from tests.politeness import script
    from tests.politeness.model import Model
    from tests.politeness.virtual_loop import VirtualLoop

_NO_ROBOTS = Answer(404)
_PAGE = Answer()
_MANY = 60  # requests of one crawl: more of them say nothing new


class ScriptedNetwork:
    """A fetcher that tells a model when requests are sent, and when their answers have come.

    Args:
        hosts: How hosts answer.
        model: Follows the requests.
        loop: Whose time it is.

    Attributes:
        impolite: The first request that should not have been sent; it is never answered.
        over: Whether there was one, or many requests were sent.
        sent: Addresses of the requests, and when they were sent.
    """

    def __init__(self, hosts: script.Network, model: Model, loop: VirtualLoop) -> None:
        self.impolite: Impolite | None = None
        self.over = asyncio.Event()
        self.sent: list[tuple[float, str]] = []
        self._hosts = hosts
        self._model = model
        self._loop = loop
        self._asked: Counter[str] = Counter()
        self._free = asyncio.Semaphore(hosts.connections)
        self._dead = False

    def die(self) -> None:
        """Answer nobody any more."""
        self._dead = True

    def live(self) -> None:
        """Answer again, to another crawl."""
        self._dead = False
        self.over.clear()
        self._free = asyncio.Semaphore(self._hosts.connections)

    async def fetch(self, request: Request, on_send: Callable[[], object] = bool) -> Response:
        """What the script says next for an address."""
        address, loop = request.address, self._loop
        async with self._free:
            answer = self._next(address)
            if answer.hold:
                await asyncio.sleep(answer.hold)
            if self._dead:
                await loop.create_future()
            on_send()
            await self._send(address)
            ended = None
            try:
                await asyncio.sleep(answer.seconds)
                ended = answer
            finally:
                self._model.ended(address, ended, loop.now)
        return self._response(request, answer)

    async def close(self) -> None:
        """Nothing to close."""

    async def _send(self, address: str) -> None:
        self._asked[address] += 1
        self.sent.append((self._loop.now, address))
        if not len(self.sent) % _MANY:
            self.over.set()
        try:
            self._model.sent(address, self._loop.now)
        except Impolite as error:
            self.impolite = error
            self.over.set()
            self.die()
            await self._loop.create_future()

    def _next(self, address: str) -> Answer:
        answers = self._hosts.answers.get(address)
        if not answers:
            return _NO_ROBOTS if address.endswith(ROBOTS) else _PAGE
        return answers[min(self._asked[address], len(answers) - 1)]

    def _response(self, request: Request, answer: Answer) -> Response:
        address = request.address
        if answer.problem:
            problem = "dropped" if answer.problem == "stale" else answer.problem
            stale = answer.problem == "stale"
            return Response(address, problem=problem, detail="as scripted", stale=stale)
        headers = {"content-type": "text/html"}
        if answer.retry_after is not None:
            headers["retry-after"] = f"{answer.retry_after:g}"
            if answer.dated:  # by the host's own clock
                now = int(NOON + self._loop.now)
                headers["date"] = http_text(now)
                headers["retry-after"] = http_text(now + answer.retry_after)
        text = answer.text if answer.rules is None else answer.rules.text
        return Response(
            address,
            answer.status,
            headers,
            text.encode(),
            seconds=answer.seconds,
            waited_seconds=answer.waited,
            target=answer.target,
        )
