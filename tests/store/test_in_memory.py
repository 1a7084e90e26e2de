"""A store that is never on disk obeys the same protocols."""

from __future__ import annotations

import pytest

from recrawl.entries.entries import PagesFound, SettingsUsed, VisitMade
from recrawl.errors import StoreError
from recrawl.store import create_in_memory, create_store, open_store
from recrawl.visits.status import VisitOutcome


def test_what_is_written_in_memory_is_read_there_and_nowhere_else():
    found = PagesFound(["https://a.org/"], ["a.org"], rules=[0], at_seconds=0.0)
    with create_in_memory() as one, create_in_memory() as other:
        one.write([found, VisitMade(0, 60.0, VisitOutcome.FIRST, body=b"sheep")])
        with open_store(one.name) as reader, reader.clone() as clone:
            assert reader.addresses([0]) == ["https://a.org/"]
            assert clone.newest_body(0) == b"sheep"
            assert reader.disk_usage().total_bytes == 0
        with open_store(other.name) as reader:
            assert reader.page_count() == 0
        name = one.name
    with pytest.raises(StoreError):
        open_store(name)


def test_a_store_knows_the_settings_that_no_file_has(tmp_path):
    with create_store(tmp_path / "pages.db") as store, open_store(tmp_path / "pages.db") as reader:
        assert reader.settings_used() == ""
        for text in ('{"budget": "5/1d"}', ""):
            store.write([SettingsUsed(text)])
            assert reader.settings_used() == text
