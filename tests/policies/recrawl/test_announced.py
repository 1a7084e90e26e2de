"""Changes that hosts announce: both streams by hand, and over many made histories."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.plan.signals import Signals
from recrawl.policies.pages import Outcomes, Pages
from recrawl.policies.recrawl.announced import NAMES, Announced, Streams
from recrawl.policies.recrawl.checkpoint import dump, load
from recrawl.policies.recrawl.memories import Memories
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.units import epoch_days, instants_after_epoch

START = np.datetime64("2026-01-01T00:00", "us")


def instant(days):
    return instants_after_epoch(np.array([float(epoch_days(START)) + days]))[0]


def one_page(recall, alarms, count):
    page = Announced.start()
    page.grow(1)
    page.count[:], page.recall[:], page.false_alarms[:] = count, recall, alarms
    return page


def crawl_of(pages=20, gap=10.0):
    policy = Recrawl()
    found = Pages.of([f"site/{page}" for page in range(pages)], np.full(pages, START))
    return policy, policy.start(found, START, gap)


def test_silence_of_a_host_that_tells_leaves_less_doubt():
    page = one_page(0.75, 0.01, 0.0)
    states = np.array([[2.0]]), np.array([[10.0]])

    (days,) = page.effective(np.array([0]), states, np.array([8.0]), np.array([1.0]))

    assert days == pytest.approx([0.25 * 8 + 1])


def test_a_sure_rate_gives_the_chance_of_the_signal_model():
    """With a rate that is known the mixture is `recrawl.plan.signals`."""
    rate, recall, alarms = 0.5, 0.6, 0.15
    model = Signals(np.array([recall]), np.array([alarms]))
    states = np.array([[1e8]]), np.array([[1e8 / rate]])
    for count in (0, 1, 2):
        page = one_page(recall, alarms, float(count))
        days = page.effective(np.array([0]), states, np.array([3.0]), np.array([0.0]))

        fresh = np.exp(-states[0] * np.log1p(days / states[1]))

        expected = model.fresh(np.array([rate]), np.array([3.0]), np.array([count]))
        assert fresh[0] == pytest.approx(expected, rel=1e-4)


def test_a_page_that_is_announced_is_worth_most_and_one_that_is_not_less_than_before():
    policy, state = crawl_of()
    now = instant(5.0)
    rows = np.arange(20)
    before = policy.value(state, rows, now)
    word = np.full(20, 0.8), np.full(20, 0.01)
    state = policy.announced(state, rows, (rows == 7).astype(float), word, now)

    after = policy.value(state, rows, now)

    assert after.argmax() == 7
    assert after[7] > before[7]
    assert (after[rows != 7] < before[rows != 7]).all()
    fresh = policy.fresh(state, rows, now)
    assert fresh.argmin() == 7


def test_announcements_that_are_never_right_move_nothing():
    policy, state = crawl_of()
    now = instant(5.0)
    rows = np.arange(20)
    before = policy.value(state, rows, now)
    word = np.full(20, 0.0), np.full(20, 0.5)
    state = policy.announced(state, rows, np.ones(20), word, now)

    assert (policy.value(state, rows, now) == before).all()


def test_a_visit_ends_an_announcement():
    policy, state = crawl_of()
    word = np.full(1, 0.9), np.full(1, 0.01)
    state = policy.announced(state, np.array([3]), np.ones(1), word, instant(5.0))
    changed = Outcomes.existence(np.array([True]))
    state = policy.seen(state, np.array([3]), np.array([instant(6.0)]), changed)

    assert state.announced.count[3] == 0
    assert state.announced.recall[3] == 0.9


def test_it_is_known_whether_anything_is_announced():
    """Where nothing is, nothing has to be worked out."""
    pages, one = Announced.start(), np.ones(1)
    pages.grow(3)
    known = [pages.any]
    pages.hint(np.array([1]), 0.9 * one)
    for row in (0, 1):
        pages.forget(np.array([row]))
        known.append(pages.any)
    for recall in (0.5, 0.0):
        pages.believe(np.array([2]), recall * one, 0.0 * one)
        pages.forget(np.array([2]))
        known.append(pages.any)

    assert known == [False, True, False, True, False]


def test_what_is_announced_is_kept():
    policy, state = crawl_of()
    word = np.full(1, 0.9), np.full(1, 0.01)
    state = policy.announced(state, np.array([3]), np.ones(1), word, instant(5.0))
    addresses = [f"site/{page}" for page in range(20)]

    again = load(policy, dump(state), lambda: addresses)

    rows, now = np.arange(20), instant(6.0)
    assert policy.value(again, rows, now) == pytest.approx(policy.value(state, rows, now))
    nothing = dump(crawl_of()[1])
    assert not any(name.startswith("announced") for name in nothing)
    assert not load(policy, nothing, lambda: addresses).announced.any


def test_silence_of_before_a_host_was_believed_is_learnt_when_it_is():
    """Four silent days that counted for nothing, and one more, count for three quarters, once."""
    policy, state = crawl_of()
    rows = np.arange(20)
    none, some = (np.full(20, recall) for recall in (0.0, 0.75))
    before = state.memories.exposure.copy()
    state = policy.announced(state, rows, np.zeros(20), (none, none), instant(4.0))
    assert (state.memories.exposure == before).all()

    for _ in range(2):
        state = policy.announced(state, rows, np.zeros(20), (some, none), instant(5.0))
        assert state.memories.exposure - before == pytest.approx(0.75 * 5.0)

    now = np.full(20, instant(6.0))
    policy.value(state, rows, now[0])  # the clocks run on until then
    leaf, last = state.sections.leaf[rows], state.last[rows]
    asked = np.full(20, float(epoch_days(instant(5.0))))
    silent = state.clocks.elapsed(leaf, last, asked)
    since = state.clocks.elapsed(leaf, asked, epoch_days(now))
    state = policy.seen(state, rows, now, Outcomes.existence(np.zeros(20, bool)))
    # By the memory that forgets nothing. The clock has slowed since, and is read as it is now.
    exposure = (state.memories.exposure - before)[0]
    assert exposure == pytest.approx(0.75 * 5.0 + 0.25 * silent + since, rel=1e-6)
    assert not state.announced.learned.any()
    assert not state.announced.silent.any()


def test_a_change_lies_in_the_days_in_which_it_was_announced():
    """Silent for three days, announced on the fourth, visited on the seventh."""
    _, state = crawl_of()
    told = state.announced
    told.recall[0], told.silent[0], told.learned[0], told.span[0] = 0.5, 3.0, 1.5, 1.0
    told.count[0] = 1.0

    streams = told.streams(np.array([0]), np.array([6.0]), np.array([1.0]), np.array([True]))

    assert streams.was_announced.all()
    assert streams.gaps == pytest.approx([0.5])
    assert streams.unannounced == pytest.approx([1.0 + 6.0 - 1.5])
    assert streams.doubted == pytest.approx([0.5 * 6.0 + 1.0])
    assert np.isnan(streams.ages(np.array([2.0]), np.array([7.0]))).all()


def test_days_since_an_unannounced_change_count_in_full_after_the_host_was_asked():
    """Five of ten days were asked about, at a recall of 0.6: before that days count for 0.4."""
    streams = Streams(
        was_announced=np.zeros(2, bool),
        announced=np.zeros(2),
        unannounced=np.full(2, 5.0 + 0.4 * 5.0),
        since=np.full(2, 5.0),
        doubted=np.full(2, 7.0),
    )

    assert streams.ages(np.array([3.0, 8.0]), np.full(2, 10.0)) == pytest.approx([3.0, 6.2])


def test_only_gaps_without_an_announced_change_are_watched():
    """Three pages of a host that was asked: announced and changed, announced in vain, silent."""
    policy, state = crawl_of()
    rows = np.arange(3)
    word = np.full(3, 0.5), np.zeros(3)
    state = policy.announced(state, rows, np.array([1.0, 1.0, 0.0]), word, instant(8.0))
    changed = Outcomes.existence(np.array([True, False, True]))
    state = policy.seen(state, rows, np.full(3, instant(8.0)), changed)

    awaited = policy.unannounced_changes(state, np.arange(4))

    assert awaited[0] == awaited[3] == 0  # the last was never visited
    assert (awaited[1:3] > 0.1).all()


def test_days_are_watched_as_far_as_one_change_would_be_met():
    """At 0.3 unannounced changes a day a visit after ten days meets one with chance 1 - e^-3."""
    page = one_page(0.4, 0.0, 0.0)
    page.asked[:] = 5.0

    page.watch(np.array([0]), np.array([10.0]), np.array([0.5]), np.array([True]))

    assert 0.6 * 0.5 * page.watched == pytest.approx(1 - np.exp(-3.0))


def test_a_visit_that_was_made_before_its_host_was_last_asked_leaves_all_rates_finite():
    """Silence slows the clock, so more days may have been learned than it shows at the visit."""
    policy, state = crawl_of(pages=20, gap=4.0)
    rows, word = np.arange(20), (np.full(20, 0.95), np.full(20, 0.01))
    for day in range(1, 31):
        state = policy.announced(state, rows, np.zeros(20), word, instant(day))
    changed = Outcomes.existence(np.array([True]))
    state = policy.seen(state, rows[:1], np.array([instant(30 - 1e-4)]), changed)

    assert np.isfinite(policy.rates(state, rows)).all()
    assert np.isfinite(policy.value(state, rows, instant(31.0))).all()
    assert policy.rates(state, rows[:1]) > policy.rates(state, rows[1:2])


def test_silence_is_taken_back_where_a_host_is_believed_less():
    policy, state = crawl_of()
    rows, none = np.arange(20), np.zeros(20)
    before = state.memories.exposure.copy()
    for recall in (0.9, 0.2):
        state = policy.announced(state, rows, none, (np.full(20, recall), none), instant(5.0))

        # A host that is asked twice at one instant says nothing new.
        assert state.memories.exposure - before == pytest.approx(0.9 * 5.0)
    state = policy.announced(state, rows, none, (np.full(20, 0.2), none), instant(5.001))

    assert state.memories.exposure - before == pytest.approx(0.2 * 5.0, rel=0.05)


def test_announcements_of_a_host_that_is_not_believed_yet_are_kept():
    policy, state = crawl_of()
    none = np.zeros(2)
    state = policy.announced(
        state, np.array([3, 4]), np.array([1.0, 0.0]), (none, none), instant(5.0)
    )
    for name in ("learned", "watched"):
        getattr(state.announced, name)[:] = np.arange(20.0)

    again = load(policy, dump(state), lambda: [f"site/{page}" for page in range(20)])

    for name in NAMES:
        assert (getattr(again.announced, name) == getattr(state.announced, name)).all()
    assert again.announced.count[3] == 1
    assert again.announced.span[3] == again.announced.silent[4] > 0


def test_a_store_that_knows_less_of_announcements_begins_anew_with_them():
    policy, state = crawl_of()
    some = np.ones(20)
    state = policy.announced(state, np.arange(20), some, (some, some), instant(5.0))
    parts = {name: part for name, part in dump(state).items() if name != "announced.span"}

    again = load(policy, parts, lambda: [f"site/{page}" for page in range(20)])

    assert not again.announced.any


@pytest.mark.parametrize("recall", [0.0, 0.5, 0.9])
def test_rates_come_out_right_though_visits_follow_announcements(recall):
    """A host is asked every day; a page is visited once it is announced, else after ten days.

    Read as if visits came by chance, every gap that ends with its change would count too much.
    """
    rate, longest, pages, gaps = 0.2, 10.0, 500, 60
    random = np.random.default_rng(11)
    memories = Memories.start((1.0,))
    memories.grow(np.zeros(pages, np.int64))
    prior = 0.5, np.full(pages, 2.5)
    rows = np.arange(pages)
    for _ in range(gaps):
        waits = [
            random.exponential(1 / (rate * share), pages) if share else np.full(pages, np.inf)
            for share in (recall, 1 - recall)
        ]
        elapsed = np.minimum(np.ceil(waits[0]), longest)
        told = waits[0] < elapsed
        changed = told | (waits[1] < elapsed)
        # Asked every day, and nothing was announced until the last, or not even then.
        silent = elapsed - told
        memories.stayed(rows, recall * silent)
        streams = Streams(
            was_announced=told,
            announced=np.full(pages, recall),
            unannounced=elapsed - recall * silent,
            since=np.zeros(pages),
            doubted=(1 - recall) * elapsed,
        )
        memories.learn(rows, 0 * rows, prior, streams, Outcomes.existence(changed))

    rates = memories.rates(rows, prior)

    assert np.mean(rates) == pytest.approx(rate, rel=0.05)
