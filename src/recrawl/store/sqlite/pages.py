"""Pages and hosts by their names: found, or added under the next number.

Touches: files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import zstandard

from recrawl.entries.entries import Found
from recrawl.errors import InvalidAddress, InvalidParameter
from recrawl.store.sqlite.keys import key_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from recrawl.entries.entries import HostSeen, PagesFound, RobotsRead


def find_pages(connection: apsw.Connection, addresses: Sequence[str], seed: int) -> dict[str, int]:
    """Numbers of those addresses that are known."""
    wanted = {address: _key(address, seed) for address in addresses}
    look = "select address, id from pages where key = ?"
    rows = connection.executemany(look, ((key,) for key in set(wanted.values())))
    # Another address may share the key.
    return {address: page for address, page in rows if address in wanted}


def add_pages(connection: apsw.Connection, found: PagesFound, seed: int, count: int) -> Found:
    """Add the addresses that are new after the first `count`, in their order."""
    if not len(found.addresses) == len(found.hosts) == len(found.rules):
        message = (
            "pages found: must have a host and a rule each (got "
            f"{len(found.addresses)} addresses, {len(found.hosts)} hosts, {len(found.rules)} rules)"
        )
        raise InvalidParameter(message)
    numbers = find_pages(connection, found.addresses, seed)
    new: dict[str, int] = {}
    for place, address in enumerate(found.addresses):
        if address not in numbers:
            numbers[address] = count + len(new) + 1
            new[address] = place
    hosts = host_numbers(connection, {found.hosts[place] for place in new.values()})
    at = milliseconds(found.at_seconds)
    insert = (
        "insert into pages (id, address, key, host, rule, found_at, depth) "
        "values (?, ?, ?, ?, ?, ?, ?)"
    )
    rows = (
        (
            numbers[address],
            address,
            _key(address, seed),
            hosts[found.hosts[place]],
            found.rules[place],
            at,
            found.depth,
        )
        for address, place in new.items()
    )
    connection.executemany(insert, rows)
    return Found([numbers[address] for address in found.addresses], known=count)


def _key(address: str, seed: int) -> int:
    try:
        return key_of(address, seed)
    except UnicodeEncodeError:
        message = f"address: must be text that can be written as UTF-8 (got {address!a})"
        raise InvalidAddress(message) from None


def host_numbers(connection: apsw.Connection, names: Iterable[str]) -> dict[str, int]:
    """Numbers of hosts; those that are new are added in the order of their names."""
    wanted = sorted(set(names))
    add = "insert into hosts (name) values (?) on conflict (name) do nothing"
    connection.executemany(add, ((name,) for name in wanted))
    look = "select name, id from hosts where name = ?"
    return dict(connection.executemany(look, ((name,) for name in wanted)))


def put_host(connection: apsw.Connection, seen: HostSeen) -> int:
    """Write down how a host is to be treated, and return its number."""
    number = host_numbers(connection, [seen.name])[seen.name]
    connection.execute(
        "update hosts set delay_days = ?, blocked_until = ?, latency_seconds = ?, failures = ? "
        "where id = ?",
        (
            seen.delay,
            maybe_milliseconds(seen.blocked_until_seconds),
            seen.latency_seconds,
            seen.failures,
            number,
        ),
    )
    return number


def put_robots(connection: apsw.Connection, read: RobotsRead) -> int:
    """Write down what a host's robots.txt says, and return the host's number."""
    number = host_numbers(connection, [read.host])[read.host]
    body = None if read.body is None else zstandard.compress(read.body)
    row = (number, milliseconds(read.at_seconds), read.http, body)
    connection.execute("insert or replace into robots values (?, ?, ?, ?)", row)
    return number


def milliseconds(seconds: float) -> int:
    """Epoch seconds as a store keeps them.

    >>> milliseconds(1.2346)
    1235
    """
    return round(seconds * 1000)


def maybe_milliseconds(seconds: float | None) -> int | None:
    """Epoch seconds as a store keeps them, where they are known."""
    return None if seconds is None else round(seconds * 1000)
