"""Visits of others in a store: what `estimate` believes of them, a crawl goes on from."""

from typing import Any

import numpy as np
import pytest

from recrawl.adapters.imports.foreign_visits import COLUMNS, ForeignVisitRows, ImportReading
from recrawl.adapters.imports.into_store import import_into
from recrawl.adapters.tables import results
from recrawl.adapters.tables.logs import read_histories
from recrawl.adapters.tables.outputs import to_file
from recrawl.clock import RealClock
from recrawl.entries.entries import PagesFound
from recrawl.errors import InvalidTable, StoreError
from recrawl.policies.recrawl.beliefs import Beliefs
from recrawl.scheduler.scheduler import Scheduler
from recrawl.settings.settings import read_settings
from recrawl.state.opening import open_crawl
from recrawl.state.snapshot import load_snapshot
from recrawl.store import create_store, open_for_writing, open_store
from recrawl.visits.status import FeedKind, PageStatus, VisitOutcome
from tests.cli.running import names_in

DAY = 86_400_000_000
ROWS = np.arange(2)
BEGAN = 20_000 * DAY
A, B, C = (f"https://a.org/{name}" for name in "abc")
SETTINGS = read_settings(
    'agent = "bot (me@example.org)"\nbudget = "100/1d"\n[politeness]\ndelay = "0.01s"\n'
    '[[site]]\naddress = "https://a.org/"\n'
)


def visits(*rows):
    """Batches of visits: page, day, status, digest and more."""
    made = ForeignVisitRows()
    for page, day, status, digest, *more in rows:
        made.add(page, BEGAN + round(day * DAY), status, digest, **(more[0] if more else {}))
    return [ImportReading().vetted(made.flush())]


HISTORY = visits(
    *((A, 0, 200, "x"), (B, 0.5, 200, "x"), (A, 1, 200, "x"), (A, 3, 200, "y"), (B, 4, 404, "")),
    *((A, 4, 304, ""), (A, 5, 503, ""), (C, 1, 301, ""), (A, 2.5, 200, "x"), (A, 2, 404, "")),
)


def rates_of(crawl):
    state: Any = crawl.agenda.frontier(0).state
    return Beliefs.of(state, ROWS, RealClock().now()).rate.copy()


def stored(path):
    with open_store(path) as reader:
        pages = reader.addresses(range(reader.page_count()))
        found: list[Any] = []
        for each in reader.visits():
            days = (each.at.view(np.int64) - BEGAN) / DAY
            outcomes = [VisitOutcome(int(outcome)).label for outcome in each.outcome]
            found += zip([pages[page] for page in each.page], days, outcomes, strict=True)
        return found


def test_visits_are_written_in_the_order_of_time(tmp_path):
    done = import_into(tmp_path / "a.db", HISTORY)

    assert stored(tmp_path / "a.db") == [
        *((A, 0, "first"), (B, 0.5, "first"), (A, 1, "same"), (A, 2.5, "same")),
        *((A, 3, "changed"), (A, 4, "same"), (B, 4, "gone")),
    ]
    assert done == (2, 7)


def test_a_store_tells_what_a_log_of_the_same_visits_tells(tmp_path):
    import_into(tmp_path / "a.db", HISTORY)
    with to_file(tmp_path / "a.csv", COLUMNS) as out:
        out.write(HISTORY[0].page, HISTORY[0].columns())

    pages, from_store = read_histories(tmp_path / "a.db")
    others, from_log = read_histories(tmp_path / "a.csv")

    rows = [others.index(page) for page in pages]
    assert np.array_equal(from_store.gaps, from_log.take(np.array(rows)).gaps)
    assert np.array_equal(from_store.changed, from_log.take(np.array(rows)).changed)


def test_a_store_with_visits_is_refused_and_left_alone(tmp_path):
    import_into(tmp_path / "a.db", HISTORY)
    before = stored(tmp_path / "a.db")

    with pytest.raises(StoreError, match=r"a\.db has visits already; import into a store without"):
        import_into(tmp_path / "a.db", HISTORY)

    assert stored(tmp_path / "a.db") == before


def test_pages_that_a_crawl_has_found_get_their_visits(tmp_path):
    with create_store(tmp_path / "a.db") as store:
        store.write([PagesFound([C, A], ["a.org"] * 2, [0, 0], 1.0)])

    import_into(tmp_path / "a.db", HISTORY)

    with open_store(tmp_path / "a.db") as reader:
        assert reader.addresses(range(reader.page_count())) == [C, A, B]
        assert set(reader.history(1).page.tolist()) == {1}


def many(pages=40, each=12):
    """Visits to many pages in no order, several at the same time, in small batches."""
    random = np.random.default_rng(4)
    rows = [
        (f"https://s{page % 3}.org/{page}", int(day), 200, f"{random.integers(3)}")
        for page in range(pages)
        for day in random.choice(60, each, replace=False)
    ]
    order = random.permutation(len(rows)).tolist()
    return [batch for row in order for batch in visits(rows[row])]


