"""A full-text index of a crawl's chunks in SQLite (FTS5), kept in step with its store.

    python examples/fts_index.py CRAWL index.db              bring the index up to date
    python examples/fts_index.py CRAWL index.db green tea    the same, then search

CRAWL is the folder with recrawl.toml. Run it after each crawl, from cron, or in a loop while a
crawl is running. What an event changes is written together with the event's cursor, in one
transaction, so that the index is right whenever this is killed.
"""

import sqlite3
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import recrawl
from recrawl.errors import CursorExpired
from recrawl.settings.settings import read_settings

SCHEMA = """
create table if not exists state (cursor text);
create table if not exists chunks (
    number integer primary key, id text unique, hash text, page integer, address text,
    heading text, body text
);
create index if not exists chunks_by_page on chunks (page);
create virtual table if not exists words
    using fts5 (heading, body, content = 'chunks', content_rowid = 'number');
create trigger if not exists added after insert on chunks begin
    insert into words (rowid, heading, body) values (new.number, new.heading, new.body);
end;
create trigger if not exists deleted after delete on chunks begin
    insert into words (words, rowid, heading, body)
    values ('delete', old.number, old.heading, old.body);
end;
"""


def open_index(path: Path) -> sqlite3.Connection:
    """Open the index; make one where there is none."""
    index = sqlite3.connect(path)
    index.executescript(SCHEMA)
    return index


def bring_up_to_date(store: recrawl.CopyReader, index: sqlite3.Connection) -> Counter[str]:
    """Bring the index in step with the store; returns how many chunks were written and deleted."""
    done: Counter[str] = Counter()
    row = index.execute("select cursor from state").fetchone()
    cursor = row[0] if row else None
    try:
        # Of several events of a page the newest is enough: each has the whole list of chunks.
        events = store.changes(cursor, {"chunks"}, latest=True) if cursor else None
    except CursorExpired:
        events = None
    if events is None:  # the first time, or too late: all copies, and nothing but them
        cursor, copies = store.snapshot({"chunks"})
        with index:
            gone = {page for (page,) in index.execute("select distinct page from chunks")}
            for copy in copies:
                update_page(index, copy, done)
                gone.discard(copy.page)
            for page in gone:
                deleted = index.execute("delete from chunks where page = ?", (page,))
                done["deleted"] += deleted.rowcount
            keep(index, cursor)
        events = store.changes(cursor, {"chunks"}, latest=True)
    for event in events:
        with index:
            update_page(index, event, done)
            keep(index, event.cursor)
    return done


def update_page(index: sqlite3.Connection, event: recrawl.ChangeEvent, done: Counter[str]) -> None:
    """Let the index have the chunks that an event lists, and no others of its page."""
    chunks = event.content["chunks"]
    if chunks is None:  # its version was dropped before we came; a later event is on its way
        return
    rows = index.execute("select id, hash from chunks where page = ?", (event.page,))
    known = dict(rows.fetchall())
    new = [
        (chunk["id"], chunk["hash"], event.page, event.address, heading(chunk), chunk["text"])
        for chunk in chunks
        if chunk["text"] is not None and known.get(chunk["id"]) != chunk["hash"]
    ]
    stale = {row[0] for row in new} & known.keys()
    gone = known.keys() - {chunk["id"] for chunk in chunks}
    index.executemany("delete from chunks where id = ?", [(each,) for each in stale | gone])
    index.executemany(
        "insert into chunks (id, hash, page, address, heading, body) values (?, ?, ?, ?, ?, ?)", new
    )
    done.update(written=len(new), deleted=len(gone))


def heading(chunk: dict[str, list[str]]) -> str:
    """The headings that a chunk stands under, in one line."""
    return " > ".join(chunk["path"])


def keep(index: sqlite3.Connection, cursor: str | None) -> None:
    """Remember how far the index is."""
    index.execute("delete from state")
    index.execute("insert into state values (?)", (cursor,))


def search(index: sqlite3.Connection, words: str, most: int = 5) -> list[tuple[str, str, str]]:
    """Address, heading and an excerpt of the chunks that fit best."""
    query = """
        select address, chunks.heading, snippet(words, 1, '[', ']', '...', 12)
        from words join chunks on chunks.number = words.rowid
        where words match ? order by rank limit ?
    """
    quoted = " ".join('"{}"'.format(word.replace('"', '""')) for word in words.split())
    return index.execute(query, (quoted, most)).fetchall()


def main(folder: Path, path: Path, words: str) -> None:
    """Bring an index up to date, and search it."""
    settings = read_settings((folder / "recrawl.toml").read_text())
    with (
        recrawl.open_store(str(folder / settings.store), settings) as store,
        closing(open_index(path)) as index,
    ):
        done = bring_up_to_date(store, index)
        print(f"{done['written']} chunks written, {done['deleted']} deleted.")
        for address, where, excerpt in search(index, words) if words else ():
            print(f"{address}  {where}\n    {' '.join(excerpt.split())}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), " ".join(sys.argv[3:]))
