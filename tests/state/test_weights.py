"""A file of weights: each page looked up once, the same answer for all who ask."""

from dataclasses import replace

import numpy as np
import pytest

from recrawl.entries.entries import PagesFound
from recrawl.errors import InvalidSettings, InvalidTable
from recrawl.inspect.next_visits import next_visits
from recrawl.inspect.pages import page_rows
from recrawl.inspect.why.why import reasons
from recrawl.settings.settings import read_settings
from recrawl.state.opening import open_crawl
from recrawl.state.snapshot import load_snapshot
from recrawl.state.weights import all_factors, check_weights, look_up
from recrawl.store import open_for_writing, open_store
from recrawl.store.settings_file import load_settings
from tests.inspect.looked import (
    BEGAN,
    DAY,
    addresses,
    made,
    opened,
    overview_of,
    save,
    settings_text,
)

NOW = BEGAN + 10
PAGES = addresses(60)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "recrawl.db"


def weighted(path, weights, *, more="", policy="recrawl"):
    """Settings that name a file of weights, read anew."""
    rows = "".join(f"{page},{weight!r}\n" for page, weight in weights.items())
    path.with_name("views.csv").write_text(f"page,weight\n{rows}")
    file = path.with_name("recrawl.toml")
    file.write_text(f'weights = "views.csv"\npolicy = "{policy}"\n' + settings_text() + more)
    return load_settings(file)


def seen(settings, path):
    with open_store(path) as reader:
        snapshot = load_snapshot(settings, reader, NOW)
        return snapshot, page_rows(snapshot, reader)


def due(settings, path):
    with open_store(path) as reader:
        snapshot = load_snapshot(settings, reader, NOW)
        return next_visits(snapshot, reader, np.arange(len(snapshot.rule)))


def worth_of(state):
    return state.worth


def worth(snapshot):
    (pool,) = snapshot.pools
    found = np.empty(len(pool.pages))
    found[pool.pages] = worth_of(pool.state)
    return found


def test_a_page_weighs_what_the_file_says_times_its_block(path):
    """Ten views of a page in a block of weight 3; the least in the file are 4."""
    made(path, rounds=2)
    settings = weighted(path, {PAGES[7]: 10.0, "https://other.org/": 4.0}, more="weight = 3\n")
    snapshot, rows = seen(settings, path)
    expected = np.full(60, 12.0)
    expected[7] = 30.0

    for weights in (snapshot.weight, rows.weight, worth(snapshot)):
        np.testing.assert_array_equal(weights, expected)
    assert snapshot.factors.named == 1
    with open_store(path) as reader:
        why = reasons(snapshot, reader, 7)
    assert (why.weight, why.weights) == (30.0, "views.csv")
    assert ("weight", "30") in [(each.change, each.was) for each in why.what_ifs]


@pytest.mark.parametrize("rounds", [2, 0], ids=["copied", "new"])
@pytest.mark.parametrize("saved", [True, False], ids=["saved", "not saved"])
def test_a_file_with_the_same_weight_for_all_is_a_block_with_that_weight(path, saved, rounds):
    """Bit for bit: what is believed, what pages weigh and when each is visited."""
    made(path, rounds=rounds)
    by_block = read_settings(settings_text() + "weight = 0.7\n")
    if saved:
        save(by_block, path, NOW)
    (one, one_rows), one_due = seen(by_block, path), due(by_block, path)
    by_file = weighted(path, dict.fromkeys(PAGES, 0.7))
    if saved:
        save(by_file, path, NOW)
    (other, other_rows), other_due = seen(by_file, path), due(by_file, path)

    np.testing.assert_array_equal(one_due, other_due)
    for name in one_rows.__slots__:
        np.testing.assert_array_equal(getattr(one_rows, name), getattr(other_rows, name))
    for mine, theirs in zip(one.pools, other.pools, strict=True):
        if mine.state is not None:
            np.testing.assert_array_equal(mine.state.worth, theirs.state.worth)


def test_heavier_pages_are_visited_sooner(path):
    made(path, rounds=2)
    plain = due(read_settings(settings_text()), path)
    heavy = due(weighted(path, {PAGES[9]: 1e6, PAGES[1]: 1.0}), path)

    assert heavy.argmin() == 9 != plain.argmin()


def test_who_opens_the_crawl_and_who_looks_have_the_same_weights(path):
    made(path, rounds=2)
    settings = weighted(path, {page: 1.0 + row for row, page in enumerate(PAGES)})
    crawl = opened(settings, path, NOW)

    np.testing.assert_array_equal(crawl.agenda.factors, seen(settings, path)[0].weight)
    assert crawl.named == 60
    assert worth_of(crawl.agenda.frontier(0).state).sum() == sum(range(1, 61))


def test_pages_that_come_are_looked_up(path):
    made(path, rounds=2)
    settings = weighted(path, {"https://a.org/new": 9.0, PAGES[0]: 2.0})
    crawl = opened(settings, path, NOW)
    crawl.take_in(["https://a.org/new", "https://a.org/newer"], np.zeros(2, int), np.zeros(2, int))

    assert crawl.agenda.factors.tolist() == [2.0] * 60 + [9.0, 2.0]
    assert crawl.named == 2


