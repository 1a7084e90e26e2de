"""`recrawl serve`: the dashboard and the HTTP API of a crawl.

Touches: files, the network, the clock, signals, the standard streams.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import screen, shared
from recrawl.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterator

_HOST = typer.Option(metavar="HOST", help="Address to listen on.")
_PORT = typer.Option(metavar="PORT", help="Port to listen on; 0 for any.", min=0, max=65535)
_NAME = typer.Option(
    "--name",
    metavar="NAME",
    help="Name that browsers reach it by besides, such as a proxy's; may be repeated.",
    show_default=False,
)


def serve(
    *,
    host: Annotated[str, _HOST] = "127.0.0.1",
    port: Annotated[int, _PORT] = 8117,
    names: Annotated[list[str] | None, _NAME] = None,
    settings: Annotated[Path, shared.SETTINGS_OR_STORE] = Path("recrawl.toml"),
) -> None:
    """Show the crawl in a browser, and answer programs over HTTP.

    The dashboard shows how fresh the copies are, where the budget goes, what
    changed, what is next and why, also while a crawl is running. It reads
    recrawl.toml and the store beside it and changes neither. Nothing is loaded from
    elsewhere. The API is at /api/v1/, described by /api/v1/openapi.json.

    Only this machine can reach it, unless --host says otherwise; everyone who does
    needs the token then, which the printed link contains. Ctrl-C ends it. Needs
    `pip install 'recrawl[serve]'`.

    \b
    Examples:
        recrawl serve
        recrawl serve --port 9000 --settings news/recrawl.toml
        recrawl serve --host 0.0.0.0 --name crawl.example.org
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    with needs_extra():
        from recrawl.serve.app import create_app
        from recrawl.serve.safety import LOGIN, Access, new_token
        from recrawl.serve.source import Source

    from recrawl.serve.running import address_of, listen, run

    source = Source(settings)
    with source.open() as reader:  # what is wrong with it is said now
        source.settings(reader)
    access = Access.at(host, new_token(), names or ())
    listener = listen(host, port)

    def tell() -> None:
        address = address_of(listener, (names or [host])[0])
        if access.open_to_read:
            screen.say(f"{address}/")
        else:
            screen.say(f"{address}{LOGIN}?token={access.token}")
            screen.remark("Whoever has this link can read everything; others cannot.")

    with suppress(KeyboardInterrupt):
        run(create_app(source, access), listener, tell)


def check_extra() -> None:
    """Raise where the extra is not installed, before anything else is done."""
    with needs_extra():
        import recrawl.serve.app  # noqa: F401 - to see whether it can be


@contextmanager
def needs_extra() -> Iterator[None]:
    """Turn a missing package of the extra into a sentence."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in ("fastapi", "starlette", "jinja2", "uvicorn", "pydantic"):
            raise
        raise MissingExtra("`recrawl serve`", "serve") from None
