"""DNS resolver without the addresses that a crawl must not connect to.

The connection uses the very addresses that were checked, so a name server cannot give one address
to the check and another to the connection (DNS rebinding). The connector caches the results.

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

# A dead name server blocks a thread for many seconds; the event loop's own threads would run out.
_THREADS = 32
NOT_PUBLIC = "is not a public address"


class GuardedResolver(AbstractResolver):
    """Resolver that leaves out addresses which are not `allowed`.

    Args:
        local: Whether loopback and private addresses are allowed.
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
        """Allowed addresses of `host`; raise `FetchFailed` if it has only others."""
        found = await asyncio.get_running_loop().run_in_executor(
            self._threads, _look_up, host, port, family
        )
        fine = [place for place in found if allowed(place["host"], local=self._local)]
        if found and not fine:
            raise refused(found[0]["host"])
        return fine

    async def close(self) -> None:
        """Shut down the threads without waiting for pending lookups."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def refused(address: str) -> FetchFailed:
    """The failure to connect to an address that is not `allowed`.

    >>> str(refused("192.168.0.1"))
    '192.168.0.1 is not a public address'
    """
    return FetchFailed("private", f"{address} {NOT_PUBLIC}")


def _look_up(host: str, port: int, family: socket.AddressFamily) -> list[ResolveResult]:
    """All addresses of `host`, in digits."""
    try:
        answers = socket.getaddrinfo(host, port, family, socket.SOCK_STREAM)
    except UnicodeError as error:  # a label that is not a valid host name
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
