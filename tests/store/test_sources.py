"""Sources of new pages in a store."""

import pytest

from recrawl.entries.entries import PagesFound
from recrawl.entries.sources import Source, SourceKind, SourceLooked
from recrawl.store import create_store, open_store

ORIGIN = "https://a.org"
HOUR_SECONDS = 3600.0


def look(source, hour, *paths):
    """A look that began when the source was as given."""
    addresses = [f"{ORIGIN}/{path}" for path in paths]
    hosts, rules = ["a.org"] * len(paths), [0] * len(paths)
    return SourceLooked(source, PagesFound(addresses, hosts, rules, hour * HOUR_SECONDS))


@pytest.mark.parametrize("commits", [1, 2])
def test_two_visits_to_a_hub_that_overlap_both_count(tmp_path, commits):
    """The second found nothing new: it must not take back what the first has found."""
    hub = Source(f"{ORIGIN}/", ORIGIN, SourceKind.HUB).after_look(0.0, 0)
    looks = [look(hub, 24, "1", "2", "3"), look(hub, 25)]

    with create_store(tmp_path / "recrawl.db") as store:
        store.write([look(hub, 0)])
        for some in [looks] if commits == 1 else [[each] for each in looks]:
            store.write(some)

    with open_store(tmp_path / "recrawl.db") as reader:
        (seen,) = reader.sources()
    assert seen == hub.after_look(24 * HOUR_SECONDS, 3).after_look(25 * HOUR_SECONDS, 0)
    assert seen.new == pytest.approx(3, rel=0.01)
