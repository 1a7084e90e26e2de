"""Hints that pages have changed: what they do, and how far they are believed."""

import numpy as np
import pytest

from recrawl.detect.reliability import HINT, SignalRecord
from recrawl.entries.entries import Checkpoint, HintsTaken, VisitMade
from recrawl.inspect.pages import chance_fresh, hinted_at, knows_hints
from recrawl.inspect.scenario import build_scenario
from recrawl.inspect.why.facts import signals
from recrawl.policies.recrawl.announced import NAMES, Announced
from recrawl.scheduler.waiting_hints import hear_waiting, taken_by
from recrawl.state.hints import HEARD, read_hints
from recrawl.state.snapshot import load_snapshot
from recrawl.store import add_hints, open_for_writing, open_store
from recrawl.visits.status import VisitOutcome
from tests.inspect.looked import BEGAN, DAY, made, opened, save

NOW = BEGAN + 12
STALE = 0.25  # the first hint is believed, as far as evidence goes that counts
HINTED = 37
ADDRESS = f"https://a.org/s{HINTED // 10}/p{HINTED}.html"


@pytest.fixture
def path(tmp_path):
    """Of a crawl of sixty pages."""
    return tmp_path / "recrawl.db"


@pytest.fixture
def settings(path):
    """Its settings."""
    return made(path)


@pytest.fixture
def crawl(path, settings):
    """The crawl, opened, and its store for reading."""
    with open_store(path) as reader:
        yield opened(settings, path, NOW), reader


def hint(path, *addresses, at=NOW):
    add_hints(path, addresses or [ADDRESS], at * DAY)


def looked_at(settings, path, now=NOW):
    """The crawl as whoever looks at it sees it, and how fresh the copy of the hinted page is."""
    with open_store(path) as reader:
        snapshot = load_snapshot(settings, reader, now)
    return snapshot, chance_fresh(snapshot, HINTED)


def visited(path, at, outcome=VisitOutcome.SAME):
    with open_for_writing(path) as store:
        store.write([VisitMade(HINTED, at * DAY, outcome, http=200)])


def rank(crawl):
    """Place of the hinted page among those that are worth a visit."""
    state = crawl.agenda.frontier(0).state
    value = crawl.policy.value(state, np.arange(60), np.datetime64(int(NOW), "D"))
    return int(np.sum(value > value[HINTED]))


def test_a_hint_makes_its_page_the_next(crawl, path):
    opened_crawl, reader = crawl
    before = rank(opened_crawl)
    hint(path, ADDRESS, "https://a.org/other", "https://b.org/of-no-site")

    assert hear_waiting(opened_crawl, reader) == ["https://a.org/other"]
    assert hear_waiting(opened_crawl, reader) is None

    assert before > 0
    assert rank(opened_crawl) == 0
    assert opened_crawl.announcements.take_hints(HINTED)
    assert not opened_crawl.announcements.take_hints(HINTED)


def test_a_hint_does_not_wait_for_the_next_tick(crawl, path, monkeypatch):
    """Of a large crawl that is hours off, and hundreds of visits; here it is thirty."""
    monkeypatch.setattr("recrawl.frontier.frontier._TICKS_A_GAP", 2)
    opened_crawl, reader = crawl
    minutes = iter(range(3000))

    def next_page():
        agenda = opened_crawl.agenda
        for minute in minutes:
            for lease in agenda.take(NOW + minute / 1440, 1):
                opened_crawl.hosts.end(lease.host, NOW + minute / 1440, None)
                agenda.freed(lease.host)
                return lease.page
        raise AssertionError

    first = next_page()
    hint(path)
    hear_waiting(opened_crawl, reader)

    assert first != HINTED
    assert next_page() == HINTED


