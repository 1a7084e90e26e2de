"""Leases of slots: which worker holds which, until when, and what all of them spend.

A lease is a row with a worker's name and an instant of the server's clock. Whoever holds a slot
renews its lease a few times before it is over; once it is over, any worker may take the slot, with
a *fence* that is one higher. Only the server's clock counts.

Touches: the network.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
from typing import TYPE_CHECKING, Any

from recrawl.errors import StoreError
from recrawl.plan.shared_price import SlotDemand, SpendingCurve
from recrawl.store.postgres import lock, schema, slot_hosts
from recrawl.store.postgres.connections import connect, transaction, translate_errors
from recrawl.store.postgres.database import PostgresDatabase
from recrawl.store.rows import checkpoints
from recrawl.store.slots.leases import LEASE_SECONDS, LeaseState

if TYPE_CHECKING:
    from collections.abc import Mapping

    import psycopg

    from recrawl.parse.store_addresses import PostgresAddress

_SEEN = """
    insert into workers (worker, host, process, until)
    values ($2, $3, $4, clock_timestamp() + make_interval(secs => $1))
    on conflict (worker) do update set until = excluded.until
"""
_RENEW = """
    update slots set until = clock_timestamp() + make_interval(secs => $1)
    from unnest($3::bigint[], $4::bigint[]) as held(number, fence)
    where slots.slot = held.number and slots.fence = held.fence and slots.worker = $2
    returning slots.slot
"""
_TAKE = """
    update slots
    set fence = fence + 1, worker = $2, until = clock_timestamp() + make_interval(secs => $1)
    where slot = $3 and (worker is null or worker = $2 or until <= clock_timestamp())
    returning fence
"""
_PREPARE_SECONDS = 120
_PATIENT = "select set_config('lock_timeout', $1, false)"
_ALONE = "update writers set commits = commits + 1 where slot = 0"
_RELEASE = "update slots set worker = null, until = null where slot = $1 and fence = $2"
_FREE = "select slot from slots where worker is null or until <= clock_timestamp() order by slot"
_WORKERS = """
    select count(*), min(held) from (
        select (
            select count(*) from slots
            where slots.worker = workers.worker and slots.until > clock_timestamp()
        ) as held
        from workers where until > clock_timestamp()
    ) as live
"""
_LEAVE = "delete from workers where worker = $1 or until < clock_timestamp() - interval '1 day'"
_NOW = "select cast(extract(epoch from clock_timestamp()) as double precision)"
_PUBLISH = """
    update slots set curve = $3 where slot = $1 and fence = $2
"""
_CURVES = """
    select slot, curve, coalesce(until > clock_timestamp(), false) from slots
    where curve is not null
