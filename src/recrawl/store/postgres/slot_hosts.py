"""Which slot each host of a store lies in, as the database knows it.

Touches: the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.settings.slots import slots_of_hosts
from recrawl.store.rows.values import exactly

if TYPE_CHECKING:
    from recrawl.store.postgres.database import PostgresDatabase

_NEW = """
    select id, name from hosts where id > (select coalesce(max(host), 0) from slot_hosts)
    order by id
"""


def enter(database: PostgresDatabase, slots: int) -> int:
    """Enter hosts that are new; returns how many. Inside of a transaction, alone.

    Args:
        database: Of the store.
        slots: How many slots there are.
    """
    new = database.execute(_NEW).fetchall()
    if new:
        numbers = slots_of_hosts([exactly(str, name) for _, name in new], slots)
        rows = zip((host for host, _ in new), numbers.tolist(), strict=True)
        database.append("slot_hosts", "host, slot", rows)
    return len(new)


def enter_again(database: PostgresDatabase, slots: int) -> None:
    """Enter all hosts for another number of slots."""
    database.execute("delete from slot_hosts")
    enter(database, slots)
