"""Names to addresses, without those that a crawl must not connect to.

The addresses judged here are the very ones that are connected to: a name server that gives one
answer to the check and another to the connection finds no second question to answer. Answers are
cached by the connector that asks.

Touches: name servers, through the system's resolver in threads.
"""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from aiohttp.abc import AbstractResolver

from recrawl.errors import FetchFailed
from recrawl.fetch.http.guard import allowed

if TYPE_CHECKING:
    from aiohttp.abc import ResolveResult

# A dead name server holds a thread for many seconds; the loop's own few threads would be gone.
_THREADS = 32


class GuardedResolver(AbstractResolver):
    """Resolver that leaves out addresses which are not `allowed`.

    Args:
        local: Whether loopback and private addresses are fine.
    """

    def __init__(self, *, local: bool = False) -> None:
        self._local = local
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="recrawl-names")

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_UNSPEC,
    ) -> list[ResolveResult]:
        """Addresses of `host` that may be asked; `FetchFailed` if it has only others."""
        found = await asyncio.get_running_loop().run_in_executor(
            self._threads, _look_up, host, port, family
        )
        fine = [place for place in found if allowed(place["host"], local=self._local)]
        if found and not fine:
            raise refused(found[0]["host"])
        return fine

    async def close(self) -> None:
        """Let the threads go when their last answers are in; nobody waits for them."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def refused(address: str) -> FetchFailed:
    """The failure to connect to an address that is not `allowed`.

    >>> str(refused("192.168.0.1"))
    'host must have a public address (got 192.168.0.1)'
    """
    return FetchFailed("private", f"host must have a public address (got {address})")


def _look_up(host: str, port: int, family: socket.AddressFamily) -> list[ResolveResult]:
    """All addresses of `host`, in digits."""
    try:
        answers = socket.getaddrinfo(host, port, family, socket.SOCK_STREAM)
    except UnicodeError as error:  # a label that the codec for names does not take
        raise socket.gaierror(socket.EAI_NONAME, "no valid name") from error
    return [
        {
            "hostname": host,
            "host": str(place[0]),
            "port": port,
            "family": kind,
            "proto": protocol,
            "flags": socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
        }
        for kind, _, protocol, _, place in answers
    ]
