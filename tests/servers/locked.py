"""What a `FaultServer` shows to those who may see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.servers.faults import Behaviour, Wire


def demanding(behaviour: Behaviour, wanted: dict[str, str], code: int = 401) -> Behaviour:
    """What `behaviour` does for requests with such headers, by lower-case name; else a refusal that
    repeats all that was sent, as pages for debugging do.
    """

    async def behave(wire: Wire) -> None:
        sent = wire.request.headers
        if all(sent.get(name) == value for name, value in wanted.items()):
            await behaviour(wire)
        else:
            await wire.answer(code, {"Content-Type": "text/html"}, f"<p>{sent}</p>".encode())

    return behave


async def echo(wire: Wire) -> None:
    """A page that shows all that was sent, in its body and in a header."""
    sent = wire.request.headers
    said = f"<p>You sent {sent}</p>".encode()
    await wire.answer(
        200, {"Content-Type": "text/html", "X-Sent": str(sent), "Set-Cookie": "s=fresh"}, said
    )
