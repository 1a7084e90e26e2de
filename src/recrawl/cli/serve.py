"""`recrawl serve`: the dashboard and the HTTP API of a crawl.

Touches: files, the network, the clock, signals, the standard streams.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import screen, shared
from recrawl.errors import InvalidParameter, MissingExtra

if TYPE_CHECKING:
    from recrawl.scheduler import Scheduler
    from recrawl.serve.safety import ServerAccess
    from recrawl.serve.source import ServedCrawl

TOKEN = "RECRAWL_TOKEN"  # noqa: S105 - name of the variable that may hold it
_SHORTEST_TOKEN = 16

_LISTEN = typer.Option(
    "--listen", metavar="ADDRESS", help="IP address of this machine to listen on."
)
_PORT = typer.Option(metavar="PORT", help="Port to listen on; 0 for any.", min=0, max=65535)
_SCHEDULE = typer.Option(
    "--schedule",
    help="Also schedule visits of other crawlers, which the API leases pages to.",
)
_NAME = typer.Option(
    "--name",
    metavar="NAME",
    help="Name that browsers reach it by besides, such as a proxy's; may be repeated.",
    show_default=False,
)


def serve(
    *,
    listen_on: Annotated[str, _LISTEN] = "127.0.0.1",
    port: Annotated[int, _PORT] = 8117,
    names: Annotated[list[str] | None, _NAME] = None,
    schedule: Annotated[bool, _SCHEDULE] = False,
    settings: Annotated[Path, shared.SETTINGS_OR_STORE] = Path("recrawl.toml"),
) -> None:
    """Show the crawl in a browser, and answer programs over HTTP.

    The dashboard shows how fresh the copies are, where the budget goes, what
    changed, what is next and why, also while a crawl is running. It reads
    recrawl.toml and the store beside it and changes neither. Nothing is loaded from
    elsewhere. The API is at /api/v1/, described by /api/v1/openapi.json. With
    --schedule it holds the store as a crawl does, and leases pages to crawlers that
    report what they find; RECRAWL_TOKEN sets the token that they need.

    Only this machine can reach it, unless --listen says otherwise; everyone who does
    needs the token then, which the printed link contains. Ctrl-C ends it. Needs
    `pip install '.[serve]'`.

    \b
    Examples:
        recrawl serve
        recrawl serve --port 9000 --settings news/recrawl.toml
        recrawl serve --listen 0.0.0.0 --name crawl.example.org
        recrawl serve --schedule
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    check_extra()

    from recrawl.serve.app import create_app
    from recrawl.serve.lending import SchedulerOwner
    from recrawl.serve.running import address_of, give_way, listen, run
    from recrawl.serve.safety import ServerAccess
    from recrawl.serve.source import ServedCrawl

    source = ServedCrawl(settings)
    with source.open() as reader:  # what is wrong with it is said now
        source.settings(reader)
    access = ServerAccess.at(listen_on, token_of(), names or ())
    listener = listen(listen_on, port)

    def tell() -> None:
        screen.say(link_to(access, address_of(listener, (names or [listen_on])[0])))
        if not access.open_to_read:
            screen.remark("Whoever has this link can read everything; others cannot.")
        elif schedule:
            say_token(access)
        sys.stdout.flush()  # whoever started this may wait for the address

    with ExitStack() as stack:
        owner = None
        if schedule:
            scheduler = stack.enter_context(_scheduler(settings, source))
            owner = SchedulerOwner(scheduler)
        else:
            give_way()
        stack.enter_context(suppress(KeyboardInterrupt))
        run(create_app(source, access, owner), listener, tell)


def link_to(access: ServerAccess, address: str) -> str:
    """What people open in a browser: it logs in those who need the token."""
    from recrawl.serve.safety import LOGIN

    return f"{address}/" if access.open_to_read else f"{address}{LOGIN}?token={access.token}"


def _scheduler(settings: Path, source: ServedCrawl) -> Scheduler:
    """The schedule of a crawl, by its settings or by a store that has them."""
    import json

    from recrawl.scheduler import Scheduler

    if source.store() == settings:
        with source.open() as reader:  # its settings were read before, and are sound
            plain = json.loads(reader.settings_used())
        return Scheduler.open(settings, **plain)
    return Scheduler.open(settings=settings)


def check_extra() -> None:
    """Raise where the extra is not installed, before anything else is done."""
    try:
        import uvicorn  # noqa: F401 - loaded only when a server runs

        import recrawl.serve.app  # noqa: F401 - to see whether it can be
    except ModuleNotFoundError as error:
        if error.name not in ("fastapi", "starlette", "jinja2", "uvicorn"):
            raise
        raise MissingExtra("`recrawl serve`", "serve") from None


def token_of() -> str:
    """The token of the environment, or a new one."""
    import os

    from recrawl.serve.safety import new_token

    given = os.environ.get(TOKEN)
    if given is None:
        return new_token()
    if not (len(given) >= _SHORTEST_TOKEN and given.isascii() and given.isprintable()):
        raise InvalidParameter(
            f"{TOKEN} must have {_SHORTEST_TOKEN} letters or more, of ASCII; leave it out to have "
            "one made"
        )
    return given


def say_token(access: ServerAccess) -> None:
    """Print the token of a server that changes something, unless the environment has it."""
    import os

    if TOKEN not in os.environ:
        screen.remark(f"Token for calls that change something: {access.token}")
