"""Table of pages: lookup by address, insertion under the next number, counts.

Touches: a database, through what it is given.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING

import xxhash

from recrawl.entries.entries import Found
from recrawl.entries.records import PageCount
from recrawl.entries.store import ERASED
from recrawl.errors import InvalidAddress, InvalidParameter
from recrawl.store.rows.columns import looked_up, milliseconds, read_columns, whole_numbers
from recrawl.store.rows.hosts import host_count, host_ids
from recrawl.store.rows.values import exactly, maybe_instant
from recrawl.visits.status import PageStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recrawl.arrays.types import Ints
    from recrawl.entries.entries import PagesFound
    from recrawl.store.rows.database import Database

NO_RULE = -1
_KEY_BITS = 32
_WITH_COPY = tuple(map(int, (PageStatus.COPIED, PageStatus.SUSPECTED)))
_ERASED_BYTES = 16
# As the index is defined that is read for it.
_WITHOUT = "status > 2 or rule < 0"
# Of few pages, as a rule, which have an index of their own; all are counted besides.
_NOTED = """
    select rule, status, count(*) filter (where next_at < ?), min(next_at),
        count(*) filter (where failures > 0)
    from pages where next_at is not null or failures > 0 group by rule, status
"""


def find_pages(connection: Database, addresses: Sequence[str], seed: int) -> dict[str, int]:
    """Numbers of those addresses that are known, or were until they were erased."""
    found = _pages_named(connection, addresses, seed)
    if connection.execute("select exists (select 1 from tombstones)").get:
        unknown = [address for address in addresses if address not in found]
        names = {erased_name(address, seed): address for address in unknown}
        erased = _pages_named(connection, names, seed)
        found |= {names[name]: page for name, page in erased.items()}
    return found


def erased_name(address: str, seed: int) -> str:
    """What an erased page has for an address: a hash, keyed by what each store has of its own.

    >>> erased_name("https://example.org/", seed=1)
    'erased:284a817c4d21ecce166c1558bbe328b4'
    """
    key = seed.to_bytes(8, "little")
    digest = blake2b(address.encode(), key=key, digest_size=_ERASED_BYTES)
    return ERASED + digest.hexdigest()


def _pages_named(connection: Database, addresses: Iterable[str], seed: int) -> dict[str, int]:
    wanted = {address: _key(address, seed) for address in addresses}
    rows = connection.each("select address, id from pages where key", set(wanted.values()))
    # Another address may share the key.
    return {address: page_id - 1 for address, page_id in rows if address in wanted}


def add_pages(connection: Database, found: PagesFound, seed: int, count: int) -> Found:
    """Add the addresses that are new after the first `count`, in their order."""
    if not len(found.addresses) == len(found.hosts) == len(found.rules):
        raise InvalidParameter(
            "pages found: expected one host and one rule per address (got "
            f"{len(found.addresses)} addresses, {len(found.hosts)} hosts, {len(found.rules)} rules)"
        )
    numbers = find_pages(connection, found.addresses, seed)
    new: dict[str, int] = {}
    for place, address in enumerate(found.addresses):
        if address not in numbers:
            numbers[address] = count + len(new)
            new[address] = place
    hosts = host_ids(connection, {found.hosts[place] for place in new.values()})
    at = milliseconds(found.at_seconds)
    rows = (
        (
            numbers[address] + 1,
            address,
            _key(address, seed),
            hosts[found.hosts[place]],
            found.rules[place],
            at,
            found.depth,
        )
        for address, place in new.items()
    )
    connection.append("pages", "id, address, key, host, rule, found_at, depth", rows)
    return Found([numbers[address] for address in found.addresses], known=count)


def _key(address: str, seed: int) -> int:
    try:
        return key_of(address, seed)
    except UnicodeEncodeError:
        raise InvalidAddress(f"address cannot be encoded as UTF-8 (got {address!a})") from None


def key_of(address: str, seed: int) -> int:
    """Signed 32-bit hash of an address.

    Thirty-two bits are enough to find a page among many millions, but two addresses may share a
    key: whoever looks one up compares the address as well. The seed is each store's own, so
    that nobody can make up addresses that all share one.

    >>> key_of("https://example.org/", seed=1) == key_of("https://example.org/", seed=1)
    True
    >>> abs(key_of("https://example.org/", seed=2)) <= 2**31
    True
    """
    hashed = xxhash.xxh3_64_intdigest(address.encode(), seed)
    return (hashed & ((1 << _KEY_BITS) - 1)) - (1 << (_KEY_BITS - 1))


def address_of(connection: Database, page: int) -> str:
    """Address of a page."""
    return exactly(
        str, connection.execute("select address from pages where id = ? + 1", (page,)).get
    )


def rules_and_hosts(connection: Database, pages: Ints) -> tuple[Ints, Ints]:
    """Number of the rule and of the host of each of some pages."""
    rule, host = looked_up(connection, "pages", ("rule", "host - 1"), pages + 1)
    if len(host) and not (host.min() >= 0 and host.max() < host_count(connection)):
        raise ValueError("some pages have a host that is not there")
    return rule, host


def page_counts(connection: Database, now_seconds: float) -> list[PageCount]:
    """Number of pages by rule and status, ascending."""
    noted = {
        (exactly(int, rule), status): (int(overdue), maybe_instant(next_at), int(failing))
        for rule, status, overdue, next_at, failing in connection.execute(
            _NOTED, (now_seconds * 1000,)
        )
    }
    return [
        PageCount(rule, PageStatus(status), pages, *noted.get((rule, status), (0, None, 0)))
        for rule, status, pages in connection.counts(("rule", "status"), "pages").tolist()
    ]


def pages_with_copy(connection: Database, rules: Sequence[int]) -> tuple[Ints, Ints]:
    """Pages of some rules that have a copy, rising, and the rule of each."""
    among = ",".join(str(int(rule)) for rule in rules)
    query = (
        "select id - 1 as page, rule from pages "  # noqa: S608 - whole numbers
        f"where rule in ({among}) and status in {_WITH_COPY} order by id"
    )
    page, rule = read_columns(connection, ("page", "rule"), query)
    return page, rule


def pages_without_content(connection: Database) -> Ints:
    """Pages that are gone, refused or moved, or have no rule, rising."""
    query = f"select id - 1 as number from pages where {_WITHOUT} order by id"  # noqa: S608 - ours
    return whole_numbers(connection, query)


def pages_holding(connection: Database, words: Sequence[str]) -> Ints:
    """Pages whose addresses hold all of some words, ascending."""
    conditions = [f"address {connection.alike} ? escape '\\'" for _ in words]
    where = " and ".join(conditions) or "true"
    query = f"select id - 1 as number from pages where {where} order by id"  # noqa: S608 - ours
    return whole_numbers(connection, query, tuple(f"%{_literal(word)}%" for word in words))


def _literal(word: str) -> str:
    """A word as a pattern that matches nothing else."""
    return re.sub(r"([\\%_])", r"\\\1", word)


def pages_by_address(connection: Database, most: int, *, last_first: bool) -> Ints:
    """Pages in the order of their addresses, the first so many."""
    order = "desc" if last_first else "asc"
    query = f"select id - 1 as number from pages order by address {order} limit ?"  # noqa: S608 - ours
    return whole_numbers(connection, query, (most,))


def appointed_pages(connection: Database) -> Ints:
    """Pages that have an appointment, rising."""
    query = "select id - 1 as number from pages where next_at is not null order by id"
    return whole_numbers(connection, query)


def rules_of_pages(connection: Database) -> Ints:
    """Number of each page's rule."""
    return whole_numbers(connection, "select rule as number from pages order by id")


def robots_tags(connection: Database) -> tuple[Ints, Ints]:
    """Pages whose copies ask something of crawlers, rising, and what each asks."""
    query = "select page - 1 as number, robots from copies where robots > 0 order by page"
    page, tags = read_columns(connection, ("number", "robots"), query)
    return page, tags


def shells(connection: Database) -> Ints:
    """Pages whose copies are empty JavaScript shells, rising."""
    return whole_numbers(
        connection, "select page - 1 as number from copies where shell > 0 order by page"
    )


def moves(connection: Database, pages: Sequence[int]) -> list[str]:
    """Address that each of some pages has moved to; empty where none is known."""
    query = "select page - 1, target from moves where page"
    rows = connection.each(query, [int(page) + 1 for page in pages])
    found = {page: exactly(str, target) for page, target in rows}
    return [found.get(page, "") for page in pages]


def failing_pages(connection: Database, most: int) -> Ints:
    """Pages of a rule whose last visit failed, rising, but no more than so many."""
    query = (
        "select id - 1 as number from pages "  # noqa: S608 - ours
        f"where failures > 0 and rule > {NO_RULE} order by id limit {int(most)}"
    )
    return whole_numbers(connection, query)
