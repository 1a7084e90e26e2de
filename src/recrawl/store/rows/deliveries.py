"""Destinations of the change feed: positions, and events that were given up.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.entries.records import Destination, Undelivered
from recrawl.store.rows.columns import maybe_milliseconds, milliseconds
from recrawl.store.rows.feed import feed_range
from recrawl.store.rows.values import exactly, instant, maybe_instant, number

if TYPE_CHECKING:
    from recrawl.entries.deliveries import DestinationMoved, DestinationsNamed, Redelivered
    from recrawl.store.rows.database import Database

_LONGEST_PROBLEM = 200
_NEXT = "(select coalesce(max(id), 0) + 1 from destinations)"
_NAME = f"""
    insert into destinations (id, name, cursor, attempts, disabled) values ({_NEXT}, ?, ?, 0, 0)
    on conflict (name) do nothing
"""  # noqa: S608 - our own text
_MOVE = f"""
    insert into destinations (id, name, cursor, attempts, next_at, disabled, problem)
    values ({_NEXT}, ?, ?, ?, ?, ?, ?)
    on conflict (name) do update set cursor = excluded.cursor, attempts = excluded.attempts,
        next_at = excluded.next_at, disabled = excluded.disabled, problem = excluded.problem
"""  # noqa: S608 - our own text
_GIVE_UP = """
    insert into undelivered (destination, change, at, problem)
    select id, ?, ?, ? from destinations where name = ?
    on conflict (destination, change) do update set at = excluded.at, problem = excluded.problem
"""
_STRIKE = """
    delete from undelivered
    where change = ? and destination = (select id from destinations where name = ?)
"""


def begin(connection: Database, named: DestinationsNamed) -> None:
    """Add destinations that are new; they are told of what comes from now on."""
    newest = feed_range(connection).newest
    connection.executemany(_NAME, ((name, newest) for name in named.names))


def move(connection: Database, moved: DestinationMoved) -> None:
    """Keep how far a destination is, and the events that were given up, if any were."""
    now = moved.destination
    again, last = maybe_milliseconds(now.next_at_seconds), now.problem[:_LONGEST_PROBLEM]
    row = (now.name, now.cursor, now.attempts, again, int(now.disabled), last)
    connection.execute(_MOVE, row)
    if moved.given_up:
        at, problem = milliseconds(moved.at_seconds), moved.given_up[:_LONGEST_PROBLEM]
        lost = moved.numbers or (now.cursor,)
        connection.executemany(_GIVE_UP, ((each, at, problem, now.name) for each in lost))


def strike(connection: Database, done: Redelivered) -> None:
    """Take an event off those that were given up."""
    connection.execute(_STRIKE, (done.number, done.destination))


def prune(connection: Database) -> None:
    """Forget what was given up of events that are not kept any more."""
    connection.execute("delete from undelivered where change not in (select id from changes)")


def destinations(connection: Database) -> list[Destination]:
    """All destinations, in the order in which they were added."""
    query = """
        select name, cursor, attempts, next_at, disabled, problem from destinations order by id
    """
    return [
        Destination(
            exactly(str, name),
            number(cursor),
            number(attempts),
            maybe_instant(again),
            bool(number(disabled, most=1)),
            exactly(str, problem),
        )
        for name, cursor, attempts, again, disabled, problem in connection.execute(query)
    ]


def undelivered(connection: Database) -> list[Undelivered]:
    """Events that were given up, by their numbers."""
    query = """
        select name, change, at, undelivered.problem
        from undelivered join destinations on destinations.id = undelivered.destination
        order by change, destinations.id
    """
    return [
        Undelivered(exactly(str, name), number(change), instant(at), exactly(str, problem))
        for name, change, at, problem in connection.execute(query)
    ]
