"""Clocks of sections: the figures of the reference, plain sums, and bins that come and go."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.policies.recrawl.clocks import BINS, Clocks, Trusting
from recrawl.policies.recrawl.sections import Sections

WIDTH, SCALE, NOW = 1.0, 2.0, 20.0  # a gap of 16
ROOT, ONE, TWO = (np.array([node]) for node in range(3))


def tree():
    """The crawl and two folders."""
    sections = Sections()
    sections.grow(["1/a", "1/b", "2/c", "2/d"])
    return sections


SECTIONS = tree()


def clocks(trusting=None, now=NOW, width=WIDTH, scale=SCALE):
    made = Clocks.start(width, scale, trusting or Trusting(), now)
    made.grow(3)
    read(made)
    return made


def read(these, trust=1.0):
    these.read(SECTIONS, SECTIONS.levels, np.full(3, trust))


def visit(these, leaf, last, now, chance, changed, *, trust=1.0):
    """Learn from one visit as the policy does."""
    spread = these.overlaps(np.array([last]), np.array([now]))
    spread /= these.elapsed(leaf, np.array([last]), np.array([now]))
    counts = np.array([changed * spread * these.pace(leaf), chance * spread])
    these.learn(SECTIONS, leaf, counts)
    read(these, trust)


def elapsed(these, leaf, last, now):
    return float(these.elapsed(leaf, np.array([last]), float(now))[0])


def bins(these, node, first, last):
    """Paces of a node in some bins, by their numbers."""
    ahead = BINS - 1 - these.newest
    return these.pace(node)[0, first + ahead : last + 1 + ahead]


def doubly_summed(counts, kept):
    """Sum over b' of kept^|b - b'| times the count of b', as it is written."""
    return [sum(kept ** abs(b - o) * n for o, n in enumerate(counts)) for b in range(len(counts))]


def test_a_quiet_clock_is_a_clock():
    """Vector 1."""
    assert elapsed(clocks(), ONE, 10, 20) == 10


def test_a_change_quickens_the_time_in_which_it_must_have_happened():
    """Vector 2: folder 1, seen at 12 and 20, changed, p = .3."""
    these = clocks()
    visit(these, ONE, 12.0, 20.0, 0.3, True)
    root = "1.008004 1.013166 1.021628 1.026568 1.029285 1.030488 1.030488 1.029285 1.026568"
    one = "1.289403 1.442390 1.651166 1.754105 1.805861 1.827775 1.827775 1.805861 1.754105"

    assert bins(these, ROOT, 10, 18) == pytest.approx([*map(float, root.split())], abs=1e-6)
    assert bins(these, ROOT, 19, 20) == pytest.approx([1.021628, 1.013166], abs=1e-6)
    assert bins(these, ONE, 10, 18) == pytest.approx([*map(float, one.split())], abs=1e-6)
    assert bins(these, ONE, 19, 20) == pytest.approx([1.651166, 1.442390], abs=1e-6)
    assert elapsed(these, ONE, 10, 20) == pytest.approx(16.809605, abs=1e-6)
    assert elapsed(these, ONE, 5, 20) == pytest.approx(22.250963, abs=1e-6)
    assert elapsed(these, ONE, 19, 20) == pytest.approx(1.651166, abs=1e-6)
    read(these, trust=0.0)
    assert elapsed(these, ONE, 10, 20) == pytest.approx(10.354996, abs=1e-6)


def test_an_unchanged_page_slows_the_time_since_it_was_seen():
    """Vector 3: then a page of folder 1 seen at 18 and 20, unchanged, p = .1."""
    these = clocks()
    visit(these, ONE, 12.0, 20.0, 0.3, True)
    visit(these, ONE, 18.0, 20.0, 0.1, False)

    assert bins(these, ONE, 18, 20) == pytest.approx([1.550525, 1.448763, 1.317175], abs=1e-6)
    assert elapsed(these, ONE, 10, 20) == pytest.approx(16.073051, abs=1e-6)


def test_a_burst_fades_as_bins_go_by():
    """Vector 4: four bins later."""
    these = clocks()
    visit(these, ONE, 12.0, 20.0, 0.3, True)
    visit(these, ONE, 18.0, 20.0, 0.1, False)
    assert these.advance(24.5)
    read(these)
    one = "1.550525 1.448763 1.317175 1.213805 1.139074 1.088229 1.055048"

    assert bins(these, ONE, 18, 24) == pytest.approx([*map(float, one.split())], abs=1e-6)
    assert elapsed(these, ONE, 10, 24.5) == pytest.approx(21.358859, abs=1e-6)
    assert elapsed(these, TWO, 10, 24.5) == pytest.approx(14.743721, abs=1e-6)


amounts = st.lists(st.floats(0, 5), min_size=BINS, max_size=BINS).map(np.array)
# Gaps of visits: when they begin and how long they are, in eighths of days.
gaps = st.tuples(st.integers(-50 * 8, 20 * 8 - 1), st.integers(1, 70 * 8)).map(
    lambda gap: (gap[0] / 8, min((gap[0] + gap[1]) / 8, NOW + 7 / 8))
)
visits = st.lists(st.tuples(st.sampled_from([0, 1, 2]), gaps, st.booleans()), max_size=6)


