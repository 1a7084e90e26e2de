"""`recrawl init`: the settings and the store of a new crawl.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_FOLDER = typer.Argument(metavar="FOLDER", help="Where it is kept; made if it is not there.")
_AGENT = typer.Option(
    metavar="TEXT",
    help="Name of your crawler with a contact in it: an address https://... or an e-mail.",
    show_default=False,
)


def init(
    folder: Annotated[Path, _FOLDER] = Path(),
    *,
    agent: Annotated[str, _AGENT] = "",
) -> None:
    """Begin a crawl: write its settings and an empty store.

    FOLDER gets recrawl.toml, where every setting stands with its default and a
    comment, and recrawl.db, which will hold pages, visits and versions. What is
    there already is not written over. Nothing is fetched.

    \b
    Examples:
        recrawl init
        recrawl init news --agent "my-crawler (+https://example.org/about)"
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.cli import screen
    from recrawl.settings.settings import FILE_NAME, STORE_NAME
    from recrawl.settings.text import first_settings

    _check_agent(agent)
    settings, store = folder / FILE_NAME, folder / STORE_NAME
    if settings.exists() and not agent and _make_missing_store(settings):
        return
    _check_absent(settings)
    _check_absent(store)
    _make(folder)
    _write_new(settings, first_settings(agent))
    try:
        _create_empty(store)
    except BaseException:  # whatever it is, an interrupt too: half a beginning is in the way
        settings.unlink(missing_ok=True)
        raise
    for sentence in _next_steps(folder, settings, store, agent=agent):
        screen.remark(sentence)


def _make_missing_store(settings: Path) -> bool:
    """Make the store of settings that have none; False where they have one."""
    from recrawl.cli import screen
    from recrawl.cli.crawling import load_settings, store_of

    store = store_of(settings, load_settings(settings))
    if store.exists() or store.is_symlink():
        return False
    _create_empty(store)
    screen.remark(f"Wrote {store} for the settings in {settings}. Next: recrawl crawl")
    return True


def _check_agent(agent: str) -> None:
    """Refuse what the settings would refuse; nothing at all is filled in later."""
    from recrawl.errors import InvalidParameter
    from recrawl.settings.keys import TOP

    key = TOP["agent"]
    if agent and key.read(agent) is None:
        raise InvalidParameter(f"agent must be {key.rule} (got {agent!r})")


def _check_absent(path: Path) -> None:
    from recrawl.errors import CannotWrite

    # A link that leads nowhere does not exist, and yet it is there.
    if path.exists() or path.is_symlink():
        message = f"{path}: must not be there yet, for a crawl is begun only once (it is there)"
        raise CannotWrite(message)


def _make(folder: Path) -> None:
    from recrawl.errors import CannotWrite, reason

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"{folder}: must be a folder, or a place for one ({reason(error)})"
        raise CannotWrite(message) from None


def _write_new(path: Path, text: str) -> None:
    """Write a file that is not there, whole or not at all."""
    from recrawl.errors import CannotWrite, reason

    try:
        file = path.open("x", encoding="utf-8", newline="\n")
    except OSError as error:
        message = f"{path}: folder must be one that can be written to ({reason(error)})"
        raise CannotWrite(message) from None
    try:
        with file:
            file.write(text)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise CannotWrite(f"{path}: settings could not be written ({reason(error)})") from None


def _create_empty(path: Path) -> None:
    """Make a store, whole or not at all."""
    from recrawl.store import create_store, delete_store

    try:
        create_store(path).close()
    except BaseException:  # as above; nobody else has made it since the settings are ours
        delete_store(path)
        raise


def _next_steps(folder: Path, settings: Path, store: Path, *, agent: str) -> list[str]:
    """What was done, and what a person does next."""
    import shlex

    steps = [f"cd {shlex.quote(str(folder))}"] if folder != Path() else []
    if not agent:
        steps.append(f"edit {settings.name}: set agent, the name and contact that sites see")
    steps += ["recrawl add https://...", "recrawl crawl"]
    return [
        f"Wrote {settings} and {store}. Next:",
        *(f"  {number}. {step}" for number, step in enumerate(steps, 1)),
    ]
