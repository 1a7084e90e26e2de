"""A vector index of a crawl's chunks in Qdrant, kept in step with its store.

    python examples/vector_index.py CRAWL index/              bring the index up to date
    python examples/vector_index.py CRAWL index/ green tea    the same, then search

CRAWL is the folder with recrawl.toml. Needs `pip install qdrant-client`. The index is a folder of
its local mode; `QdrantClient("http://...")` does the same with a server. `embed` hashes words into
a vector, which needs no model and knows no synonyms: put yours in its place.

Ids of chunks are UUIDs, so they are the ids of points as they are. Only what is new or has changed
is embedded, and what is no longer in the list of its page is deleted. The cursor is written after
that: whenever this is killed, the last event comes again, and changes nothing.
"""

import sys
from collections import Counter
from pathlib import Path
from zlib import crc32

import numpy as np
from qdrant_client import QdrantClient, models

import recrawl
from recrawl.errors import CursorExpired
from recrawl.settings.settings import read_settings

CHUNKS = "chunks"
DIMENSIONS = 512


def embed(texts: list[str]) -> list[list[float]]:
    """Vectors of texts, by feature hashing: each word is counted at a place that it hashes to."""
    vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
    for vector, text in zip(vectors, texts, strict=True):
        for word in text.lower().split():
            digest = crc32(word.strip(".,;:!?()").encode())
            vector[digest % DIMENSIONS] += 1 if digest & 1 << 31 else -1
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: list[list[float]] = (vectors / np.maximum(lengths, 1e-9)).tolist()
    return unit


def open_index(folder: Path) -> QdrantClient:
    """Open the index; make one where there is none."""
    client = QdrantClient(path=str(folder))
    if not client.collection_exists(CHUNKS):
        size = models.VectorParams(size=DIMENSIONS, distance=models.Distance.COSINE)
        client.create_collection(CHUNKS, vectors_config=size)
    return client


def bring_up_to_date(
    store: recrawl.CopyReader, client: QdrantClient, cursor_file: Path
) -> Counter[str]:
    """Bring the index in step with the store; returns how many chunks were embedded and deleted."""
    done: Counter[str] = Counter()
    cursor = cursor_file.read_text() if cursor_file.exists() else None
    try:
        events = store.changes(cursor, {"chunks"}) if cursor else None
    except CursorExpired:
        events = None
    if events is None:  # the first time, or too late: all copies, and nothing but them
        cursor, copies = store.snapshot({"chunks"})
        pages = []
        for copy in copies:
            update_page(client, copy, done)
            pages.append(copy.page)
        others = models.Filter(must_not=[of_pages(pages)])
        done["deleted"] += client.count(CHUNKS, others).count
        client.delete(CHUNKS, others)
        keep(cursor_file, cursor)
        events = store.changes(cursor, {"chunks"})
    for event in events:
        update_page(client, event, done)
        keep(cursor_file, event.cursor)
    return done


def update_page(client: QdrantClient, event: recrawl.ChangeEvent, done: Counter[str]) -> None:
    """Let the index have the chunks that an event lists, and no others of its page."""
    chunks = event.content["chunks"]
    if chunks is None:  # its version was dropped before we came; a later event is on its way
        return
    known = hashes_of(client, event.page)
    # Without a text the version was dropped, too: only what is to be deleted is known.
    new = [
        chunk
        for chunk in chunks
        if chunk["text"] is not None and known.get(chunk["id"]) != chunk["hash"]
    ]
    if new:
        vectors = embed([chunk["text"] for chunk in new])
        points = [
            models.PointStruct(id=chunk["id"], vector=vector, payload=payload(event, chunk))
            for chunk, vector in zip(new, vectors, strict=True)
        ]
        client.upsert(CHUNKS, points)
    gone = known.keys() - {chunk["id"] for chunk in chunks}
    if gone:
        client.delete(CHUNKS, list(gone))
    done.update(embedded=len(new), deleted=len(gone))


def payload(event: recrawl.ChangeEvent, chunk: dict[str, str]) -> dict[str, object]:
    """What is kept beside a vector."""
    named = {name: chunk[name] for name in ("hash", "path", "text")}
    return {"page": event.page, "address": event.address, **named}


def of_pages(pages: list[int]) -> models.FieldCondition:
    """Chunks of some pages."""
    return models.FieldCondition(key="page", match=models.MatchAny(any=pages))


def hashes_of(client: QdrantClient, page: int) -> dict[str, str]:
    """Hash of each chunk that the index has of a page, by its id."""
    wanted = models.Filter(must=[of_pages([page])])
    points, after = client.scroll(CHUNKS, wanted, limit=1000)
    while after is not None:
        more, after = client.scroll(CHUNKS, wanted, limit=1000, offset=after)
        points += more
    return {str(point.id): (point.payload or {})["hash"] for point in points}


def keep(cursor_file: Path, cursor: str | None) -> None:
    """Remember how far the index is, all of it or nothing."""
    written = cursor_file.with_suffix(".new")
    written.write_text(cursor or "")
    written.replace(cursor_file)


def search(client: QdrantClient, words: str, most: int = 5) -> list[models.ScoredPoint]:
    """The chunks that are most alike."""
    return client.query_points(CHUNKS, query=embed([words])[0], limit=most).points


def main(folder: Path, path: Path, words: str) -> None:
    """Bring an index up to date, and search it."""
    settings = read_settings((folder / "recrawl.toml").read_text())
    client = open_index(path)
    with recrawl.open_store(str(folder / settings.store), settings) as store:
        done = bring_up_to_date(store, client, path / "cursor")
    print(f"{done['embedded']} chunks embedded, {done['deleted']} deleted.")
    for point in search(client, words) if words else ():
        about = point.payload or {}
        print(f"{point.score:.2f}  {about['address']}  {' > '.join(about['path'])}")
    client.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), " ".join(sys.argv[3:]))