"""


class PostgresLeases:
    """The leases of one worker; see `recrawl.store.slots.leases.SlotLeases` for its methods.

    Args:
        address: Where the store is.
        seconds: How long a lease lasts.

    Attributes:
        worker: Name of the worker.
        seconds: How long a lease lasts.
    """

    def __init__(self, address: PostgresAddress, seconds: float = LEASE_SECONDS) -> None:
        self._address = address
        self._connection: psycopg.Connection[Any] | None = None
        self.seconds = seconds
        self.worker = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"

    def prepare(self, slots: int) -> None:
        """Make the slots, where there are none or another number of them and nobody holds any.

        Raises:
            StoreError: Other workers run with another number of slots.
        """
        with translate_errors(self._address), connect(self._address) as connection:
            schema.upgrade(connection, self._address)
            lock.share(connection, self._address)
            connection.execute(_PATIENT, (f"{_PREPARE_SECONDS}s",))  # others may be saving slots
            with transaction(connection):
                # First, as whoever writes does: who takes them the other way round waits for ever.
                connection.execute(_ALONE)
                connection.execute("lock table slots in exclusive mode")
                (known,) = connection.execute("select count(*) from slots").fetchone() or (0,)
                database = PostgresDatabase(connection, self._address.schema)
                if known == slots:
                    slot_hosts.enter(database, slots)
                    return
                (held,) = connection.execute(
                    "select count(*) from slots where until > clock_timestamp()"
                ).fetchone() or (0,)
                if held:
                    raise StoreError(
                        f"{self._address.name}: other workers run with {known} slots; stop them "
                        f"before you set slots = {slots}"
                    )
                for table in ("slots", "slot_notes"):
                    connection.execute(f"delete from {table}".encode())  # noqa: S608 - ours
                    made = f"insert into {table} (slot) select generate_series(0, $1::bigint - 1)"
                    connection.execute(made.encode(), (slots,))
                slot_hosts.enter_again(database, slots)
                checkpoints.forget_slots(database)
            connection.execute("analyze pages, slot_hosts")  # or it guesses how large a slot is

    def renew(self, held: Mapping[int, int]) -> LeaseState:
        """Renew the leases of slots, by their fences, and look around."""
        with translate_errors(self._address):
            connection = self._connected()
            here = socket.gethostname(), os.getpid()
            connection.execute(_SEEN, (self.seconds, self.worker, *here))
            renewed = connection.execute(
                _RENEW, (self.seconds, self.worker, [*held.keys()], [*held.values()])
            ).fetchall()
            workers, fewest = connection.execute(_WORKERS).fetchone() or (1, 0)
            return LeaseState(
                held=frozenset(int(slot) for (slot,) in renewed),
                free=tuple(int(slot) for (slot,) in connection.execute(_FREE)),
                workers=int(workers),
                fewest=int(fewest or 0),
                now_seconds=float((connection.execute(_NOW).fetchone() or (0.0,))[0]),
            )

    def take(self, slot: int) -> int | None:
        """Take a slot that nobody holds; returns its fence, None where somebody was faster."""
        with translate_errors(self._address):
            connection, taken = self._connected(), (self.seconds, self.worker, slot)
            with transaction(connection):
                connection.execute(_ALONE)  # what its last holder is writing is written before
                found = connection.execute(_TAKE, taken).fetchone()
            return None if found is None else int(found[0])

    def release(self, slot: int, fence: int) -> None:
        """Give a slot back, where it is still ours."""
        with translate_errors(self._address):
            self._connected().execute(_RELEASE, (slot, fence))

    def leave(self) -> None:
        """Be no worker any more."""
        with translate_errors(self._address):
            self._connected().execute(_LEAVE, (self.worker,))

    # What slots spend.

    def publish(self, demands: Mapping[int, tuple[int, SlotDemand]]) -> None:
        """Say what slots would spend, each by its fence."""
        with translate_errors(self._address):
            for slot, (fence, demand) in demands.items():
                curve = demand.curve
                points = curve.prices.tolist(), curve.visits.tolist()
                said = [*points, demand.pages, demand.spent, demand.learned]
                self._connected().execute(_PUBLISH, (slot, fence, json.dumps(said)))

    def demands(self) -> dict[int, SlotDemand]:
        """What each slot said last, whether somebody holds it or not."""
        with translate_errors(self._address):
            found = said_by_slots(self._connected())
        return {
            slot: SlotDemand(SpendingCurve(prices, visits), pages, spent, live, tuple(*learned))
            for slot, ((prices, visits, pages, spent, *learned), live) in found.items()
        }

    def close(self) -> None:
        """Close the connection. Idempotent."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connected(self) -> psycopg.Connection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = connect(self._address)
            lock.be_brief(self._connection, self.seconds)
        return self._connection


def said_by_slots(connection: psycopg.Connection[Any]) -> dict[int, tuple[Any, bool]]:
    """What each slot said last of what it would spend, and whether somebody holds it."""
    rows = connection.execute(_CURVES).fetchall()
    return {int(slot): (json.loads(text), bool(live)) for slot, text, live in rows}


def has_workers(address: PostgresAddress) -> bool:
    """Whether workers crawl a store; False where there is none."""
    with translate_errors(address), connect(address) as connection:
        if "workers" not in schema.tables_of(connection, address.schema)[0]:
            return False
        found = connection.execute(_WORKERS).fetchone()
        return bool(found and found[0])
