"""Answers that take long: whoever asks is told so after some seconds, and asks again.

What is worked out goes on meanwhile and is kept, so a later question finds it. On a large store the
first who look would wait for half a minute before an empty window otherwise.

Touches: the network, the clock.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from fastapi import Request
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    Handler = Callable[[Request], Coroutine[Any, Any, Response]]

_SECONDS = 5.0
AGAIN_SECONDS = 2
ACCEPTED = 202  # it is being worked out


class PatientRoute(APIRoute):
    """A call whose answer is kept once it is worked out, however long that takes."""

    def get_route_handler(self) -> Handler:
        """What answers it."""
        answer = super().get_route_handler()

        async def patient(request: Request) -> Response:
            try:
                async with asyncio.timeout(_SECONDS):
                    return await answer(request)
            except TimeoutError:
                return self.waiting(request)

        return patient

    @staticmethod
    def waiting(request: Request) -> Response:  # noqa: ARG004 - pages want to know it
        """What is told meanwhile."""
        headers = {"retry-after": str(AGAIN_SECONDS), "cache-control": "no-store"}
        return JSONResponse({"waiting": True}, ACCEPTED, headers)
