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
    from collections.abc import Collection, Iterable

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


def numbered_hosts(connection: Database, hosts: Ints) -> list[Host]:
    """Hosts by their numbers, which rise."""
    query = f"{_HOSTS} where hosts.id {connection.among} order by hosts.id"
    ids = connection.listed((hosts + 1).tolist())
    return [_host(row) for row in connection.execute(query, (ids,))]


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


def robots_read(connection: Database, hosts: Ints | None = None) -> list[RobotsRead]:
    """All of them, or those of some hosts, without their bodies."""
    where, values = some_of(connection, "host", hosts)
    query = f"{_ROBOTS.format('null')} {where} order by host, origin"
    return [_robots(row) for row in connection.execute(query, values)]


def some_of(connection: Database, column: str, hosts: Ints | None) -> tuple[str, tuple[Any, ...]]:
    """Condition that a column names one of some hosts, and its value; none for all of them."""
    if hosts is None:
        return "", ()
    return f"where {column} {connection.among}", (connection.listed((hosts + 1).tolist()),)


def discovered(connection: Database, sites: Collection[str] | None = None) -> dict[str, float]:
    """When new pages of all or some sites were last looked for, in seconds, by address."""
    query = "select address, at from discovered"
    rows: Iterable[Any] = (
        connection.execute(query)
        if sites is None
        else connection.each(f"{query} where address", sites)
    )
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


def signal_records(
    connection: Database, hosts: Ints | None = None
) -> list[tuple[str, str, tuple[float, ...]]]:
    """All signal records, or those of some hosts: host, kind of signal, counts."""
    where, values = some_of(connection, "hosts.id", hosts)
    query = f"""
        select name, kind, "right", wrong, silent, quiet_days
        from signal_records join hosts on hosts.id = signal_records.host {where}
        order by hosts.id, kind
    """  # noqa: S608 - our own names
    return [
        (exactly(str, name), exactly(str, kind), tuple(map(figure, counts)))
        for name, kind, *counts in connection.execute(query, values)
    ]


def signal_records_of(
    connection: Database, kind: str, hosts: Ints | None = None
) -> dict[int, tuple[float, ...]]:
    """Counts of one kind of signal, by the number of the host; of all hosts, or of some."""
    where, values = some_of(connection, "host", hosts)
    query = f"""
        select host - 1, "right", wrong, silent, quiet_days
        from (select * from signal_records {where}) as own where kind = ?
    """  # noqa: S608 - our own names
    rows = connection.execute(query, (*values, kind))
    return {number(host): tuple(map(figure, counts)) for host, *counts in rows}


def masks_of_hosts(connection: Database, hosts: Ints | None = None) -> dict[str, str]:
    """Masks shared by all pages of a host, as text, by the host's name; of all, or of some."""
    where, values = some_of(connection, "hosts.id", hosts)
    query = f"""
        select name, data from host_masks join hosts on hosts.id = host_masks.host {where}
    """  # noqa: S608 - our own names
    rows = connection.execute(query, values)
    return {exactly(str, name): exactly(str, data) for name, data in rows}
