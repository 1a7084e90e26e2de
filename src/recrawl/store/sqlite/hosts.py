"""Table of hosts: politeness, robots.txt, reliability of their signals, masks of their pages.

Touches: files.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import zstandard

from recrawl.entries.entries import RobotsRead
from recrawl.entries.records import Host
from recrawl.parse.addresses import host_of
from recrawl.store.sqlite.columns import maybe_milliseconds, milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from recrawl.arrays.types import Floats, Ints
    from recrawl.entries.entries import HostBelieved, HostSeen

_HOSTS = """
    select name, hosts.id - 1, delay_days, blocked_until / 1000.0, latency_seconds, failures
    from hosts
"""
_ROBOTS = "select origin, read_at / 1000.0, http, {}, delay_days from robots"
_DELAYS = "select coalesce(delay_days, 0.0), coalesce(latency_seconds, 0.0) from hosts where id = ?"
_RECORD = "insert or replace into signal_records values (?, ?, ?, ?, ?, ?)"
_MASKS = "insert or replace into host_masks values (?, ?)"


def host_ids(connection: apsw.Connection, names: Iterable[str]) -> dict[str, int]:
    """Ids of hosts; those that are new are added in the order of their names."""
    wanted = sorted(set(names))
    add = "insert into hosts (name) values (?) on conflict (name) do nothing"
    connection.executemany(add, ((name,) for name in wanted))
    look = "select name, id from hosts where name = ?"
    return dict(connection.executemany(look, ((name,) for name in wanted)))


def put_host(connection: apsw.Connection, seen: HostSeen) -> int:
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


def put_robots(connection: apsw.Connection, read: RobotsRead) -> int:
    """Store a robots.txt, and return the number of its host."""
    name = host_of(read.origin + "/")
    host_id = host_ids(connection, [name])[name]
    body = None if read.body is None else zstandard.compress(read.body)
    at = milliseconds(read.at_seconds)
    row = (read.origin, host_id, at, read.http, read.delay, body)
    connection.execute("insert or replace into robots values (?, ?, ?, ?, ?, ?)", row)
    return host_id - 1


def put_beliefs(connection: apsw.Connection, believed: HostBelieved) -> int:
    """Store the reliability of a host's signals, and return its number."""
    host_id = host_ids(connection, [believed.name])[believed.name]
    rows = ((host_id, kind, *counts) for kind, counts in believed.words.items())
    connection.executemany(_RECORD, rows)
    if believed.masks:
        connection.execute(_MASKS, (host_id, believed.masks))
    return host_id - 1


def host_count(connection: apsw.Connection) -> int:
    """How many hosts there are."""
    return int(connection.execute("select coalesce(max(id), 0) from hosts").get)


def some_hosts(connection: apsw.Connection, first: int, count: int) -> list[Host]:
    """At most `count` hosts from number `first` on."""
    where = " where hosts.id > ? and hosts.id <= ? order by hosts.id"
    return [Host(*row) for row in connection.execute(_HOSTS + where, (first, first + count))]


def host_named(connection: apsw.Connection, name: str) -> Host | None:
    """A host by its name; None where it is unknown."""
    row = connection.execute(_HOSTS + " where name = ?", (name,)).fetchone()
    return None if row is None else Host(*row)


def robots_of_origin(connection: apsw.Connection, origin: str) -> RobotsRead | None:
    """The robots.txt of an origin; None where it was never asked for."""
    found = connection.execute(_ROBOTS.format("body") + " where origin = ?", (origin,)).fetchone()
    if found is None:
        return None
    read = RobotsRead(*found)
    if read.body is None:
        return read
    return replace(read, body=zstandard.decompress(read.body))


def robots_read(connection: apsw.Connection) -> list[RobotsRead]:
    """All of them, without their bodies."""
    query = _ROBOTS.format("null") + " order by host, origin"
    return [RobotsRead(*row) for row in connection.execute(query)]


def discovered(connection: apsw.Connection) -> dict[str, float]:
    """When new pages of sites were last looked for, in seconds, by address."""
    return dict(connection.execute("select address, at / 1000.0 from discovered"))


def host_delays(connection: apsw.Connection, hosts: Ints) -> tuple[Floats, Floats]:
    """Days between requests and seconds until an answer of some hosts; 0 where unknown."""
    rows = connection.executemany(_DELAYS, ((host + 1,) for host in hosts.tolist())).fetchall()
    delay, latency = np.array(rows, np.float64).reshape(-1, 2).T
    return delay, latency


def signal_records(connection: apsw.Connection) -> list[tuple[str, str, tuple[float, ...]]]:
    """All signal records: host, kind of signal, counts."""
    query = """
        select name, kind, right, wrong, silent, quiet_days
        from signal_records join hosts on hosts.id = signal_records.host order by hosts.id, kind
    """
    return [(name, kind, tuple(counts)) for name, kind, *counts in connection.execute(query)]


def signal_records_of(connection: apsw.Connection, kind: str) -> dict[int, tuple[float, ...]]:
    """Counts of one kind of signal, by the number of the host."""
    query = "select host - 1, right, wrong, silent, quiet_days from signal_records where kind = ?"
    return {host: tuple(counts) for host, *counts in connection.execute(query, (kind,))}


def masks_of_hosts(connection: apsw.Connection) -> dict[str, str]:
    """Masks shared by all pages of a host, as text, by the host's name."""
    query = "select name, data from host_masks join hosts on hosts.id = host_masks.host"
    return dict(connection.execute(query))
