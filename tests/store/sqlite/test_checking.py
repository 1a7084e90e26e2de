"""A check of a store finds what does not fit together."""

import pytest

from recrawl.store import open_store
from tests.store.hostile import stores

SPOILT = {
    "a visit without its number": ("delete from visits where id = 7", "visits"),
    "a chain cut in two": ("update visits set before = 0 where id = 100", "visits"),
    "a visit to no page": ("update visits set page = 999 where id = 9", "visits"),
    "days that count others": ("update days set visits = visits + 1 where day % 2", "visits"),
    "latest visits of before": (
        "update latest_visits set data = zeroblob(length(data))",
        "visits",
    ),
    "a page of no host": ("update pages set host = 9 where id = 3", "pages"),
    "a copy of no page": ("update copies set page = 900 where page = 9", "copies"),
    "a body of no version": ("delete from versions where body = 5", "versions"),
    "a version without a body": ("delete from bodies where id = 5", "versions"),
    "a robots.txt of no host": ("update robots set host = 5", "hosts"),
    "an event of no object": ("delete from objects where id = 5", "listings"),
    "a page handed over for no object": (
        "insert into handed_details values (1, 1, 1000000, 'https://a.org/', 0, null)",
        "listings",
    ),
    "a destination ahead of the feed": (
        "insert into destinations values (1, 'a', 1000000, 0, null, 0, '')",
        "changes",
    ),
    "what was given up at no destination": (
        "insert into undelivered values (9, 1, 0, 'answered 500')",
        "changes",
    ),
    "a body with another size": ("update bodies set size = size + 1 where id = 4", "bodies"),
    "bytes of a body that are zero": (
        "update bodies set data = zeroblob(length(data)) where id = 4",
        "bodies",
    ),
    "lines of no body": (
        "update body_lines set body = 1000000 where body = (select min(body) from body_lines)",
        "versions",
    ),
    "lines with another size": ("update body_lines set size = size + 1", "lines"),
    "bytes of lines that are zero": (
        "update body_lines set data = zeroblob(length(data))",
        "lines",
    ),
    "a manifest that nobody has": (
        "insert into manifests select 61, page, splitter, chunks, data from manifests limit 1",
        "changes",
    ),
    "a manifest with another count": ("update manifests set chunks = chunks + 1", "manifests"),
    "a manifest that is no list": ("update manifests set data = x'28b52ffd'", "manifests"),
    "a part of the checkpoint": (
        "update checkpoint set data = zeroblob(length(data)) where part = '0.last' and block = 1",
        "checkpoint",
    ),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return stores.make(tmp_path_factory.mktemp("whole"))


def found_in(path, *, quick=False):
    """Parts of a store in which a check finds something."""
    with open_store(path) as reader:
        return {part.what: part for part in reader.check(quick=quick) if part.found}


def test_a_whole_store_has_no_problems_and_every_row_is_looked_at(whole):
    with open_store(whole) as reader:
        rows = {part.what: part.rows for part in reader.check()}
        assert all(part.problems == () for part in reader.check())

    assert rows["visits"] == 5 * stores.PAGES
    assert rows["pages"] == stores.PAGES
    assert rows["bodies"] > stores.PAGES
    assert rows["checkpoint"] > 30
    assert list(rows) == [
        *("file", "checkpoint", "visits", "pages", "copies", "versions", "hosts", "changes"),
        *("listings", "bodies", "lines", "manifests"),
    ]
    assert rows["manifests"] > stores.PAGES


@pytest.mark.parametrize("name", SPOILT)
def test_each_is_found_in_its_part(whole, tmp_path, name):
    path = tmp_path / "pages.db"
    path.write_bytes(whole.read_bytes())
    statement, part = SPOILT[name]
    stores.execute(statement)(path)

    found = found_in(path)

    assert part in found
    assert all(sentence.isprintable() for sentence in found[part].problems)


def test_an_index_that_does_not_match_is_found_but_not_quickly(whole, tmp_path):
    path = tmp_path / "pages.db"
    path.write_bytes(whole.read_bytes())
    connection = stores.opened(path)
    root = connection.execute("select rootpage from sqlite_schema where name='pages_by_key'").get
    connection.close()
    content = bytearray(path.read_bytes())
    content[4096 * root - 2] ^= 1  # the last byte but one of its first entry
    path.write_bytes(content)

    assert "file" in found_in(path)
    assert found_in(path, quick=True) == {}
