"""How far the word of hosts was found to be right, and what differs by itself on their pages.

Touches: files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.store.sqlite.pages import host_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from recrawl.entries.entries import HostBelieved

_WORD = "insert or replace into honesty values (?, ?, ?, ?, ?, ?)"
_MASKS = "insert or replace into host_masks values (?, ?)"


def put_beliefs(connection: apsw.Connection, believed: HostBelieved) -> int:
    """Write down how far a host is believed, and return its number."""
    number = host_numbers(connection, [believed.name])[believed.name]
    rows = ((number, kind, *counts) for kind, counts in believed.words.items())
    connection.executemany(_WORD, rows)
    if believed.masks:
        connection.execute(_MASKS, (number, believed.masks))
    return number


def words_of_hosts(connection: apsw.Connection) -> Iterator[tuple[str, str, tuple[float, ...]]]:
    """Host, kind of word and counts of all that is written down."""
    query = """
        select name, kind, right, wrong, silent, quiet_days
        from honesty join hosts on hosts.id = honesty.host order by hosts.id, kind
    """
    for name, kind, *counts in connection.execute(query):
        yield name, kind, tuple(counts)


def masks_of_hosts(connection: apsw.Connection) -> dict[str, str]:
    """What differs by itself on all pages of a host, as text, by the host's name."""
    query = "select name, data from host_masks join hosts on hosts.id = host_masks.host"
    return dict(connection.execute(query))
