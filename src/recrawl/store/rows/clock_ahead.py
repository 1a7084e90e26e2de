"""Instants that a clock ahead of time has written into a store, dated back.

A crawl on a machine whose clock is ahead writes visits in the future. Once the clock is right they
would lie before all others for as long as it was ahead: pages would not be visited, robots.txt not
asked for again. So the next crawl dates them back to now, a millisecond apart in their order, and
what waits for a later instant waits no longer than it would have.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.store.rows import checkpoints
from recrawl.store.rows.values import LAST_INSTANT, number
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from recrawl.store.rows.database import Database

_AHEAD = 1000  # milliseconds that are no matter
_DAY = int(SECONDS_A_DAY) * 1000
_NEWEST = """
    select coalesce((select at from visits order by id desc limit 1), 0),
        coalesce((select max(at) from syncs), 0),
        coalesce((select max(read_at) from robots), 0)
"""


def newest_instant(connection: Database) -> int:
    """The latest instant at which a store says that something was done, in milliseconds."""
    return max(number(each, most=LAST_INSTANT) for each in connection.execute(_NEWEST).get)


def date_back(connection: Database, now: int) -> int:
    """Date back to now, in milliseconds, what lies in the future; returns how many visits did.

    What was learned from them is forgotten, so that it is learned again.
    """
    ahead = newest_instant(connection) - now
    if ahead <= _AHEAD:
        return 0
    latest = "select id from visits where at > ? order by id desc"
    visits = [visit for (visit,) in connection.execute(latest, (now,))]
    dated = [(now - place, visit) for place, visit in enumerate(visits)]
    connection.executemany("update visits set at = ? where id = ?", dated)
    for table in ("versions", "syncs"):
        _clamp(connection, table, now)
    for column in ("first_seen", "deleted_at"):
        connection.execute(f"update objects set {column} = ?1 where {column} > ?1", (now,))  # noqa: S608 - ours
    connection.execute("update pages set found_at = ?1 where found_at > ?1", (now,))
    for column in ("at", "earliest", "latest", "likely"):
        connection.execute(f"update changes set {column} = ?1 where {column} > ?1", (now,))  # noqa: S608 - ours
    _count_today(connection, now // _DAY)
    # What is waited for was set by the clock that was ahead.
    sooner = "update {0} set {1} = case when {1} > ?1 + ?2 then {1} - ?2 else ?1 end where {1} > ?1"
    for table, column in (("pages", "next_at"), ("hosts", "blocked_until"), ("syncs", "next_at")):
        connection.execute(sooner.format(table, column), (now, ahead))
    # Asked for again, but the delay that it wants is known.
    connection.execute("update robots set read_at = ?1 - ?2 where read_at > ?1", (now, 2 * _DAY))
    connection.execute("delete from discovered where at > ?", (now,))
    connection.execute("delete from freshness where at > ?", (now,))
    for column in ("tried_at", "looked_at", "read_at"):
        connection.execute(f"update sources set {column} = ?1 where {column} > ?1", (now,))  # noqa: S608 - ours
    for column in ("until", "pushed_at"):
        connection.execute(sooner.format("subscriptions", column), (now, ahead))
    for table in ("reports", "hints"):
        connection.execute(f"update {table} set at = ?1 where at > ?1", (now,))  # noqa: S608 - ours
    checkpoints.forget(connection)
    return len(visits)


def _clamp(connection: Database, table: str, now: int) -> None:
    """Date back the rows of a table, each a millisecond before the one after it."""
    key = "page, at" if table == "versions" else "id"
    rows = connection.execute(f"select {key} from {table} where at > ? order by at desc", (now,))  # noqa: S608 - ours
    where = " and ".join(f"{name} = ?" for name in key.split(", "))
    dated = [(now - place, *row) for place, row in enumerate(rows)]
    connection.executemany(f"update {table} set at = ? where {where}", dated)  # noqa: S608 - ours


def _count_today(connection: Database, today: int) -> None:
    """Count the visits of days to come as of today."""
    later = """
        select outcome, cast(sum(visits) as bigint) from days where day > ? group by outcome
    """
    moved = [(today, *row) for row in connection.execute(later, (today,))]
    connection.execute("delete from days where day > ?", (today,))
    add = (
        "insert into days values (?, ?, ?) "
        "on conflict (day, outcome) do update set visits = days.visits + excluded.visits"
    )
    connection.executemany(add, moved)
