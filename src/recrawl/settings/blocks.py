"""Blocks added to the text of `recrawl.toml`, and taken out of it again.

All else of the text stays as a person wrote it.

Pure.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from recrawl.errors import InvalidSettings
from recrawl.parse.addresses import canonical
from recrawl.settings.key_lines import key_lines
from recrawl.settings.keys import BLOCKS
from recrawl.settings.settings import FILE_NAME, read_rule, read_settings
from recrawl.settings.text import toml_value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

_SITE, _PAGE = BLOCKS


@dataclass(frozen=True, slots=True)
class NewBlock:
    """A block `[[site]]` or `[[page]]` that is to be added.

    Args:
        address: Address of the site or page.
        page: Whether it is one page.
        values: Further keys, as `read_settings` knows them.
    """

    address: str
    page: bool = False
    values: Mapping[str, object] = field(default_factory=dict)


def with_block(text: str, block: NewBlock, *, name: str = FILE_NAME) -> str:
    r"""The settings with one more block at the end.

    Args:
        text: Settings that can be read.
        block: The block.
        name: What errors call the text.

    Raises:
        InvalidSettings: There is such a block already.

    Examples:
        >>> settings = 'agent = "bot (me@example.org)"  # mine\n'
        >>> block = NewBlock("https://example.org", values={"weight": 2, "watch": ["main"]})
        >>> print(with_block(settings, block))
        agent = "bot (me@example.org)"  # mine
        <BLANKLINE>
        [[site]]
        address = "https://example.org/"
        weight = 2
        watch = ["main"]
        <BLANKLINE>
    """
    longer, known = with_blocks(text, [block], name=name)
    if known:
        kind, text = _PAGE if block.page else _SITE, text.removeprefix("\ufeff")
        number = _addresses(text, name)[kind].index(known[0])
        line = key_lines(text)[kind, number, "address"]
        raise InvalidSettings(
            f"{name}, line {line}: {known[0]} is already a [[{kind}]]; `recrawl add --again` "
            "discovers its pages again"
        )
    return longer


def with_blocks(
    text: str, blocks: Iterable[NewBlock], *, name: str = FILE_NAME
) -> tuple[str, list[str]]:
    """The settings with more blocks at the end, and addresses that had a block of the kind already.

    Args:
        text: Settings that can be read.
        blocks: The blocks; one that is there already is left out.
        name: What errors call the text.
    """
    text = text.removeprefix("\ufeff")  # which some editors put first
    had = {kind: set(rules) for kind, rules in _addresses(text, name).items()}
    parts, known, kinds = [text if text.endswith("\n") else f"{text}\n"], [], set()
    for block in blocks:
        kind = _PAGE if block.page else _SITE
        address = read_rule(block.address, block.values, page=block.page).address
        if address in had[kind]:
            known.append(address)
            continue
        had[kind].add(address)
        kinds.add(kind)
        pairs = {"address": address, **block.values}
        keys = "".join(f"{key} = {toml_value(value)}\n" for key, value in pairs.items())
        parts.append(f"\n[[{kind}]]\n{keys}")
    longer = "".join(parts) if kinds else text
    _check_appended(longer, kinds, name)
    return longer, known


def without_blocks(text: str, addresses: Collection[str], *, name: str = FILE_NAME) -> str:
    r"""The settings without the blocks `[[site]]` and `[[page]]` of some addresses.

    Comments above a block stay.

    Args:
        text: Settings that can be read.
        addresses: Addresses as people write them, each of a block.
        name: What errors call the text.

    Examples:
        >>> settings = 'agent = "bot (me@example.org)"\n\n[[site]]\naddress = "https://a.org"\n'
        >>> without_blocks(settings, ["https://a.org"])
        'agent = "bot (me@example.org)"\n'
    """
    text = text.removeprefix("\ufeff")
    found, wanted = _addresses(text, name), [canonical(each) or each for each in addresses]
    for each in wanted:
        if not any(each in rules for rules in found.values()):
            raise InvalidSettings(f"{name} has no [[site]] or [[page]] {each}")
    taken = [
        (kind, number)
        for kind, rules in found.items()
        for number, address in enumerate(rules)
        if address in wanted
    ]
    shorter = _cut(text, taken)
    left = {kind: [each for each in rules if each not in wanted] for kind, rules in found.items()}
    if _addresses(shorter, name) != left:
        first = f"[[{taken[0][0]}]] {found[taken[0][0]][taken[0][1]]}"
        raise InvalidSettings(f"{name}: {first} is not written as a block; remove it by hand")
    return shorter


def _addresses(text: str, name: str) -> dict[str, list[str]]:
    """Addresses of the blocks of each kind, in the order of the text."""
    rules = read_settings(text, name=name).rules
    return {
        kind: [each.address for each in rules if each.exact == (kind == _PAGE) and not each.listing]
        for kind in BLOCKS
    }


def _cut(text: str, taken: Sequence[tuple[str, int]]) -> str:
    """A text without some blocks; each ends with the last line that is not blank or a comment."""
    lines, rows = key_lines(text), text.splitlines(keepends=True)
    headers = sorted({lines[path] for path in _headers(tomllib.loads(text)) if path in lines})
    kept = [True] * len(rows)
    for path in taken:
        first = lines[path]
        end = next((each for each in headers if each > first), len(rows) + 1)
        last = end - 1
        while last > first and rows[last - 1].lstrip()[:1] in {"", "#"}:
            last -= 1
        if first > 1 and not rows[first - 2].strip():  # the blank line above it goes, too
            kept[first - 2] = False
        kept[first - 1 : last] = [False] * (last - first + 1)
    return "".join(row for row, stays in zip(rows, kept, strict=True) if stays)


def _headers(document: Mapping[str, Any]) -> Iterable[tuple[str | int, ...]]:
    """Paths of all tables at the top of a document."""
    for key, value in document.items():
        if isinstance(value, dict):
            yield (key,)
        elif isinstance(value, list):
            yield from ((key, number) for number in range(len(value)))


def _check_appended(text: str, kinds: Iterable[str], name: str) -> None:
    """Raise for `site = [...]`, to which TOML allows no further block."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        lines = key_lines(text)
        kind = next(each for each in sorted(kinds, reverse=True) if (each,) in lines)
        raise InvalidSettings(
            f"{name}, line {lines[kind,]}: {kind} must be written as [[{kind}]] for another to be "
            f"added (got {kind} = [...])"
        ) from None
