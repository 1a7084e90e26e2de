"""What a folder holds already is known again after a restart, and never too much."""

from uuid import UUID, uuid4

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.adapters.warc.fetches import OriginalRecord, WarcIndex, body_key, version_key
from recrawl.errors import CannotWrite

ORIGINAL = OriginalRecord(UUID(int=7), "http://a.org/é", 1_700_000_000_123, "sha1:A")
KEY = body_key(b"hello")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "index.db"


def found(path, key=KEY):
    """What a new start knows."""
    known = WarcIndex(path)
    try:
        return known.find(key)
    finally:
        known.close()


def test_what_was_kept_is_known_again(path):
    known = WarcIndex(path)
    known.put(KEY, ORIGINAL)
    known.commit()
    known.close()

    assert found(path) == ORIGINAL
    assert found(path, body_key(b"bye")) is None


def test_what_was_not_kept_is_forgotten(path):
    """Its record may not be on disk."""
    known = WarcIndex(path)
    known.put(KEY, ORIGINAL)
    assert known.find(KEY) == ORIGINAL
    known.close()

    assert found(path) is None


def test_the_newest_record_of_a_key_counts(path):
    known = WarcIndex(path)
    newer = OriginalRecord(uuid4(), "http://b.org/", 2, "sha1:B")
    known.put(KEY, ORIGINAL)
    known.put(KEY, newer)

    assert known.find(KEY) == newer
    known.close()


def test_a_body_is_no_page():
    assert body_key(b"a\0b\0c") != version_key("a", "b", "c")
    assert version_key("http://a.org/", "", "") is None


@given(st.lists(st.tuples(*[st.text(max_size=5)] * 3), min_size=2, max_size=2, unique=True))
def test_two_versions_have_two_keys(versions):
    """Addresses and validators hold no zero."""
    one, two = (tuple(text.replace("\0", "") for text in version) for version in versions)

    assert one == two or version_key(*one) is None or version_key(*one) != version_key(*two)


@pytest.mark.parametrize("content", [b"no database" * 500, b"SQLite format 3\0" + bytes(9000)])
def test_a_file_that_is_something_else_may_be_removed(path, content):
    path.write_bytes(content)

    with pytest.raises(CannotWrite, match=r"index.db: damaged; delete it to go on \(.*\)$"):
        found(path)
    path.unlink()
    assert found(path) is None


@pytest.mark.parametrize(
    "damage",
    [
        "update records set number = x'00'",
        "update records set number = 7",
        "update records set address = cast(x'ff' as text)",
        "alter table records rename column number to name",
    ],
)
def test_a_damaged_list_is_refused_in_one_sentence(path, damage):
    known = WarcIndex(path)
    known.put(KEY, ORIGINAL)
    known.commit()
    known.close()
    connection = apsw.Connection(str(path))
    connection.execute(damage)
    connection.close()

    with pytest.raises(CannotWrite, match="damaged; delete it to go on"):
        found(path)
