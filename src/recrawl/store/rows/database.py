"""What a backend does for the tables of a store.

Statements are SQL that SQLite and PostgreSQL both understand, with question marks for values. Where
they differ, a backend has a method for it.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from recrawl.arrays.types import Ints


ROWS_AT_A_TIME = 1000


class FoundRows(Protocol):
    """Rows that a statement has found; each can be read once."""

    @property
    def get(self) -> Any:  # noqa: ANN401 - whatever a row holds
        """The value of a single row of one column, or the row; None where there is none."""

    def fetchone(self) -> Any:  # noqa: ANN401 - as above
        """The next row; None after the last."""

    def fetchall(self) -> list[Any]:
        """All rows that are left."""

    def __iter__(self) -> Iterator[Any]:
        """The rows one by one."""


class Database(Protocol):
    """A connection to the database of a store.

    Attributes:
        alike: Operator that compares a text with a pattern, whatever the case of A to Z.
        among: Condition that a column is one of the values of `listed`, its question mark.
        unreadable: What a query raises where the database itself is damaged.
    """

    alike: str
    among: str
    unreadable: tuple[type[Exception], ...]

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> FoundRows:
        """Carry out one statement."""

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> object:
        """Carry out a statement that finds nothing, with one row of values after the other."""

    def stream(
        self, query: str, values: Sequence[Any] = (), *, rows: int = ROWS_AT_A_TIME
    ) -> Iterator[Any]:
        """Rows of a query, only so many of them in memory; inside of a transaction."""

    def each(self, query: str, keys: Iterable[Any]) -> list[Any]:
        """Rows with one of some keys, in any order, each once.

        Args:
            query: It ends in the name of the key. Never untrusted text.
            keys: Numbers or texts.
        """

    def listed(self, values: Collection[Any]) -> Any:  # noqa: ANN401 - each backend's own
        """Numbers or texts as one value, for `among`."""

    def numbers(self, columns: Sequence[str], source: str, values: Sequence[Any] = ()) -> Ints:
        """Whole numbers of a query, a row each.

        Args:
            columns: Expressions over the columns of the query, never null.
            source: The query. Never untrusted text.
            values: For its question marks.
        """

    def counts(self, columns: Sequence[str], table: str) -> Ints:
        """How many rows have the same whole numbers: these and the count, ascending.

        Args:
            columns: Names of the columns, never null.
            table: Name of the table.
        """

    def look_up(self, table: str, columns: Sequence[str], ids: Ints) -> Ints:
        """Whole numbers of the rows with some ids, a row for each id in its order.

        Raises:
            ValueError: An id is not there.
        """

    def append(self, table: str, columns: str, rows: Iterable[Sequence[Any]]) -> None:
        """Add many rows.

        Args:
            table: Where to.
            columns: Their names, with commas between them.
            rows: Their values.
        """

    def newest(self, table: str) -> int:
        """Largest number that `take_numbers` ever gave for a table, 0 before the first."""

    def set_newest(self, table: str, number: int) -> None:
        """Let numbers go on after another one; inside of a transaction, before any is taken."""

    def columns(self, table: str) -> list[str]:
        """Names of the columns of a table that every backend has."""

    def take_numbers(self, table: str, count: int) -> int:
        """The first of so many numbers for rows of a table, which are given in commit order.

        No number is ever given twice, also when its row was deleted. Rows are added in the
        same transaction.
        """

    def named(self, value: int | str) -> int | str:
        """A value as the table `meta` takes it."""

    def stored_bytes(self) -> int:
        """What the database takes on disk, about; 0 for one in memory."""

    def check_file(self, *, quick: bool) -> Iterator[str | int]:
        """How many pieces the database has on disk, and sentences on what is wrong with them."""

    def make_room(self, budget: int) -> None:
        """Delete the oldest versions of a store that takes more than its budget, in bytes."""


def upsert(table: str, columns: str, key: str) -> str:
    """Statement that adds a row, or replaces the one that has its key.

    Args:
        table: Where to.
        columns: Names of the columns, with commas between them.
        key: Those of them that are its key.

    >>> upsert("masks", "page, data", "page")
    'insert into masks (page, data) values (?, ?)
     on conflict (page) do update set data = excluded.data'
    """
    names, keys = columns.split(", "), key.split(", ")
    marks = ", ".join("?" * len(names))
    others = ", ".join(f"{name} = excluded.{name}" for name in names if name not in keys)
    return (
        f"insert into {table} ({columns}) values ({marks}) "  # noqa: S608 - our own names
        f"on conflict ({key}) do update set {others}"
    )
