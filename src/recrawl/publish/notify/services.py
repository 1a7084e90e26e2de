"""Notification services, reached through a process of their own.

apprise blocks, and a thread that hangs cannot be ended; a process can. What it is told travels
through a pipe: no address is in an argument or an environment that others can see.

Touches: processes.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from recrawl.errors import DeliveryFailed, InvalidSettings, MissingExtra
from recrawl.fetch.references import read_reference
from recrawl.publish.notify.messages import MessageRoom
from recrawl.publish.programs import end_process
from recrawl.publish.retries import Attempt

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from recrawl.publish.notify.messages import Message
    from recrawl.settings.notify_keys import Recipient
    from recrawl.settings.settings import Settings

    Send = Callable[["Service", Message], Awaitable[Attempt]]

MOST_SECONDS = 60.0
_COMMAND = (sys.executable, "-P", "-m", "recrawl.publish.notify.sender")
_MOST_ANSWER = 1 << 20


@dataclass(frozen=True, slots=True)
class Service:
    """A notification service, and what it takes.

    Args:
        address: Its address, which holds passwords.
        room: Messages that it takes.
    """

    address: str = field(repr=False)
    room: MessageRoom


@dataclass(frozen=True, slots=True)
class NotifyTarget:
    """People who are told of changes, and the service that reaches them."""

    recipient: Recipient
    service: Service


def notify_targets(settings: Settings, folder: Path) -> tuple[NotifyTarget, ...]:
    """Recipients of the settings with their services.

    Args:
        settings: The settings.
        folder: Where paths of addresses begin.

    Raises:
        MissingExtra: apprise is not installed.
        InvalidSettings: An address is not where it should be, or is of no service.
    """
    if not settings.recipients:
        return ()
    if find_spec("apprise") is None:
        raise MissingExtra("[[notify]]", "notify")
    references = [each.address for each in settings.recipients]
    addresses = [read_reference(each, folder, "address").reveal() for each in references]
    found = []
    for reference, address, takes in zip(references, addresses, _check(addresses), strict=True):
        if takes is None:
            rule = "it must be one that apprise knows, such as mailto://... or json://..."
            raise InvalidSettings(f"address {reference}: {rule}")
        found.append(Service(address, MessageRoom(**takes)))
    pairs = zip(settings.recipients, found, strict=True)
    return tuple(NotifyTarget(recipient, service) for recipient, service in pairs)


def _check(addresses: list[str]) -> list[dict[str, Any] | None]:
    """What the services of some addresses take; None for those of no service."""
    asked = json.dumps({"addresses": addresses}).encode() + b"\n"
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            _COMMAND,
            input=asked,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=MOST_SECONDS,
            check=True,
        )
        return list(json.loads(done.stdout))
    except (OSError, ValueError, subprocess.SubprocessError):
        raise DeliveryFailed("apprise cannot be loaded to send notifications") from None


async def send(service: Service, message: Message, most_seconds: float = MOST_SECONDS) -> Attempt:
    """Send a message.

    Args:
        service: Where to.
        message: What.
        most_seconds: After which the attempt is ended.
    """
    asked = {
        "address": service.address,
        "markup": service.room.markup,
        "title": message.title,
        "body": message.body,
    }
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *_COMMAND,
            stdin=pipe,
            stdout=pipe,
            stderr=nothing,
            start_new_session=True,
            limit=_MOST_ANSWER,
        )
    except OSError:
        return Attempt("no process could be started", ours=True)
    try:
        async with asyncio.timeout(most_seconds):
            answer = await _ask(process, json.dumps(asked).encode() + b"\n")
    except TimeoutError:
        return Attempt(f"took more than {most_seconds:g} s")
    finally:
        await end_process(process)
    return Attempt(answer)


async def _ask(process: Process, line: bytes) -> str:
    """Ask the program; what went wrong, empty for nothing."""
    assert process.stdin is not None  # noqa: S101 - pipes, as asked for
    assert process.stdout is not None  # noqa: S101
    try:
        process.stdin.write(line)
        await process.stdin.drain()
        return str(json.loads(await process.stdout.readline())["problem"])
    except (OSError, ValueError, KeyError, TypeError):  # it was ended, or has failed
        return "apprise has failed"