@pytest.mark.parametrize("window", [50, 1 << 20])
def test_memory_makes_no_difference_to_a_store(tmp_path, monkeypatch, window):
    """The same visits under the same numbers, whether they all fit or wait in temporary files."""
    monkeypatch.setattr(results, "_WINDOW", window)

    whole = import_into(tmp_path / "whole.db", many())
    little = import_into(tmp_path / "little.db", many(), memory=5_000)

    assert little == whole
    assert whole.pages == 40
    assert stored(tmp_path / "little.db") == stored(tmp_path / "whole.db")
    assert stored(tmp_path / "whole.db") == sorted(
        stored(tmp_path / "whole.db"), key=lambda visit: visit[1]
    )
    with open_store(tmp_path / "little.db") as one, open_store(tmp_path / "whole.db") as other:
        assert one.addresses(range(40)) == other.addresses(range(40))
    assert not [name for name in names_in(tmp_path) if name.startswith(".")]


def test_what_fails_in_temporary_files_leaves_nothing(tmp_path):
    """Neither a store nor temporary files: visits end in an error once some of them are written."""

    def broken():
        yield from many()
        assert any(name.startswith(".recrawl-") for name in names_in(tmp_path))
        raise InvalidTable("in the last source")

    with pytest.raises(InvalidTable, match="last source"):
        import_into(tmp_path / "a.db", broken(), memory=5_000)

    assert names_in(tmp_path) == []


def test_what_fails_half_way_leaves_nothing(tmp_path):
    def broken():
        yield HISTORY[0]
        raise KeyboardInterrupt

    with create_store(tmp_path / "old.db"):
        pass
    for name in ("new.db", "old.db"):
        with pytest.raises(KeyboardInterrupt):
            import_into(tmp_path / name, broken())

    assert stored(tmp_path / "old.db") == []
    assert not [name for name in names_in(tmp_path) if name.startswith("new")]


def test_visits_that_show_nothing_are_refused(tmp_path):
    with pytest.raises(
        InvalidTable, match="no visit returned its page; there is nothing to import"
    ):
        import_into(tmp_path / "a.db", visits((A, 0, 503, ""), (A, 1, 301, "")))
    assert names_in(tmp_path) == []


def test_pages_are_new_and_have_rates(tmp_path):
    import_into(tmp_path / "a.db", HISTORY)

    with open_store(tmp_path / "a.db") as reader:
        snapshot = load_snapshot(SETTINGS, reader, BEGAN / DAY + 10)

        assert set(snapshot.columns.status.tolist()) == {PageStatus.NEW}
        assert snapshot.pools[0].state is not None
        assert snapshot.last.tolist() == [BEGAN / DAY + 4, BEGAN / DAY + 0.5]


@pytest.mark.parametrize("policy", ["recrawl", "nutch", "cho-adaptive"])
def test_a_crawl_fetches_the_pages_and_goes_on(tmp_path, policy):
    """The first copy says nothing of changes since; who opens the crawl again believes the same."""
    path = tmp_path / "a.db"
    import_into(path, HISTORY)
    asked = read_settings(
        f'agent = "bot (me@example.org)"\nbudget = "100/1d"\npolicy = "{policy}"\n'
        '[politeness]\ndelay = "0.001s"\n[[site]]\naddress = "https://a.org/"\n'
    )
    with Scheduler.open(path, settings=asked) as scheduler:
        seen: dict[str, float] = {}
        while len(seen) < 2:
            for page in scheduler.due(1):
                assert page.first
                scheduler.seen(page)
                seen[page.address] = RealClock().now()
        state: Any = scheduler._schedule.crawl.agenda.frontier(0).state
        last = dict(zip([A, B], np.asarray(state.last).tolist(), strict=True))
        assert {page: pytest.approx(at, abs=1e-6) for page, at in seen.items()} == last
        assert scheduler.status().new == 0
        assert scheduler.due(1) == []  # nothing is due again at once

    with open_store(path) as reader:
        kinds = [event.kind for events in reader.events() for event in events]
        assert kinds == [FeedKind.NEW, FeedKind.NEW]
        looked = load_snapshot(asked, reader, RealClock().now())
        assert set(looked.columns.status.tolist()) == {PageStatus.COPIED}


def test_replayed_visits_teach_what_the_crawl_has_learned(tmp_path):
    """Other weights need all visits anew. Only the prior depends on how many pages are new."""
    path = tmp_path / "a.db"
    import_into(path, HISTORY)
    with Scheduler.open(path, settings=SETTINGS) as scheduler:
        while scheduler.status().new:
            for page in scheduler.due(1):
                scheduler.seen(page)
        learned = rates_of(scheduler._schedule.crawl)

    with open_for_writing(path) as store, open_store(path) as reader:
        moved = read_settings(
            'agent = "bot (me@example.org)"\nbudget = "100/1d"\n[politeness]\ndelay = "0.01s"\n'
            '[[site]]\naddress = "https://a.org/"\nweight = 2\n'
        )
        crawl = open_crawl(moved, store, reader, RealClock().now(), random=np.random.default_rng(0))

        assert rates_of(crawl)[0] == pytest.approx(learned[0], rel=0.01)
