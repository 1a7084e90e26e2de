"""Checkpoints that fit settings with other blocks, without a replay."""

import numpy as np
import pytest

from recrawl.entries.entries import PagesFound
from recrawl.entries.filtering import ShapeJudged
from recrawl.settings.settings import read_settings
from recrawl.state.opening import open_crawl
from recrawl.state.snapshot import load_snapshot, needs_replay
from recrawl.store import open_for_writing, open_store
from tests.inspect.looked import BEGAN, DAY, made, save, settings_text

NOW = BEGAN + 12
PAGE = '[[page]]\naddress = "https://a.org/s0/p0.html"\n'
FILTERS = '[filters]\nexclude = ["/x/"]\ndrop_parameters = ["ref"]\n'
C = '[[site]]\naddress = "https://c.org/"\n'


@pytest.fixture
def path(tmp_path):
    """A crawl of two sites, one with a budget of its own, that was stopped."""
    path = tmp_path / "recrawl.db"
    save(made(path, own=True), path, NOW)
    return path


def reopened(settings, path):
    """The crawl, and how many visits were replayed for it."""
    replayed: list[int] = []
    with open_for_writing(path) as store, open_store(path) as reader:
        crawl = open_crawl(
            settings,
            store,
            reader,
            NOW,
            random=np.random.default_rng(0),
            on_replay=replayed.append,
        )
    return crawl, replayed


@pytest.mark.parametrize("own", ["", 'budget = "5/1d"\n'])
def test_a_site_more_replays_nothing(path, own):
    """Though the numbers of the rules behind it, and of their budgets, are others."""
    before = settings_text(own=True)
    blocks = before.replace("[[site]]", C + own + "[[site]]", 1)
    crawl, replayed = reopened(read_settings(blocks), path)
    with open_store(path) as reader:
        rules = reader.pages().rule.tolist()
        assert not needs_replay(read_settings(blocks), reader)

    assert replayed == []
    assert rules == [1] * 60 + [2] * 30
    assert len(crawl.agenda.pages(0)) == 60
    assert len(crawl.agenda.pages(2 if own else 1)) == 30
    assert reopened(read_settings(before), path)[1] == []  # nothing of it has visits


def test_what_is_looked_at_is_what_goes_on(path):
    """A reader of newer settings believes what the crawl will believe."""
    settings = read_settings(settings_text(own=True).replace("[[site]]", C + "[[site]]", 1))
    with open_store(path) as reader:
        seen = load_snapshot(settings, reader, NOW)
    crawl, _ = reopened(settings, path)

    for number, pool in enumerate(seen.pools):
        state = crawl.agenda.frontier(number).state
        assert pool.pages.tolist() == crawl.agenda.pages(number).tolist()
        assert pool.state is not None
        np.testing.assert_array_equal(pool.state.last, state.last)
        np.testing.assert_array_equal(pool.state.worth, state.worth)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("weight = 2", "weight = 3"),
        lambda text: text.partition('[[site]]\naddress = "https://b.org')[0],
        lambda text: text + PAGE + 'budget = "5/1d"\n',
        lambda text: 'policy = "uniform"\n' + text,
    ],
    ids=["weight", "gone", "own budget", "policy"],
)
def test_what_changes_what_was_learned_is_replayed(path, change):
    text = change(settings_text(own=True))
    with open_store(path) as reader:
        assert needs_replay(read_settings(text), reader)
    _, replayed = reopened(read_settings(text), path)

    assert replayed


def test_filters_that_leave_out_what_was_never_visited_replay_nothing(path):
    """A page that is known by another name from now on is there under that name."""
    text, names = settings_text(own=True), ["x/1", "y?ref=1", "calendar/7"]
    found = [f"https://a.org/{name}" for name in names]
    with open_for_writing(path) as store:
        store.write([PagesFound(found, ["a.org"] * 3, [0] * 3, BEGAN * DAY, depth=1)])
        store.write([ShapeJudged("a.org", "/calendar/#", 9, 9)])
    filtered = read_settings(text + FILTERS)
    crawl, replayed = reopened(filtered, path)

    assert replayed == []
    with open_store(path) as reader:
        pages = [*found, "https://a.org/y"]
        numbers = [page for page in reader.find_pages(pages) if page is not None]
        assert reader.pages().rule[numbers].tolist() == [-1, -1, -1, 0]
        assert load_snapshot(filtered, reader, NOW).rule[numbers[-1]] == 0
        assert needs_replay(read_settings(text + FILTERS.replace("/x/", "/s0/")), reader)
    assert len(crawl.agenda) == 94
    assert reopened(read_settings(text + "[filters]\ntraps = false\n"), path)[1] == []
    with open_store(path) as reader:
        assert reader.pages().rule[numbers].tolist() == [0, 0, 0, 0]


def test_pages_with_visits_that_find_a_rule_are_replayed(path):
    """Their visits were never learned from."""
    text = settings_text(own=True)
    without_b = text.partition('[[site]]\naddress = "https://b.org')[0]
    save(read_settings(without_b), path, NOW)
    with open_for_writing(path) as store:
        store.write([PagesFound(["https://c.org/"], ["c.org"], [-1], BEGAN * DAY)])

    assert reopened(read_settings(without_b + C), path)[1] == []
    assert reopened(read_settings(text), path)[1]