def busy(seen, trusting=None):
    these = clocks(trusting)
    for node, (last, now), changed in seen:
        visit(these, np.array([node]), last, now, 0.4, changed, trust=0.6)
    return these


@given(amounts, amounts, st.floats(0.01, 10))
def test_counts_are_smoothed_on_both_sides(found, expected, scale):
    """Found by doubling how far sums reach; here it is the double sum."""
    these = clocks(scale=scale)
    these.learn(SECTIONS, ONE, np.array([[found], [expected]]))

    for node in (ROOT[0], ONE[0]):
        np.testing.assert_allclose(
            these.found[node], doubly_summed(found, these.kept), rtol=1e-12, atol=1e-290
        )
        np.testing.assert_allclose(
            these.expected[node], doubly_summed(expected, these.kept), rtol=1e-12, atol=1e-290
        )
    assert not these.found[2].any()


@given(st.lists(st.tuples(st.sampled_from([0, 1, 2]), amounts, amounts), max_size=6))
def test_learning_at_once_is_learning_one_by_one(rows):
    """While paces are held: counts are sums."""
    together, apart = clocks(), clocks()
    nodes = np.array([node for node, _, _ in rows], np.int64)
    found = np.array([some for _, some, _ in rows]).reshape(-1, BINS)
    expected = np.array([some for _, _, some in rows]).reshape(-1, BINS)
    together.learn(SECTIONS, nodes, np.array([found, expected]))
    for row in range(len(rows)):
        apart.learn(SECTIONS, nodes[[row]], np.array([found[[row]], expected[[row]]]))

    np.testing.assert_allclose(together.found, apart.found, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(together.expected, apart.expected, rtol=1e-12, atol=1e-12)


@given(visits, gaps, st.sampled_from([0, 1, 2]))
def test_found_and_expected_balance(seen, gap, node):
    """Within the ring, the shares of a change add up to 1 and pace times expectation to p."""
    these, leaf = busy(seen), np.array([node])
    last, now = np.maximum(np.array(gap)[:, None], [[these.oldest], [these.oldest + 1]])
    spread = these.overlaps(last, now) / these.elapsed(leaf, last, now)[:, None]

    assert (spread * these.pace(leaf)).sum() == pytest.approx(1, rel=1e-9)
    assert (these.pace(leaf) * (0.3 * spread)).sum() == pytest.approx(0.3, rel=1e-9)


@given(st.lists(st.tuples(st.sampled_from([0, 1, 2]), gaps, st.just(False)), max_size=6))
def test_where_nothing_changes_time_never_runs_fast(seen):
    these = busy(seen)

    assert (these.near <= 1).all()
    assert (these.far <= 1).all()


@given(visits)
def test_a_far_clock_of_infinite_strength_is_the_crawls(seen):
    """With no trust in the near clock only the crawl's own counts are left."""
    these = busy(seen, Trusting(far=np.inf))
    read(these, trust=0.0)

    np.testing.assert_allclose(
        these.pace(np.array([1, 2])), these.pace(np.array([0, 0])), rtol=1e-12
    )


@given(visits)
def test_clocks_of_infinite_strength_are_plain_clocks(seen):
    these = busy(seen, Trusting(np.inf, np.inf, np.inf))

    assert (these.pace(np.arange(3)) == 1).all()


@pytest.mark.parametrize("count", [1, 5, 63, 64, 1000])
@given(seen=visits)
def test_new_bins_know_what_the_kernel_leaves(count, seen):
    """Old bins keep what they know, a new one k bins on has kept^k of the newest's counts."""
    these = busy(seen)
    before = [these.found.copy(), these.expected.copy()]
    assert these.advance(NOW + count)

    assert these.newest == NOW + count
    kept = max(BINS - count, 0)
    for now, then in zip((these.found, these.expected), before, strict=True):
        np.testing.assert_array_equal(now[:, :kept], then[:, BINS - kept :])
        left = then[:, -1:] * these.kept ** np.arange(count - (BINS - kept) + 1.0, count + 1)
        np.testing.assert_allclose(now[:, kept:], left, rtol=1e-12, atol=1e-200)


@given(visits, st.lists(st.integers(1, 40), max_size=5))
def test_time_may_pass_in_any_steps(seen, steps):
    """Bin by bin or all at once."""
    slowly, at_once = busy(seen), busy(seen)
    for step in steps:
        slowly.advance(slowly.newest + step)
    at_once.advance(NOW + sum(steps))

    np.testing.assert_allclose(slowly.found, at_once.found, rtol=1e-12, atol=1e-200)


def test_the_same_bin_does_not_begin_twice():
    these = clocks()

    assert not these.advance(20.99)
    assert not these.advance(3.0)
    assert these.advance(21.0)


@given(visits, st.lists(st.floats(-100, 40), min_size=3, max_size=3).map(sorted))
def test_time_on_a_clock_adds_up_and_never_runs_backwards(seen, times):
    """In the ring, before it and after it."""
    these = busy(seen)
    first, middle, last = times
    for node in (ROOT, ONE, TWO):
        parts = elapsed(these, node, first, middle), elapsed(these, node, middle, last)

        assert min(parts) >= 0
        assert sum(parts) == pytest.approx(elapsed(these, node, first, last), rel=1e-9, abs=1e-9)


@given(visits, st.integers(-4000, 20 * 8).map(lambda eighths: eighths / 8))
def test_time_on_a_clock_is_the_sum_over_bins(seen, last):
    """Pace times overlap; a day before the ring is a day."""
    these = busy(seen)
    overlap = these.overlaps(np.array([last]), np.array([NOW]))[0]
    before = max(these.oldest - last, 0.0)

    assert overlap.sum() + before == pytest.approx(NOW - last)
    for node in (ROOT, ONE, TWO):
        expected = before + (overlap * these.pace(node)).sum()
        assert elapsed(these, node, last, NOW) == pytest.approx(expected, rel=1e-12)
        # One instant for all and an instant each are read in different ways.
        each = these.elapsed(node, np.array([last]), np.array([NOW]))
        assert each == pytest.approx([expected], rel=1e-12)


@given(st.lists(st.integers(-43 * 8, 21 * 8 - 1), min_size=1, max_size=5))
def test_an_instant_is_in_one_bin(eighths):
    instants = np.array(eighths) / 8
    held = clocks().holds(instants)

    assert held.sum(axis=1).tolist() == [1] * len(eighths)
    np.testing.assert_array_equal(np.argmax(held, axis=1), np.floor(instants) + 43)


def test_an_instant_before_the_ring_is_in_no_bin():
    assert not clocks().holds(np.array([-43.01, -1e4])).any()


@given(visits, st.integers(1, 400))
def test_a_shift_by_whole_bins_changes_nothing(seen, shift):
    """Times count from 1970 only to number the bins."""
    plain, late = clocks(), clocks(now=NOW + shift)
    for node, (last, now), changed in seen:
        visit(plain, np.array([node]), last, now, 0.4, changed)
        visit(late, np.array([node]), last + shift, now + shift, 0.4, changed)

    np.testing.assert_allclose(late.pace(np.arange(3)), plain.pace(np.arange(3)), rtol=1e-9)


@given(visits, st.floats(0.4, 2.5))
def test_bins_of_another_width_know_what_was_known(seen, ratio):
    """Same kernel: what is known of a time was known of a time at most two bins away."""
    these = busy(seen)
    before, start, width = these.found[1].copy(), these.oldest, these.width
    these.rebin(WIDTH * ratio, SCALE)

    middles = these.oldest + (np.arange(BINS) + 0.5) * these.width
    place = (middles - start) / width
    inside = (place > 1) & (place < BINS - 1)
    near = np.floor(place[inside]).astype(np.int64)[:, None] + np.arange(-2, 3)
    near = np.clip(near, 0, BINS - 1)
    found = these.found[1, inside]
    assert (found <= before[near].max(axis=1) * (1 + 1e-12)).all()
    assert (found >= before[near].min(axis=1) * (1 - 1e-12)).all()
    assert not these.found[1, place < -1 - ratio].any()


@given(visits, st.floats(0.5, 2.0))
def test_another_gap_leaves_the_sum_of_what_was_found(seen, ratio):
    """Kernel and bins stretch alike. What happened shortly before is in the ring before and after.

    A smoothed count in every bin adds up to count * (1 + s) / (1 - s), the same at both gaps.
    """
    these = clocks()
    for node, (last, _), changed in seen:
        visit(these, np.array([node]), max(last, 0.0) % 8 + 2, 12.0, 0.4, changed)
    before = these.found.sum(axis=1)
    these.rebin(WIDTH * ratio, SCALE * ratio)

    np.testing.assert_allclose(these.found.sum(axis=1), before, rtol=0.25, atol=1e-9)


@pytest.mark.parametrize("ratio", [100.0, 10_000.0])
def test_a_gap_that_grows_a_lot_makes_nothing_of_one_change(ratio):
    """A crawl that begins with a few pages and finds thousands: one change stays one change."""
    these = clocks()
    visit(these, ONE, 12.0, 20.0, 0.3, True)
    before = these.found.sum(axis=1)
    these.rebin(WIDTH * ratio, SCALE * ratio)

    assert (these.found.sum(axis=1) <= 1.5 * before).all()


def test_the_same_width_changes_nothing():
    these = busy([(1, (3.0, 20.0), True)])
    before = these.found.copy()
    these.rebin(WIDTH, SCALE)

    assert these.newest == NOW
    np.testing.assert_allclose(these.found, before, rtol=1e-12, atol=1e-12)


def test_new_nodes_know_nothing_and_old_ones_keep_what_they_know():
    these = busy([(1, (3.0, 20.0), True)])
    before = these.found.copy()
    these.grow(200)

    np.testing.assert_array_equal(these.found[:3], before[:3])
    assert not these.found[3:].any()
    assert len(these.near) == len(these.sums) >= 200
    these.grow(100)
    assert len(these.near) >= 200
