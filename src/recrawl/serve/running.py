"""The server on a port, until it is stopped.

Touches: the network, signals.
"""

from __future__ import annotations

import asyncio
import os
import socket
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING

from recrawl.errors import CannotListen, InvalidParameter, reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastapi import FastAPI

_WAITING = 128  # connections that nobody has taken yet
_LAST_SECONDS = 3  # that open streams have, once the server is asked to stop
_NICENESS = 10  # a crawl that wants the processor has nine times as much of it


def address_to_listen_on(host: str) -> str:
    """The IP address of what `--listen` names; no name is looked up.

    Raises:
        InvalidParameter: It is neither an IP address nor `localhost`.

    Examples:
        >>> [address_to_listen_on(each) for each in ("localhost", "0.0.0.0", "fe80::1%lo")]
        ['127.0.0.1', '0.0.0.0', 'fe80::1%lo']
    """
    if host == "localhost":
        return "127.0.0.1"
    try:
        return str(ip_address(host))
    except ValueError:
        raise InvalidParameter(
            f"--listen must be an IP address of this machine or localhost (got {host!r}); --name "
            "gives a server further names"
        ) from None


def listen(host: str, port: int) -> socket.socket:
    """A socket on an address.

    Args:
        host: The address, or "localhost".
        port: The port; 0 for any that is free.

    Raises:
        CannotListen: Somebody else has it, or the address is not this machine's.
        InvalidParameter: It is the name of a machine.
    """
    numeric = address_to_listen_on(host)
    only = socket.AI_PASSIVE | socket.AI_NUMERICHOST
    try:
        found = socket.getaddrinfo(numeric, port, type=socket.SOCK_STREAM, flags=only)
        family, kind, protocol, _, address = found[0]
        # By its protocol a server knows that it is TCP, and sends small answers at once.
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise CannotListen(f"cannot listen on {host} ({reason(error)})") from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_WAITING)
    except OSError as error:
        listener.close()
        message = f"cannot listen on {host} port {port} ({reason(error)}); --port chooses another"
        raise CannotListen(message) from None
    return listener


def address_of(listener: socket.socket, host: str) -> str:
    """Address that a browser takes for a socket.

    Args:
        listener: The socket.
        host: What it was opened for.
    """
    port = listener.getsockname()[1]
    try:
        shown = f"[{host}]" if isinstance(ip_address(host), IPv6Address) else host
    except ValueError:
        shown = host
    return f"http://{shown}:{port}"


def give_way() -> None:
    """Let a crawl on the same machine go first, where the system knows of such a thing."""
    if hasattr(os, "nice"):
        os.nice(_NICENESS)


def run(app: FastAPI, listener: socket.socket, on_start: Callable[[], object]) -> None:
    """Answer requests until SIGINT or SIGTERM.

    Args:
        app: Answers them.
        listener: Where they come in; closed at the end.
        on_start: Called once they are answered.
    """
    import uvicorn

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_LAST_SECONDS,
    )

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            on_start()

    try:
        asyncio.run(Server(config).serve([listener]))
    finally:
        listener.close()
