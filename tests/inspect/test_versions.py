"""Versions of a page that a store keeps, chosen and compared."""

import pytest

from recrawl.entries.entries import PagesFound, VisitMade
from recrawl.entries.records import Version
from recrawl.errors import NothingToCompare
from recrawl.inspect.versions import PageVersions
from recrawl.settings.settings import read_settings
from recrawl.store import create_store, open_store
from recrawl.visits.status import VisitOutcome

PAGE = "https://a.org/"
SETTINGS = read_settings('agent = "bot (me@example.org)"')


@pytest.fixture
def versions(tmp_path):
    with create_store(tmp_path / "a.db") as store:
        store.write([PagesFound([PAGE], ["a.org"], [0], at_seconds=0.0)])
        for number in range(4):
            body = f"<p>Version {number}".encode()
            store.write([VisitMade(0, 100.5 + number * 10, VisitOutcome.CHANGED, body=body)])
    with open_store(tmp_path / "a.db") as reader:
        yield PageVersions.of(SETTINGS, reader, 0, PAGE)


@pytest.mark.parametrize(
    ("since", "until", "wanted"),
    [
        (None, None, (120.5, 130.5)),
        (105.0, None, (100.5, 130.5)),
        (110.0, 120.0, (110.5, 120.5)),  # the seconds that people are shown
        (None, 125.0, (110.5, 120.5)),
        (100.0, 999.0, (100.5, 130.5)),
    ],
    ids=["newest", "from", "both", "to", "beyond"],
)
def test_a_version_holds_from_when_it_was_seen_to_the_next(versions, since, until, wanted):
    assert tuple(each.at_seconds for each in versions.chosen(since, until)) == wanted


def test_a_version_that_was_dropped_meanwhile_is_refused(versions):
    with pytest.raises(
        NothingToCompare, match=r"^the version of \S+ \S+ UTC is no longer kept; see --list$"
    ):
        versions.lines(Version(0.0, b"0123456789abcdef", 5))


def test_versions_are_compared_as_a_reader_sees_them(versions):
    found = versions.compared(*versions.chosen(None, None))

    assert (found.diff.old, found.diff.new) == (("Version 2",), ("Version 3",))
    assert found.share == pytest.approx(0.5)