def test_hints_that_were_wrong_do_little(crawl, path):
    """Ten wrong ones leave the chance that the eleventh is right at 1 in 11."""
    opened_crawl, reader = crawl
    before = rank(opened_crawl)
    opened_crawl.trust.count_signal(0, HINT, wrong=10.0)
    hint(path)

    hear_waiting(opened_crawl, reader)

    assert opened_crawl.trust.record(0, HINT) == SignalRecord(wrong=10.0)
    assert 0 < rank(opened_crawl) <= before


def test_a_hint_leaves_the_copy_fresh_as_often_as_it_is_wrong():
    """Where no time has passed: (1 + e'/b)^-a = 1 - p."""
    pages = Announced(*(np.zeros(2) for _ in NAMES))
    pages.hint(np.array([1]), np.array([0.8]))
    shape, exposure = np.full((1, 2), 2.0), np.full((1, 2), 20.0)

    days = pages.effective(np.arange(2), (shape, exposure), np.zeros(2), np.zeros(2))
    fresh = (1 + days / exposure) ** -shape

    np.testing.assert_allclose(fresh, [[1.0, 0.2]])
    pages.forget(np.array([1]))
    assert pages.hinted.tolist() == [0.0, 0.0]


def test_hints_last_until_the_visit(crawl, path):
    """Also across a restart, and whoever asks `why` is told."""
    opened_crawl, reader = crawl
    hint(path)
    hear_waiting(opened_crawl, reader)

    parts = opened_crawl.dump()
    with open_for_writing(path) as store:
        store.write([Checkpoint(parts), HintsTaken(opened_crawl.hints.taken)])
    with open_store(path) as other:
        snapshot = load_snapshot(opened_crawl.settings, other, NOW)
        said = signals(build_scenario(snapshot, other, HINTED))

    assert said is not None
    assert said["hint_chance"] == pytest.approx(0.999)  # the first is believed
    assert parts["announcements.hints"][HINTED] == 1
    assert parts["0.announced.hinted"].max() > 0
    with open_store(path) as other:
        assert hinted_at(snapshot, other, HINTED) == pytest.approx(NOW, abs=1e-6)
        assert np.isnan(hinted_at(snapshot, other, HINTED - 1))


def test_who_looks_knows_hints_that_nobody_has_heard(settings, path):
    """A copy that is read with a guarantee would be promised to be fresh otherwise."""
    _, before = looked_at(settings, path)
    hint(path, ADDRESS, "https://a.org/new", "nonsense", at=NOW - 0.1)

    snapshot, after = looked_at(settings, path)

    assert after < STALE < 0.9 < before
    with open_store(path) as reader:
        assert hinted_at(snapshot, reader, HINTED) == pytest.approx(NOW - 0.1, abs=1e-6)
        said = signals(build_scenario(snapshot, reader, HINTED), 5.0)
    assert said == {"hint_chance": pytest.approx(0.999), "hinted_at": 5.0}


def test_a_visit_after_the_hint_answers_it(settings, path):
    """Whether a crawl made it that has not saved yet, or one that was killed."""
    hint(path)
    visited(path, NOW + 0.1)

    snapshot, chance = looked_at(settings, path, NOW + 0.1)

    assert chance > 0.99
    assert len(snapshot.hints) == 0
    with open_store(path) as reader:
        assert np.isnan(hinted_at(snapshot, reader, HINTED))
    late = opened(settings, path, NOW + 0.1)
    assert late.announcements.hints.sum() == 0
    assert not late.announcements.take_hints(HINTED)


def test_a_visit_that_fails_does_not_answer_a_hint(settings, path):
    hint(path)
    visited(path, NOW + 0.1, VisitOutcome.FAILED)

    assert looked_at(settings, path, NOW + 0.1)[1] < STALE


def test_a_hint_is_not_older_than_what_was_done_before_it(settings, path):
    """The clock of whoever gives it may be behind that of the crawl."""
    hint(path, at=BEGAN)

    assert looked_at(settings, path)[1] < STALE


