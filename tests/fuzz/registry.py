"""Every parser there is, and the modules of rooms that read foreign bytes but parse nothing.

A law (`tests/laws/test_parsers.py`) fails for a module of `ROOMS` that is in neither list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fuzz.parsers import (
    access,
    detect,
    documents,
    extract,
    fetch,
    filtering,
    imports,
    office,
    parse,
    publish,
    settings,
    store,
    tables,
    warc,
    words,
)

if TYPE_CHECKING:
    from tests.fuzz.parser import Parser

PARSERS: tuple[Parser, ...] = (
    *parse.PARSERS,
    *filtering.PARSERS,
    *documents.PARSERS,
    *office.PARSERS,
    *detect.PARSERS,
    *extract.PARSERS,
    *settings.PARSERS,
    *fetch.PARSERS,
    *access.PARSERS,
    *tables.PARSERS,
    *warc.PARSERS,
    *store.PARSERS,
    *words.PARSERS,
    *publish.PARSERS,
    *imports.PARSERS,
)

# Packages whose every module reads what others have written, unless it is listed below.
ROOMS = (
    *("parse", "detect", "extract", "settings", "fetch.http", "adapters.tables", "adapters.warc"),
    *("adapters.cdx", "adapters.access_logs", "adapters.git", "adapters.imports"),
    *("adapters.documents", "store.rows", "store.sqlite"),
)

NO_PARSERS = {
    "settings.slots": "divides settings that were read",
    "parse.store_addresses": "takes what the operator has written",
    "parse.secrets": "hides what others have read",
    "parse.ports": "takes a number that `addresses` has read",
    "detect.recent_texts": "keeps signatures",
    "detect.reliability": "counts",
    "adapters.tables.samples": "reads back arrays that a run of ours has written",
    "settings.pools": "takes settings that were read",
    "settings.reloading": "takes settings that were read",
    "settings.terms": "takes settings that were read",
    "fetch.http.client": "hands bytes to aiohttp's parser",
    "fetch.http.exchange": "hands bytes to `bodies` and `headers`",
    "fetch.http.address_limit": "counts requests",
    "fetch.http.byte_budget": "counts bytes",
    "fetch.http.connections": "counts connections, and ends them",
    "fetch.http.connection_protocol": "hands bytes to aiohttp's parser",
    "fetch.http.kept_connections": "keeps connections, and writes requests",
    "fetch.http.loop_lag": "measures time",
    "fetch.http.problems": "turns errors into words",
    "fetch.http.resolver": "asks the system for addresses",
    "adapters.documents.bounds": "numbers",
    "adapters.documents.converter": "hands bytes to a worker, which may say anything: `messages`",
    "adapters.documents.office": "libraries of others, tried in a worker: `test_reading`",
    "adapters.documents.pdf": "a library of others, tried in a worker: `test_reading`",
    "adapters.documents.reading": "libraries of others, tried in a worker: `test_reading`",
    "adapters.documents.worker": "libraries of others, tried in a worker: `test_converter`",
    "adapters.tables.inputs": "names files, and copies pipes",
    "adapters.tables.table_options": "takes words of the command line, one by one",
    "adapters.tables.logs": "divides what `visits` has read",
    "adapters.tables.outputs": "writes",
    "adapters.tables.results": "writes, and reads its own files of the same run",
    "adapters.imports.into_store": "takes visits that were read",
    "adapters.warc.recorder": "hands fetches to a thread",
    "store.rows.copies": "rows of copies that are written",
    "store.rows.database": "says what a backend must do",
    "store.rows.packing": "what it unpacks is read by `store values`",
    "store.sqlite.database": "rows, read by `store values`, and writing",
    "store.sqlite.hints": "opens connections",
    "store.sqlite.read_store": "opens connections",
    "store.sqlite.write_store": "opens connections",
    "store.sqlite.backup": "copies pages of SQLite",
    "store.rows.body_lines": "rows, read by `store values`, and writing",
    "store.rows.checking": "rows, read by `store values`, and counting",
    "store.rows.clock_ahead": "changes rows",
    "store.sqlite.connections": "opens connections",
    "store.rows.deliveries": "rows, read by `store values`, and writing",
    "store.rows.details": "changes rows",
    "store.sqlite.disk": "counts bytes",
    "store.rows.erasure": "changes rows",
    "store.sqlite.guard": "sets limits; what it unpacks is read by `store values`",
    "store.rows.hints": "rows, read by `store values`, and writing",
    "store.rows.hosts": "rows, read by `store values`, and writing",
    "store.rows.listings": "rows, read by `store values`, and writing",
    "store.rows.meta": "rows, read by `store values`, and writing",
    "store.rows.new_versions": "rows that wait to be written",
    "store.rows.object_feed": "rows, read by `store values`",
    "store.rows.pages": "rows, read by `store values`, and writing",
    "store.rows.read_store": "rows, read by `store values`",
    "store.rows.reports": "rows, read by `store values`, and writing",
    "store.sqlite.schema": "creates tables",
    "store.rows.subscriptions": "rows, read by `store values`, and writing",
    "store.rows.sources": "rows, read by `store values`, and writing",
    "store.rows.transaction": "writes",
    "store.rows.versions": "rows, read by `store values`, and writing",
    "store.rows.visited_pages": "rows that are changed and wait to be written",
    "store.rows.write_store": "writes",
}
