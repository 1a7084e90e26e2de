"""Single values of `recrawl.toml` changed in its text; all else stays as a person wrote it.

Pure.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from datetime import date, time
from typing import TYPE_CHECKING, Any

from recrawl.errors import InvalidSettings, without_logins
from recrawl.parse.addresses import canonical
from recrawl.settings.key_lines import KeyLayout
from recrawl.settings.keys import TOP
from recrawl.settings.sections import BLOCK_KEYS, TABLES, TITLES, TOP_TITLE, read_value, shown
from recrawl.settings.settings import FILE_NAME, read_settings
from recrawl.settings.text import first_settings, toml_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from recrawl.settings.key_lines import KeyPath
    from recrawl.settings.keys import Key

_ASSIGNMENT = re.compile(r"(?P<key>[A-Za-z]\w*(?:\.\w+)?)=(?P<value>.*)", re.ASCII | re.DOTALL)
_WHOLE_CRAWL: KeyPath = ()


@dataclass(frozen=True, slots=True)
class SettingsEdit:
    """A value that was changed.

    Args:
        part: Title of the part of the settings, with its address or name; empty for the top.
        key: The key.
        before: Value that it had, as the settings write it; None where it was not set.
        after: Value that it has now; None where it is no longer set.
    """

    part: str
    key: str
    before: str | None
    after: str | None

    def sentence(self) -> str:
        """What has changed.

        >>> SettingsEdit("[politeness]", "delay", '"1s"', '"2s"').sentence()
        '[politeness] delay = "2s" (was "1s")'
        """
        named = f"{self.part} {self.key}".strip()
        had = "not set" if self.before is None else self.before
        if self.before == self.after:
            return f"{named} {'was not set' if self.after is None else f'was {had} already'}"
        return (
            f"{named} removed (was {had})"
            if self.after is None
            else (f"{named} = {self.after} (was {had})")
        )


@dataclass(frozen=True, slots=True)
class Setting:
    """A value that is in force.

    Args:
        part: Title of the part of the settings, with its address or name; empty for the top.
        key: The key.
        value: Its value, as people type it.
        line: Line of the settings that it is in; 0 for a default.
    """

    part: str
    key: str
    value: str
    line: int


def read_assignment(word: str) -> tuple[str, str] | None:
    """Key and value of `KEY=VALUE`; None for what is none, such as an address.

    >>> read_assignment("storage.keep=30d"), read_assignment("https://example.org/?a=b")
    (('storage.keep', '30d'), None)
    """
    match = _ASSIGNMENT.fullmatch(word)
    return None if match is None else (match["key"], match["value"])


def with_values(
    text: str,
    values: Mapping[str, Sequence[str] | None],
    *,
    blocks: Sequence[str] = (),
    page: bool = False,
    name: str = FILE_NAME,
) -> tuple[str, list[SettingsEdit]]:
    r"""The settings with other values, and what has changed.

    Args:
        text: Settings; where they are not valid, the values must make them so.
        values: Values as people type them, by key; several make a list, None unsets the key.
        blocks: Addresses or names of blocks; none for the settings of the whole crawl.
        page: Whether of a site and a page at one address the page is meant.
        name: What errors call the text.

    Raises:
        InvalidSettings: A block or key is unknown, or the settings would not be valid.

    Examples:
        >>> settings = 'agent = "bot (me@example.org)"  # mine\nbudget = "500/1d"  # for now\n'
        >>> print(with_values(settings, {"budget": ["900/1d"], "politeness.delay": ["2s"]})[0])
        agent = "bot (me@example.org)"  # mine
        budget = "900/1d"  # for now
        <BLANKLINE>
        [politeness]
        delay = "2s"
        <BLANKLINE>
    """
    text = text.removeprefix("\ufeff")
    settings = None
    try:
        settings = read_settings(text, name=name)
    except InvalidSettings:
        if blocks or not _is_toml(text):  # else, what is wrong may be what is set
            raise
    changes = []
    for block in blocks or [""]:
        path = _block_path(tomllib.loads(text), block, page=page) if block else _WHOLE_CRAWL
        if path is None:
            rule = settings.rule_for(canonical(block) or "") if settings else None
            raise InvalidSettings(_no_block(block, rule, name))
        for key, typed in values.items():
            place = _key_path(path, key)
            written = None if typed is None else _written(place, typed)
            text, change = _with_value(text, place, written, name)
            changes.append(change)
    if any(change.before != change.after for change in changes):
        read_settings(text, name=f"{name} as changed")
    return text, changes


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def in_force(
    text: str, blocks: Sequence[str] = (), *, page: bool = False, name: str = FILE_NAME
) -> list[Setting]:
    """Values that the settings of some blocks have; without blocks, those of all and the defaults.

    Args:
        text: Settings that can be read.
        blocks: Addresses or names of blocks.
        page: Whether of a site and a page at one address the page is meant.
        name: What errors call the text.
    """
    text = text.removeprefix("\ufeff")
    settings = read_settings(text, name=name)
    document, lines = tomllib.loads(text), KeyLayout.of(text).lines
    paths = []
    for block in blocks:
        path = _block_path(document, block, page=page)
        if path is None:
            raise InvalidSettings(_no_block(block, settings.rule_for(canonical(block) or ""), name))
        paths.append(path)
    if blocks:
        return [each for path in paths for each in _settings_at(document, path, lines)]
    defaults = tomllib.loads(first_settings("-"))
    found = [*_settings_at(document, (), lines, {**defaults, **document})]
    for table in TABLES:
        whole = {**defaults.get(table, {}), **document.get(table, {})}
        found += _settings_at(document, (table,), lines, whole)
    for kind in BLOCK_KEYS:
        for number in range(len(document.get(kind, []))):
            found += _settings_at(document, (kind, number), lines)
    return found


def _settings_at(
    document: Mapping[str, Any],
    path: KeyPath,
    lines: Mapping[KeyPath, int],
    values: Mapping[str, Any] | None = None,
) -> Iterator[Setting]:
    """Values of one part, of the text or as given."""
    part = _part(document, path)
    for key, value in (_at(document, path) if values is None else values).items():
        if path or key not in TITLES:
            typed = value if isinstance(value, str) else _toml(value)
            yield Setting(part, key, typed, lines.get((*path, key), 0))


def _block_path(document: Mapping[str, Any], called: str, *, page: bool) -> KeyPath | None:
    """Path of the block with an address or a name; None for none."""
    wanted = canonical(called) or called
    for kind in ("page",) if page else BLOCK_KEYS:
        for number, block in enumerate(document.get(kind, [])):
            address = block.get("address")
            addresses = address if isinstance(address, list) else [address]
            names = {canonical(each) or each for each in addresses}
            if wanted in names or called == block.get("name"):
                return (kind, number)
    return None


def _no_block(called: str, rule: Any, name: str) -> str:  # noqa: ANN401 - a rule, or None
    """Message where there is no block, and what to do."""
    called = without_logins(called) if called.isprintable() else shown(called)
    said = f"{name} has no block {called}"
    if rule is not None:
        more = f"recrawl add --page-only {called}"
        return f"{said}, but a [[site]] {rule.address} that covers it; `{more}` adds one"
    if "://" in called:
        return f"{said}; `recrawl add {called}` adds one"
    known = called in TOP or any(called in keys for keys in TABLES.values())
    return f"{said}; write {called}=VALUE" if known else f"{said}; settings are written KEY=VALUE"


def _key_path(block: KeyPath, key: str) -> KeyPath:
    """Path of a key of a block, or of the whole crawl."""
    if block:
        return (*block, key)
    table, dot, rest = key.partition(".")
    if dot:
        if table not in TABLES:
            raise InvalidSettings(f"{shown(table)} is no table; there are {', '.join(TABLES)}")
        return (table, rest)
    homes = [each for each, keys in TABLES.items() if key in keys]
    if key in TOP:
        return (key,)
    if not homes:
        kinds = [TITLES[kind] for kind, keys in BLOCK_KEYS.items() if key in keys]
        if kinds:
            said = f"{key} is a key of {' or '.join(kinds)}"
            raise InvalidSettings(f"{said}; write the address or the name of a block before it")
        return (key,)
    if len(homes) > 1 or homes == ["push"]:
        names = " or ".join(f"{home}.{key}" for home in homes)
        raise InvalidSettings(f"{key} is a key of a table; write {names}")
    return (homes[0], key)


def _keys_at(path: KeyPath) -> tuple[Mapping[str, Key], str]:
    """Keys of the part that a path leads into, and its title."""
    if len(path) == 1:
        return TOP, TOP_TITLE
    kind = str(path[0])
    return BLOCK_KEYS.get(kind) or TABLES[kind], TITLES[kind]


def _written(path: KeyPath, typed: Sequence[str]) -> str:
    """A value as TOML writes it, from what people type: texts need no quotes, lists no brackets."""
    keys, title = _keys_at(path)
    key = str(path[-1])
    candidates: list[tuple[object, str]] = []
    if len(typed) > 1:
        candidates.append((list(typed), toml_value(list(typed))))
    else:
        (text,) = typed
        parsed = _parsed(text)
        candidates += [(parsed, text)] if parsed is not None else []
        candidates += [(text, toml_value(text)), ([text], toml_value([text]))]
    said = []
    for value, written in candidates:
        try:
            read_value(keys, key, value, title)
        except InvalidSettings as error:
            said.append(str(error))
        else:
            return written
    rule = f"{key} must be {keys[key].rule} (got" if key in keys else ""
    special = [each for each in said if not each.startswith(rule)]
    raise InvalidSettings((special or said)[0])


def _parsed(text: str) -> object:
    """What TOML reads in a text that is nothing but a value; None where it is none."""
    line = f"v = {text}"
    try:
        found = tomllib.loads(line)
    except (ValueError, RecursionError):
        return None
    pairs = KeyLayout.of(line).pairs
    alone = list(found) == ["v"] and pairs["v",].ends == len(line)
    return found["v"] if alone and "\n" not in text else None


def _with_value(
    text: str, path: KeyPath, written: str | None, name: str
) -> tuple[str, SettingsEdit]:
    """The text with another value at a path, and what has changed."""
    document = tomllib.loads(text)
    table, key = path[:-1], str(path[-1])
    had = _at(document, table).get(key)
    before = None if had is None else _toml(had)
    part = _part(document, table)
    change = SettingsEdit(part, key, before, written)
    wanted = None if written is None else tomllib.loads(f"v = {written}")["v"]
    if had == wanted and type(had) is type(wanted):
        return text, SettingsEdit(part, key, before, before)
    if written is None:
        changed = _without_pair(text, path)
    elif had is None:
        changed = _with_pair(text, path, written)
    else:
        changed = _with_other(text, path, written)
    expected = tomllib.loads(text)
    if wanted is None:
        _at(expected, table).pop(key)
    else:
        expected.setdefault(str(path[0]), {}) if len(path) == 2 else None  # noqa: PLR2004
        _at(expected, table)[key] = wanted
    if changed is None or not _reads(changed, expected):
        line = KeyLayout.of(text).lines.get(path) or KeyLayout.of(text).lines.get(table)
        where = f"{name}, line {line}" if line else name
        raise InvalidSettings(f"{where}: {key} cannot be changed as it is written; edit the file")
    return changed, change


def _with_other(text: str, path: KeyPath, written: str) -> str | None:
    """The text with another value of a key that has one."""
    pair = KeyLayout.of(text).pairs.get(path)
    return None if pair is None else text[: pair.value] + written + text[pair.ends :]


def _without_pair(text: str, path: KeyPath) -> str | None:
    """The text without the lines of a key."""
    pair = KeyLayout.of(text).pairs.get(path)
    if pair is None or not pair.alone:
        return None
    return text[: text.rfind("\n", 0, pair.begins) + 1] + text[_line_end(text, pair.ends) :]


def _with_pair(text: str, path: KeyPath, written: str) -> str:
    """The text with one more key: below a comment that shows it, or below the keys of its part."""
    layout = KeyLayout.of(text)
    table, key = path[:-1], str(path[-1])
    line = f"{key} = {written}\n"
    text = text if text.endswith("\n") or not text else f"{text}\n"
    if table and table not in layout.lines:
        return f"{text}\n[{table[0]}]\n{line}"
    begins = 0 if not table else _line_begin(text, layout.lines[table])
    ends = next((place for place in layout.headers if place > begins), len(text))
    below = [pair.ends for pair in layout.pairs.values() if pair.alone and pair.table == table]
    place = _line_end(text, max(below, default=begins))
    example = re.compile(rf"^#\s*{re.escape(key)}\s*=.*\n", re.MULTILINE)
    if found := example.search(text, begins, ends):
        place = found.end()
    return text[:place] + line + text[place:]


def _line_begin(text: str, line: int) -> int:
    """Where a line begins, by its number from 1."""
    place = 0
    for _ in range(line - 1):
        place = text.index("\n", place) + 1
    return place


def _line_end(text: str, place: int) -> int:
    """Where the line of a place ends, with its end of line."""
    found = text.find("\n", place)
    return len(text) if found < 0 else found + 1


def _reads(text: str, wanted: object) -> bool:
    """Whether a text is TOML of this document."""
    try:
        return tomllib.loads(text) == wanted
    except ValueError:
        return False


def _at(document: Mapping[str, Any], path: KeyPath) -> dict[str, Any]:
    """The part of a document that a path leads to; an empty one where there is none."""
    found: Any = document
    for each in path:
        found = found[each] if isinstance(each, int) else found.get(each, {})
    return found if isinstance(found, dict) else {}


def _part(document: Mapping[str, Any], path: KeyPath) -> str:
    """Title of a part, with the address or the name of a block; empty for the top."""
    if not path:
        return ""
    block = _at(document, path) if len(path) > 1 else {}
    called = block.get("name") or block.get("address", "")
    called = called[0] if isinstance(called, list) else called
    return f"{TITLES[str(path[0])]} {called}".strip()


def _toml(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, dict):
        pairs = ", ".join(f"{toml_value(key)} = {_toml(each)}" for key, each in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return str(value) if isinstance(value, date | time) else toml_value(value)
