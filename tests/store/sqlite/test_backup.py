"""A copy of a store while a crawl writes to it."""

import pytest

from recrawl.errors import CannotWrite, StoreError
from recrawl.store import back_up, open_for_writing, open_store
from recrawl.store.sqlite import backup
from tests.cli.running import names_in
from tests.disks import no_large_files
from tests.noise import noise
from tests.store.made import numbered, store_with, visit

VISITS = 40


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(backup, "_PAGES_AT_A_TIME", 16)
    with store_with(tmp_path / "pages.db", *numbered(VISITS)) as store:
        for page in range(VISITS):
            store.write([visit(page, page, body=noise(20_000, page))])
    return tmp_path / "pages.db"


def test_a_copy_is_made_while_a_crawl_writes(path, tmp_path):
    """The crawl writes between any two steps; the copy is what there was when it began."""
    copy, steps = tmp_path / "copy.db", []
    with open_for_writing(path) as store:

        def on_progress(done):
            steps.append(done)
            store.write([visit(0, 1000 + len(steps), body=noise(9_000, len(steps)))])

        assert back_up(path, copy, on_progress) == VISITS
        written = store.last_visit()

    assert written == VISITS + len(steps)
    assert len(steps) > 10
    assert steps == sorted(steps)
    assert steps[-1] == 1.0
    with open_store(copy) as reader:
        assert reader.last_visit() == VISITS
        assert [reader.newest_body(page) for page in range(VISITS)] == [
            noise(20_000, page) for page in range(VISITS)
        ]
        assert all(part.found == 0 for part in reader.check())
    with open_for_writing(copy) as store:
        assert store.write([visit(0)]) == [VISITS + 1]


def test_nothing_is_overwritten(path, tmp_path):
    copy = tmp_path / "copy.db"
    copy.write_text("mine")

    with pytest.raises(CannotWrite, match=r"copy\.db already exists$"):
        back_up(path, copy)
    with pytest.raises(CannotWrite, match=r"pages\.db already exists$"):
        back_up(path, path)

    assert copy.read_text() == "mine"


def test_a_file_that_came_meanwhile_is_not_overwritten(path, tmp_path):
    copy = tmp_path / "copy.db"

    with pytest.raises(CannotWrite, match="file exists"):
        back_up(path, copy, lambda _: copy.write_text("mine"))

    assert copy.read_text() == "mine"


def test_what_ends_half_way_leaves_nothing(path, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        back_up(path, tmp_path / "copy.db", interrupt)
    with no_large_files(200_000), pytest.raises(StoreError):
        back_up(path, tmp_path / "copy.db")

    assert [name for name in names_in(tmp_path) if "copy" in name] == []


def interrupt(_):
    raise KeyboardInterrupt