def test_what_was_saved_is_not_looked_up_again(path):
    """The file is read for pages that came since, and not at all without such pages."""
    made(path, rounds=2)
    save(weighted(path, {PAGES[3]: 5.0, PAGES[4]: 2.0}), path, NOW)
    settings = load_settings(path.with_name("recrawl.toml"))
    snapshot, _ = seen(settings, path)
    expected = [2.0] * 3 + [5.0] + [2.0] * 56

    assert snapshot.weight.tolist() == expected
    assert "_weights" not in vars(settings.weights_file)
    with open_for_writing(path) as store:
        store.write([PagesFound(["https://a.org/new"], ["a.org"], [0], BEGAN * DAY)])
    assert seen(settings, path)[0].weight.tolist() == [*expected, 2.0]
    assert "_weights" in vars(settings.weights_file)


def test_other_weights_move_the_schedule_and_nothing_that_was_learned(path):
    """Without learning all visits again: what our policy believes does not depend on weights."""
    made(path, rounds=2)
    save(weighted(path, {PAGES[3]: 5.0, PAGES[4]: 1.0}), path, NOW)
    before = seen(load_settings(path.with_name("recrawl.toml")), path)
    settings = weighted(path, {PAGES[3]: 1.0, PAGES[8]: 64.0})
    after = seen(settings, path)
    replayed: list[int] = []
    with open_for_writing(path) as store, open_store(path) as reader:
        crawl = open_crawl(
            *(settings, store, reader, NOW),
            random=np.random.default_rng(0),
            on_replay=replayed.append,
        )

    assert replayed == []
    assert worth(after[0])[[3, 4, 8]].tolist() == [1.0, 1.0, 64.0]
    np.testing.assert_array_equal(crawl.agenda.factors, worth(after[0]))
    for name in ("rate", "low", "high", "fresh", "visits", "changes"):
        np.testing.assert_array_equal(getattr(before[1], name), getattr(after[1], name))
    assert due(settings, path).argmin() == 8


def test_a_crawl_that_dies_before_it_saves_begins_with_the_file_as_it_is(path):
    made(path, rounds=2)
    save(weighted(path, {PAGES[3]: 5.0}), path, NOW)
    opened(weighted(path, {PAGES[4]: 9.0}), path, NOW)  # and dies: nothing is saved
    settings = weighted(path, {PAGES[5]: 7.0, PAGES[6]: 2.0})
    crawl = opened(settings, path, NOW)

    assert crawl.agenda.factors[[3, 4, 5, 6]].tolist() == [2.0, 2.0, 7.0, 2.0]
    with open_store(path) as reader:
        assert reader.last_visit() == 120


def test_a_file_that_comes_or_goes_changes_weights_alone(path):
    settings = made(path, rounds=2)
    save(settings, path, NOW)

    assert set(worth(seen(weighted(path, {PAGES[0]: 3.0}), path)[0]).tolist()) == {3.0}
    save(weighted(path, {PAGES[0]: 3.0}), path, NOW)
    assert set(worth(seen(settings, path)[0]).tolist()) == {1.0}


def test_a_policy_that_divides_by_weight_learns_again(path):
    """What `lambdacrawl` knows has weights in it."""
    made(path, rounds=2)
    save(weighted(path, {PAGES[3]: 5.0}, policy="lambdacrawl"), path, NOW)
    settings = weighted(path, {PAGES[4]: 9.0, PAGES[0]: 1.0}, policy="lambdacrawl")
    with open_store(path) as reader:
        (pool,) = load_snapshot(settings, reader, NOW).pools

    found = np.empty(60)
    found[pool.pages] = pool.learned.weight
    assert found[[3, 4]].tolist() == [1.0, 9.0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"weights.factors": np.full(60, -1.0)},
        {"weights.factors": np.full(60, np.nan)},
        {"weights.factors": np.ones(61)},
        {"weights.factors": np.ones(60, np.int64)},
        {"weights.factors": "many"},
        {"weights.named": 61},
        {"weights.named": "all"},
    ],
    ids=str,
)
def test_what_somebody_made_up_in_a_checkpoint_is_looked_up_again(path, wrong):
    made(path, rounds=2)
    settings = weighted(path, {PAGES[3]: 5.0, PAGES[0]: 2.0})
    parts = {**opened(settings, path, NOW).dump(), **wrong}
    with open_store(path) as reader:
        factors = all_factors(settings, reader, parts, 60)

    assert factors.factor.tolist() == [2.0] * 3 + [5.0] + [2.0] * 56
    assert factors.named == 2


def test_the_share_that_is_fresh_is_also_told_by_weight(path):
    """All weight on one page: its own chance to be fresh."""
    settings = made(path, rounds=2)
    assert np.isnan(overview_of(settings, path, NOW).fresh_by_weight)

    settings = weighted(path, {PAGES[3]: 1e15, PAGES[4]: 1e-15})
    status, (_, rows) = overview_of(settings, path, NOW), seen(settings, path)
    assert status.fresh_by_weight == pytest.approx(rows.fresh[3], rel=1e-9)
    assert status.fresh[0] == pytest.approx(rows.fresh.mean(), rel=1e-9)


def test_settings_whose_place_is_unknown_are_refused(path):
    settings = replace(made(path, rounds=2), weights="views.csv")

    with pytest.raises(InvalidSettings, match=r"weights names views\.csv, but it is not known"):
        look_up(settings, PAGES)


def test_weights_that_no_number_can_hold_are_refused(path):
    settings = weighted(path, {PAGES[0]: 1e15}, more="weight = 1e300\n")

    with pytest.raises(InvalidSettings, match=r"weight times the weights in .*views\.csv must be"):
        check_weights(settings)


def test_a_file_that_is_missing_is_said_when_weights_are_asked_for(path):
    made(path, rounds=2)
    settings = weighted(path, {PAGES[0]: 1.0})
    path.with_name("views.csv").unlink()

    with pytest.raises(InvalidTable, match=r"views\.csv: cannot be read"):
        seen(settings, path)
