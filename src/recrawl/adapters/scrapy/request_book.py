"""How a spider asks for each of its pages, on disk beside the store: callback, meta, arguments.

A page that was found in one run is fed to the spider in another, which must get it as if it had
just been found. What cannot be written down as JSON is not taken in.

The book also knows which pages the spider has not parsed to their end: after a kill they are
fetched again, or what they link to would be found only when they change.

Touches: files.
"""

from __future__ import annotations

import json
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self

import apsw
from scrapy import Request
from scrapy.utils.request import request_from_dict

from recrawl.errors import StoreCorrupt, StoreUnwritable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from scrapy import Spider

PAGE = "recrawl_page"  # in the meta of a request: the page that it is for
OUTCOME = "recrawl_outcome"  # in the meta of a response: what became of the page
_OURS = (PAGE, OUTCOME)
_KEPT = ("callback", "errback", "meta", "cb_kwargs", "cookies", "flags", "priority")
_READ = (*_KEPT, "headers")
_LONGEST_REQUEST = 65_536  # characters of one, as JSON
_DAMAGED = (apsw.CorruptError, apsw.NotADBError)
_SCHEMA = """
    create table if not exists requests (address text primary key, request text not null) strict;
    create table if not exists unparsed (address text primary key) strict;
"""


def request_text(request: Request, spider: Spider) -> str | None:
    """A request as JSON; None where it cannot be written down, and so is none for a page."""
    if request.method != "GET" or request.body or type(request) is not Request:
        return None
    try:
        whole = request.to_dict(spider=spider)
    except ValueError:  # a callback that is no method of the spider
        return None
    kept: dict[str, Any] = {name: whole[name] for name in _KEPT if whole.get(name)}
    kept["meta"] = {key: value for key, value in request.meta.items() if key not in _OURS}
    kept["headers"] = {
        name.decode("latin-1"): [value.decode("latin-1") for value in values]
        for name, values in request.headers.items()
        if name.lower() not in (b"if-none-match", b"if-modified-since")
    }
    try:
        text = json.dumps(kept, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return None
    return text if len(text) <= _LONGEST_REQUEST else None


def request_from(text: str, address: str, spider: Spider) -> Request:
    """A request as it was written down; a plain one where the spider has changed too much."""
    with suppress(AttributeError, ImportError, TypeError, ValueError, RecursionError):
        known = {name: value for name, value in json.loads(text).items() if name in _READ}
        return request_from_dict({**known, "url": address, "dont_filter": True}, spider=spider)
    return Request(address, dont_filter=True)


class RequestBook:
    """Requests of a spider for its pages.

    Args:
        path: The file; None to keep them in memory.
    """

    def __init__(self, path: Path | None) -> None:
        self._name = ":memory:" if path is None else str(path)
        with self._one_sentence():
            self._connection = apsw.Connection(self._name)
            self._connection.set_busy_timeout(5000)
            self._connection.execute("pragma journal_mode = wal; pragma synchronous = normal")
            self._connection.execute(_SCHEMA)

    @contextmanager
    def _one_sentence(self) -> Iterator[None]:
        """Say what is wrong with the file, and what to do about it."""
        try:
            yield
        except (*_DAMAGED, UnicodeDecodeError) as error:
            raise StoreCorrupt(
                f"{self._name} is damaged ({error}); delete it: until the spider finds its pages "
                "again, they are requested without their options"
            ) from None
        except apsw.Error as error:
            raise StoreUnwritable(f"{self._name} cannot be read or written ({error})") from None

    def put(self, requests: Iterable[tuple[str, str]]) -> None:
        """Keep requests by the addresses of their pages; the newest of each."""
        rows = list(requests)
        if rows:
            with self._one_sentence(), self._connection:
                self._connection.executemany("insert or replace into requests values (?, ?)", rows)

    def get(self, address: str) -> str | None:
        """The request for a page; None where none is known."""
        query = "select request from requests where address = ?"
        with self._one_sentence():
            found = self._connection.execute(query, (address,)).get
        return found if isinstance(found, str) else None

    def begin(self, address: str) -> None:
        """Note that a spider is about to parse a page."""
        with self._one_sentence():
            self._connection.execute("insert or ignore into unparsed values (?)", (address,))

    def end(self, address: str) -> None:
        """Note that it has parsed it, and that all that came of it is written down."""
        with self._one_sentence():
            self._connection.execute("delete from unparsed where address = ?", (address,))

    def unparsed(self) -> list[str]:
        """Pages that were not parsed to their end."""
        with self._one_sentence():
            rows = self._connection.execute("select address from unparsed").fetchall()
        return [str(address) for (address,) in rows]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