def test_a_hint_that_waited_for_a_crawl_while_its_page_was_visited_says_nothing(crawl, path):
    opened_crawl, reader = crawl
    hint(path, at=NOW)
    opened_crawl.last[HINTED] = NOW + 0.1

    assert hear_waiting(opened_crawl, reader) == []

    assert opened_crawl.announcements.hints.sum() == 0
    assert taken_by(opened_crawl) == HintsTaken(1)  # no checkpoint need know of it


def test_hints_stay_in_the_store_until_they_are_saved(crawl, settings, path):
    """A crawl that is killed has them still, and none is heard twice."""
    opened_crawl, reader = crawl
    hint(path)
    _, expected = looked_at(settings, path)

    hear_waiting(opened_crawl, reader)

    assert taken_by(opened_crawl) is None
    again = opened(settings, path, NOW)
    assert again.announcements.hints[HINTED] == 1
    assert again.hints.unsaved == 1
    assert hear_waiting(again, reader) == []  # once more for new pages, not for what it believes
    assert hear_waiting(again, reader) is None
    assert again.announcements.hints[HINTED] == 1
    with open_for_writing(path) as store:
        store.write([Checkpoint(again.dump())])  # killed before the hints were taken away
    assert looked_at(settings, path)[1] == pytest.approx(expected, rel=1e-6)  # it is rounded
    after = opened(settings, path, NOW)
    assert after.announcements.hints[HINTED] == 1
    hint(path, at=NOW)
    assert hear_waiting(after, reader) == []
    assert hear_waiting(after, reader) == []
    assert hear_waiting(after, reader) is None
    assert after.announcements.hints[HINTED] == 2


@pytest.mark.parametrize("said", ["many", -1, 1 << 60, 2.5])
def test_a_checkpoint_may_say_anything_of_hints(settings, path, said):
    """One of an older version says nothing."""
    save(settings, path, NOW)
    with open_store(path) as reader:
        saved = reader.checkpoint()
    assert saved is not None
    with open_for_writing(path) as store:
        store.write([Checkpoint({**saved.parts, HEARD: said})])
    hint(path)

    assert looked_at(settings, path)[1] < STALE


def test_a_look_that_a_checkpoint_overtakes_is_repeated(settings, path, monkeypatch):
    """Else it would have the old checkpoint, and not the hints that only the new one knows of."""
    save(settings, path, NOW)
    hint(path)
    overtaken: list[bool] = []

    def overtake(*asked, **more):
        if not overtaken:
            overtaken.append(True)
            crawl = opened(settings, path, NOW)
            with open_for_writing(path) as store:
                store.write([Checkpoint(crawl.dump()), HintsTaken(crawl.hints.heard)])
        return read(*asked, **more)

    read = read_hints
    monkeypatch.setattr("recrawl.state.snapshot.read_hints", overtake)

    assert looked_at(settings, path)[1] < STALE


def test_a_snapshot_that_was_kept_knows_whether_it_knows_of_all_hints(settings, path):
    save(settings, path, NOW)
    with open_store(path) as reader:
        before = load_snapshot(settings, reader, NOW)
        assert knows_hints(before, reader, HINTED)

        hint(path)
        assert not knows_hints(before, reader, HINTED)
        assert knows_hints(before, reader, HINTED + 1)
        assert knows_hints(load_snapshot(settings, reader, NOW), reader, HINTED)

        visited(path, NOW + 0.1)
        assert knows_hints(before, reader, HINTED)
        save(settings, path, NOW + 0.1)
        assert not knows_hints(before, reader, HINTED)  # for all it knows


def test_hints_from_a_clock_ahead_of_time_are_dated_back(settings, path):
    """Else they would stand after every visit, until that time has come."""
    hint(path)
    with open_for_writing(path) as store:
        store.date_back((BEGAN + 5) * DAY)

    with open_store(path) as reader:
        assert reader.hints(0, 9) == [(1, (BEGAN + 5) * DAY, ADDRESS)]
