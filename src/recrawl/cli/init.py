"""`recrawl init`: create the settings and the store of a crawl.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recrawl.cli import screen
from recrawl.errors import CannotWrite, InvalidParameter, reason

_FOLDER = typer.Argument(
    metavar="FOLDER", help="Folder of the crawl; created if it does not exist."
)
_AGENT = typer.Option(
    metavar="TEXT",
    help="Name of your crawler, with a contact: https://... or an e-mail address.",
    show_default=False,
)


def init(
    folder: Annotated[str, _FOLDER] = ".",
    *,
    agent: Annotated[str, _AGENT] = "",
) -> None:
    """Start a crawl: write its settings and an empty store.

    Writes recrawl.toml, with all settings at their defaults and a comment each,
    and recrawl.db, which will hold pages, visits and versions, to FOLDER.
    Existing files are never overwritten. Nothing is fetched.

    \b
    Examples:
        recrawl init
        recrawl init news --agent "my-crawler (+https://example.org/about)"
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.settings.settings import FILE_NAME, STORE_NAME
    from recrawl.settings.text import first_settings

    _check_agent(agent)
    place = _folder(folder)
    settings, store = place / FILE_NAME, place / STORE_NAME
    text = first_settings(agent)
    unfinished = _is_unfinished(settings, store, text)
    if not unfinished:
        if settings.exists() and not agent and _make_missing_store(settings):
            return
        _check_absent(settings)
        _check_absent(store)
    _make(place)
    had_settings = settings.exists()
    if not had_settings:
        _write_new(settings, text)
    try:
        if not _is_empty_store(store):
            _create_empty(store)
    except BaseException:  # an interrupt, too: settings without a store are no crawl
        if not had_settings:
            settings.unlink(missing_ok=True)
        raise
    for sentence in _next_steps(place, settings, store, agent=agent):
        screen.remark(sentence)


def _is_unfinished(settings: Path, store: Path, text: str) -> bool:
    """Whether there is nothing but what an `init` with the same options has made, or a part of it.

    One that was killed may have left the settings without a store, or a store without settings;
    repeating the command completes it, and changes nothing where all is there.
    """
    if settings.is_symlink() or store.is_symlink():
        return False
    has_settings = settings.exists()
    if has_settings and (not settings.is_file() or settings.read_bytes() != text.encode()):
        return False
    if not store.exists():
        return has_settings
    return store.is_file() and (not store.stat().st_size or _is_empty_store(store))


def _is_empty_store(path: Path) -> bool:
    """Whether there is a store without pages."""
    from recrawl.errors import StoreError
    from recrawl.store import is_store, open_for_writing

    if not is_store(path):
        return False
    try:
        with open_for_writing(path) as store:  # completes one that an older version left half made
            return not store.page_count()
    except StoreError:
        return False


def _make_missing_store(settings: Path) -> bool:
    """Create the store of existing settings; False if they have one."""
    from recrawl.store import is_taken
    from recrawl.store.settings_file import load_settings, store_of

    store = store_of(settings, load_settings(settings))
    if store.is_symlink() or is_taken(store):
        return False
    _create_empty(store)
    screen.remark(f"Wrote {store} for the settings in {settings}. Next: recrawl crawl")
    return True


def _folder(given: str) -> Path:
    """A folder by its name; an address of a site is none."""
    if given.lower().startswith(("http://", "https://")):
        message = f"{given} is an address, not a folder; run `recrawl init`, then `recrawl add`"
        raise InvalidParameter(f"{message} with it")
    return Path(given)


def _check_agent(agent: str) -> None:
    """Raise for an agent that the settings would not accept; an empty one is filled in later."""
    from recrawl.settings.keys import TOP

    key = TOP["agent"]
    if agent and key.read(agent) is None:
        raise InvalidParameter(f"agent must be {key.rule} (got {agent!r})")


def _check_absent(path: Path) -> None:
    # A dangling symbolic link does not "exist".
    if path.exists() or path.is_symlink():
        edit = "edit it, or " if path.suffix == ".toml" else ""
        raise CannotWrite(f"{path} already exists; {edit}choose another folder")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(f"{folder} cannot be created ({reason(error)})") from None


def _write_new(path: Path, text: str) -> None:
    """Create a file, whole or not at all."""
    from recrawl.store.scratch import new_file

    with new_file(path) as (file, _):
        file.write(text.encode())


def _create_empty(path: Path) -> None:
    """Create a store, whole or not at all."""
    from recrawl.store import create_store, delete_store
    from recrawl.store.places import ServerPlace

    try:
        create_store(path).close()
    except BaseException:  # as above; the file is ours, since the settings are
        if not isinstance(path, ServerPlace):  # where somebody else may have been faster
            delete_store(path)
        raise


def _next_steps(folder: Path, settings: Path, store: Path, *, agent: str) -> list[str]:
    """What was written, and the next steps."""
    import shlex

    steps = [f"cd {shlex.quote(str(folder))}"] if folder != Path() else []
    if not agent:
        steps.append('recrawl set "agent=my-copy (me@example.org)"  (the name that sites see)')
    steps += ["recrawl add https://...", "recrawl crawl"]
    return [
        f"Wrote {settings} and {store}. Next:",
        *(f"  {number}. {step}" for number, step in enumerate(steps, 1)),
    ]
