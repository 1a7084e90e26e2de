"""The file of settings beside a store, and which settings a store is used with.

Touches: files.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from recrawl.errors import InvalidSettings, reason
from recrawl.parse.store_addresses import is_postgres
from recrawl.settings.settings import FILE_NAME, MOST_CHARACTERS, plain_settings, read_settings
from recrawl.store import file_of, is_store
from recrawl.store.places import place_of

if TYPE_CHECKING:
    from recrawl.entries.store import ReadStore
    from recrawl.settings.settings import Settings


def load_settings(path: Path) -> Settings:
    """Read the settings file; a file of weights that it names is read when it is needed."""
    return settings_of(load_text(path), path)


def settings_of(text: str, path: Path) -> Settings:
    """Settings in the text of a settings file, as `load_settings` has them."""
    settings = read_settings(text, name=str(path))
    if not settings.weights:
        return settings
    from recrawl.adapters.tables.weights import CrawlWeights  # as `pyproject.toml` allows here

    return replace(settings, weights_file=CrawlWeights(path.parent / settings.weights))


def load_text(path: Path) -> str:
    """Text of the settings file."""
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(MOST_CHARACTERS + 1)  # one more is refused
    except FileNotFoundError:
        raise InvalidSettings(_not_found(path)) from None
    except OSError as error:
        raise InvalidSettings(f"{path} cannot be read ({reason(error)})") from None
    except UnicodeDecodeError:
        what = "a store, not settings" if is_store(path) else "not UTF-8 text"
        raise InvalidSettings(f"{path} is {what}") from None


def _not_found(path: Path) -> str:
    """What to do where there are no settings.

    >>> _not_found(Path("recrawl.toml"))
    'No recrawl.toml here. Run `recrawl init` first.'
    >>> _not_found(Path("news/recrawl.toml"))
    'news/recrawl.toml not found. Run `recrawl init news` first.'
    >>> _not_found(Path("news.toml"))
    'news.toml not found'
    """
    if path.name != FILE_NAME:  # somebody named it, and `recrawl init` would not write it
        return f"{path} not found"
    if path.parent == Path():
        return f"No {path} here. Run `recrawl init` first."
    return f"{path} not found. Run `recrawl init {shlex.quote(str(path.parent))}` first."


def store_of(settings: Path, asked: Settings) -> Path:
    """Place of the store that settings name; a relative path starts at the settings file."""
    if is_postgres(asked.store):
        return place_of(asked.store)
    return settings.parent / file_of(asked.store)


def settings_in(reader: ReadStore) -> Settings:
    """Plain settings that a scheduler was opened with on a store.

    Raises:
        InvalidSettings: The store has none, or something that nobody wrote so.
    """
    text = reader.settings_used()
    if not text:
        raise InvalidSettings(
            f"{reader.name} has no settings of its own; give its {FILE_NAME} with --settings"
        )
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise InvalidSettings(f"{reader.name} is damaged (its settings are not a JSON object)")
    return plain_settings(values, name=reader.name)
