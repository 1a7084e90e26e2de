"""Table of hosts: politeness, robots.txt, reliability of their signals, masks of their pages.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.entries.entries import RobotsRead
from recrawl.entries.records import Host
from recrawl.parse.addresses import host_of
from recrawl.store.rows.columns import largest_id, maybe_milliseconds, milliseconds
from recrawl.store.rows.database import upsert
from recrawl.store.rows.packing import packed, unpacked
from recrawl.store.rows.values import (
    exactly,
    figure,
    instant,
    maybe,
    maybe_figure,
    maybe_instant,
    number,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recrawl.arrays.types import Floats, Ints
    from recrawl.entries.entries import HostBelieved, HostSeen
    from recrawl.store.rows.database import Database

_HOSTS = """
    select name, hosts.id - 1, delay_days, blocked_until, latency_seconds, failures from hosts
"""
_ROBOTS = "select origin, read_at, http, {}, delay_days from robots"
_DELAYS = """
    select id, coalesce(delay_days, 0.0), coalesce(latency_seconds, 0.0) from hosts where id
"""
_LARGEST_ROBOTS = 1 << 20  # twice what is read of one
_RECORD = upsert("signal_records", 'host, kind, "right", wrong, silent, quiet_days', "host, kind")
_MASKS = upsert("host_masks", "host, data", "host")
_PUT_ROBOTS = upsert("robots", "origin, host, read_at, http, delay_days, body", "origin")


def host_ids(connection: Database, names: Iterable[str]) -> dict[str, int]:
    """Ids of hosts; those that are new are added in the order of their names."""
    wanted = sorted(set(names))
    known: dict[str, int] = dict(connection.each("select name, id from hosts where name", wanted))
    if len(known) < len(wanted):
        new = [name for name in wanted if name not in known]
        added = {name: each for each, name in enumerate(new, host_count(connection) + 1)}
        connection.append("hosts", "id, name", ((each, name) for name, each in added.items()))
        known |= added
    return known


def put_host(connection: Database, seen: HostSeen) -> int:
    """Store the politeness state of a host, and return its number."""
    host_id = host_ids(connection, [seen.name])[seen.name]
    connection.execute(
        "update hosts set delay_days = ?, blocked_until = ?, latency_seconds = ?, failures = ? "
        "where id = ?",
        (
            seen.delay,
            maybe_milliseconds(seen.blocked_until_seconds),
            seen.latency_seconds,
            seen.failures,
            host_id,
        ),
    )
    return host_id - 1


def put_robots(connection: Database, read: RobotsRead) -> int:
    """Store a robots.txt, and return the number of its host."""
    name = host_of(read.origin + "/")
    host_id = host_ids(connection, [name])[name]
    body = None if read.body is None else packed(read.body)
    at = milliseconds(read.at_seconds)
    row = (read.origin, host_id, at, read.http, read.delay, body)
    connection.execute(_PUT_ROBOTS, row)
    return host_id - 1


def put_beliefs(connection: Database, believed: HostBelieved) -> int:
    """Store the reliability of a host's signals, and return its number."""
    host_id = host_ids(connection, [believed.name])[believed.name]
    rows = ((host_id, kind, *counts) for kind, counts in believed.words.items())
    connection.executemany(_RECORD, rows)
    if believed.masks:
        connection.execute(_MASKS, (host_id, believed.masks))
    return host_id - 1


def host_count(connection: Database) -> int:
    """How many hosts there are."""
    return largest_id(connection, "hosts")


def some_hosts(connection: Database, first: int, count: int) -> list[Host]:
    """At most `count` hosts from number `first` on."""
    where = " where hosts.id > ? and hosts.id <= ? order by hosts.id"
    return [_host(row) for row in connection.execute(_HOSTS + where, (first, first + count))]


def host_named(connection: Database, name: str) -> Host | None:
    """A host by its name; None where it is unknown."""
    row = connection.execute(_HOSTS + " where name = ?", (name,)).fetchone()
    return None if row is None else _host(row)


def _host(row: Any) -> Host:  # noqa: ANN401 - a row of a query
    name, host, delay, blocked_until, latency, failures = row
    return Host(
        exactly(str, name),
        number(host),
        maybe_figure(delay, 0.0),
        maybe_instant(blocked_until),
        maybe_figure(latency, 0.0),
        number(failures),
    )


def robots_of_origin(connection: Database, origin: str) -> RobotsRead | None:
    """The robots.txt of an origin; None where it was never asked for."""
    found = connection.execute(_ROBOTS.format("body") + " where origin = ?", (origin,)).fetchone()
    return None if found is None else _robots(found)


def _robots(row: Any) -> RobotsRead:  # noqa: ANN401 - a row of a query
    origin, read_at, http, body, delay = row
    return RobotsRead(
        exactly(str, origin),
        instant(read_at),
        maybe(int, http),
        None if body is None else unpacked(exactly(bytes, body), _LARGEST_ROBOTS),
        maybe_figure(delay, 0.0),
    )


def robots_read(connection: Database) -> list[RobotsRead]:
    """All of them, without their bodies."""
    query = _ROBOTS.format("null") + " order by host, origin"
    return [_robots(row) for row in connection.execute(query)]


def discovered(connection: Database) -> dict[str, float]:
    """When new pages of sites were last looked for, in seconds, by address."""
    rows = connection.execute("select address, at from discovered")
    return {exactly(str, address): instant(at) for address, at in rows}


def host_delays(connection: Database, hosts: Ints) -> tuple[Floats, Floats]:
    """Days between requests and seconds until an answer of some hosts; 0 where unknown."""
    ids = (hosts + 1).tolist()
    found = {host: row for host, *row in connection.each(_DELAYS, set(ids))}
    rows = [found[host] for host in ids]
    delay, latency = np.array(rows, np.float64).reshape(len(hosts), 2).T
    for each in (delay, latency):
        if not (np.isfinite(each) & (each >= 0)).all():
            raise ValueError("some hosts have a delay that is none")
    return delay, latency


def signal_records(connection: Database) -> list[tuple[str, str, tuple[float, ...]]]:
    """All signal records: host, kind of signal, counts."""
    query = """
        select name, kind, "right", wrong, silent, quiet_days
        from signal_records join hosts on hosts.id = signal_records.host order by hosts.id, kind
    """
    return [
        (exactly(str, name), exactly(str, kind), tuple(map(figure, counts)))
        for name, kind, *counts in connection.execute(query)
    ]


def signal_records_of(connection: Database, kind: str) -> dict[int, tuple[float, ...]]:
    """Counts of one kind of signal, by the number of the host."""
    query = """
        select host - 1, "right", wrong, silent, quiet_days from signal_records where kind = ?
    """
    rows = connection.execute(query, (kind,))
    return {number(host): tuple(map(figure, counts)) for host, *counts in rows}


def masks_of_hosts(connection: Database) -> dict[str, str]:
    """Masks shared by all pages of a host, as text, by the host's name."""
    query = "select name, data from host_masks join hosts on hosts.id = host_masks.host"
    return {exactly(str, name): exactly(str, data) for name, data in connection.execute(query)}
