"""Consistent windows: hand-cut ones, a slow reference after the papers, and what always holds."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.errors import InvalidParameter
from recrawl.trends.windows import LEAST_POINTS, READINGS, State, Windowing, consistent_windows
from tests.trends.made import bernoulli_days, points_at_days

Cut = tuple[int, State]  # points and state of a window

MIRRORED = {
    State.CONSTANT: State.CONSTANT,
    State.INCREASING: State.DECREASING,
    State.DECREASING: State.INCREASING,
    State.SHORT: State.SHORT,
}


def slow_state(first: float, second: float) -> State:
    """Names say what the rate does, not what the gaps do."""
    if second == first:
        return State.CONSTANT
    return State.INCREASING if second < first else State.DECREASING


def slow_discrepancy(state: State, inner: list[float], gap: float, envelope: bool) -> float:
    """How far a gap is from what the gaps inside the window so far ask of it."""
    if state == State.CONSTANT:
        return abs(gap - (inner[0] if envelope else inner[-1]))
    if state == State.INCREASING:
        return max(0, gap - (min(inner) if envelope else inner[-1]))
    return max(0, (max(inner) if envelope else inner[-1]) - gap)


def slow_fits(discrepancies: list[float], windowing: Windowing) -> bool:
    """Whether a window may hold points that disagree so much; the last is the newest."""
    odd = [one for one in discrepancies if one > 0]
    if not discrepancies[-1]:
        return True
    if windowing.reading == "count":
        return len(odd) <= windowing.threshold
    if windowing.reading in ("point", "envelope"):
        return odd[-1] < windowing.threshold
    return sum(odd) < windowing.threshold


def slow_forward(gaps: list[float], windowing: Windowing) -> list[Cut]:
    """Windows before merging: three points, then as long as it goes."""
    cuts: list[Cut] = []
    begin = 0
    while begin < len(gaps):
        end = min(begin + 3, len(gaps))
        inner = gaps[begin + 1 : end]
        state = slow_state(*inner) if len(inner) == 2 else State.SHORT
        discrepancies: list[float] = []
        while end < len(gaps):
            envelope = windowing.reading == "envelope"
            odd = slow_discrepancy(state, gaps[begin + 1 : end], gaps[end], envelope)
            discrepancies.append(odd)
            if not slow_fits(discrepancies, windowing):
                break
            end += 1
        cuts.append((end - begin, state))
        begin = end
    return cuts


def slow_cut(gaps: list[float], windowing: Windowing) -> list[Cut]:
    """Backward is forward in a mirror, where what grew shrinks."""
    if not windowing.backward:
        return slow_forward(gaps, windowing)
    mirrored = slow_forward([1.0, *reversed(gaps[1:])] if gaps else [], windowing)
    return [(count, MIRRORED[state]) for count, state in reversed(mirrored)]


def slow_merge(cuts: list[Cut]) -> list[Cut]:
    """Windows of fewer than four points go half to the left, the rest to the right."""
    waiting, kept = list(cuts), list[Cut]()
    while waiting:
        count, state = waiting.pop(0)
        if count >= LEAST_POINTS or not (kept or waiting):
            kept.append((count, state))
            continue
        to_left = 0 if not kept else count // 2 if waiting else count
        if kept:
            kept[-1] = (kept[-1][0] + to_left, kept[-1][1])
        if waiting:
            waiting[0] = (waiting[0][0] + count - to_left, waiting[0][1])
    return kept


def slow_windows(gaps: list[float], windowing: Windowing) -> list[Cut]:
    return slow_merge(slow_cut(gaps, windowing))


def found(gaps: list[float], windowing: Windowing | None = None) -> list[Cut]:
    windows = consistent_windows(points_at_days(list(itertools.accumulate(gaps))), windowing)
    return list(zip(windows.points.tolist(), map(State, windows.state.tolist()), strict=True))


whole_gaps = st.integers(0, 30).flatmap(
    lambda count: st.lists(st.integers(1, 4).map(float), min_size=count, max_size=count)
)
windowings = st.builds(
    Windowing,
    threshold=st.sampled_from([0.0, 1.0, 2.0, 3.0, 5.0, math.inf]),
    reading=st.sampled_from(["count", "point", "budget", "envelope"]),
    backward=st.booleans(),
)


@pytest.mark.parametrize(
    ("gaps", "state"),
    [
        ([9, 2, 2, 2, 2], State.CONSTANT),
        ([1, 5, 4, 3, 3], State.INCREASING),
        ([9, 1, 2, 2, 3], State.DECREASING),
    ],
)
def test_the_two_inner_gaps_of_the_first_three_points_say_the_state(gaps, state):
    """The gap before the window's first point has no say; an equal gap fits both ways."""
    assert found(gaps, Windowing(0, "count")) == [(5, state)]


def test_gaps_equal_but_for_rounding_are_constant():
    """0.1 + 0.2 is not 0.3, but the gaps are a tenth of a day."""
    assert found([0.1] * 30, Windowing(0, "count")) == [(30, State.CONSTANT)]


def test_gaps_within_the_tie_are_equal():
    gaps = [1.0, 1.0, 1.1, 1.0, 1.05]

    assert found(gaps, Windowing(0, "count", tie=0.2)) == [(5, State.CONSTANT)]
    assert found(gaps, Windowing(9, "count")) == [(5, State.DECREASING)]


def test_a_point_that_fails_begins_the_next_window():
    """Four gaps of a day; the fifth is longer and its point belongs to what follows."""
    gaps = [1.0, 1, 1, 1, 2, 3, 4, 5]

    assert found(gaps, Windowing(0, "count")) == [(4, State.CONSTANT), (4, State.DECREASING)]


def test_count_allows_so_many_points_that_disagree():
    """A gap of 2 among ones disagrees twice: on the way up and on the way down."""
    gaps = [1.0, 1, 1, 1, 2, 1, 1, 1, 1]

    assert found(gaps, Windowing(2, "count")) == [(9, State.CONSTANT)]
    assert found(gaps, Windowing(1, "count")) == [(5, State.CONSTANT), (4, State.CONSTANT)]


def test_point_limits_each_disagreement_in_days():
    """A jump by 2 days is not below 2, but below 2.5; any number of them may come."""
    gaps = [1.0, 1, 1, 1, 3, 1, 1, 1]

    assert found(gaps, Windowing(2.5, "point")) == [(8, State.CONSTANT)]
    assert found(gaps, Windowing(2.0, "point")) == [(4, State.CONSTANT), (4, State.CONSTANT)]


def test_budget_limits_them_together():
    """Jumps by 2, 2, 2 and 2 days: the third makes 6."""
    gaps = [1.0, 1, 1, 1, 3, 1, 3, 1, 3, 1, 3]

    assert found(gaps, Windowing(6.0, "budget"))[0] == (6, State.CONSTANT)
    assert found(gaps, Windowing(6.5, "budget"))[0] == (7, State.CONSTANT)
    assert found(gaps, Windowing(99, "budget")) == [(11, State.CONSTANT)]


def test_an_envelope_keeps_a_window_from_drifting():
    """Half a day longer each time is never much, but in the end 3 days."""
    gaps = [1.0, 1, 1, 1.5, 2, 2.5, 3, 3.5, 4]

    assert found(gaps, Windowing(1.0, "point")) == [(9, State.CONSTANT)]
    drifting = found(gaps, Windowing(1.0, "envelope"))
    assert drifting == [(4, State.CONSTANT), (5, State.DECREASING)]


def test_backward_windows_end_with_the_last_point():
    """Walking back, the last four gaps shrink towards the present: the rate goes up."""
    gaps = [1.0, 9, 9, 9, 2.5, 3, 2, 1]

    back = found(gaps, Windowing(0, "count", backward=True))

    assert back == [(4, State.CONSTANT), (4, State.INCREASING)]


def test_an_envelope_holds_when_walking_back_too():
    """Back from the present gaps must grow: 2.5 after 3 disagrees, with 3 the longest so far."""
    gaps = [1.0, 9, 9, 9, 2.5, 3, 2, 1]

    plain = found(gaps, Windowing(0, "point", backward=True))
    back = found(gaps, Windowing(0, "envelope", backward=True))

    assert back == plain == [(4, State.CONSTANT), (4, State.INCREASING)]


def test_short_windows_are_shared_out():
    """Cut into 4, 3 and 4: one point goes left, two go right."""
    gaps = [1.0, 1, 1, 1, 2, 2, 2, 5, 5, 5, 5]
    windowing = Windowing(0, "count")

    assert slow_cut(gaps, windowing) == [
        (4, State.CONSTANT),
        (3, State.CONSTANT),
        (4, State.CONSTANT),
    ]
    assert found(gaps, windowing) == [(5, State.CONSTANT), (6, State.CONSTANT)]


@pytest.mark.parametrize(
    ("gaps", "expected"),
    [
        ([1, 1, 1, 3, 4, 5, 6], [(7, State.DECREASING)]),
        ([1, 1, 1, 1, 3, 4], [(6, State.CONSTANT)]),
    ],
)
def test_a_short_window_at_an_end_goes_to_its_only_neighbour(gaps, expected):
    """First 3 points before 4, and 2 after 4."""
    assert found([float(gap) for gap in gaps], Windowing(0, "count")) == expected


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_page_with_too_few_points_is_one_short_window(count):
    assert found([1.0] * count) == [(count, State.SHORT)]


def test_a_page_without_points_has_no_window():
    windows = consistent_windows(points_at_days([], [1.0, 2, 3, 4], []))

    assert windows.page.tolist() == [1]
    assert windows.points.tolist() == [4]
    assert len(consistent_windows(points_at_days())) == 0
    assert len(consistent_windows(points_at_days([]), Windowing(3, "count", backward=True))) == 0


@settings(max_examples=400)
@given(whole_gaps, windowings)
def test_windows_are_those_of_the_slow_reference(gaps, windowing):
    """Points of every window, and its state where its own first three points gave one."""
    ours, slow = found(gaps, windowing), slow_windows(gaps, windowing)

    assert [count for count, _ in ours] == [count for count, _ in slow]
    for (_, state), (count, expected) in zip(ours, slow, strict=True):
        if expected != State.SHORT and count >= LEAST_POINTS:
            assert state == expected


@given(st.lists(whole_gaps, max_size=8), windowings)
def test_pages_do_not_see_each_other(pages, windowing):
    """Many pages at once give what each gives alone; windows partition each page's points."""
    times = [list(itertools.accumulate(gaps)) for gaps in pages]
    windows = consistent_windows(points_at_days(*times), windowing)

    alone = [found(gaps, windowing) for gaps in pages]

    assert windows.offsets[0] == 0
    assert windows.points.tolist() == [count for page in alone for count, _ in page]
    assert windows.state.tolist() == [state for page in alone for _, state in page]
    assert windows.page.tolist() == [number for number, page in enumerate(alone) for _ in page]


@given(st.lists(st.floats(0.01, 100), max_size=40), windowings)
def test_every_window_has_four_points_if_its_page_has(gaps, windowing):
    cuts = found(gaps, windowing)

    assert sum(count for count, _ in cuts) == len(gaps)
    assert all(count >= LEAST_POINTS for count, _ in cuts) or len(cuts) == 1
    assert min([count for count, _ in cuts], default=0) >= min(len(gaps), LEAST_POINTS)


@settings(max_examples=200)
@given(whole_gaps, windowings)
def test_a_window_is_short_exactly_if_it_has_too_few_points(gaps, windowing):
    """A window is always in one of the three states, also one that grew by merging."""
    for count, state in found(gaps, windowing):
        assert (state == State.SHORT) == (count < LEAST_POINTS)


def test_a_remnant_that_grows_to_a_window_has_a_state():
    """Cut into 3 and 2 points: the first go to the second, which alone had too few to say."""
    (window,) = found([1.0, 1, 1, 5, 1], Windowing(0, "count"))

    assert window[0] == 5
    assert window[1] != State.SHORT


@given(
    st.lists(st.floats(0.01, 100), min_size=1, max_size=40),
    st.sampled_from(READINGS),
    st.booleans(),
)
def test_without_a_threshold_there_is_one_window(gaps, reading, backward):
    backward &= reading != "likelihood"
    assert len(found(gaps, Windowing(math.inf, reading, backward))) == 1


@given(whole_gaps)
def test_backward_is_forward_in_a_mirror(gaps):
    """Before merging; with pages long enough that nothing is merged, after it too."""
    forward = slow_cut(gaps, Windowing(1, "count"))
    if all(count >= LEAST_POINTS for count, _ in forward):
        mirrored = found(
            [1.0, *reversed(gaps[1:])] if gaps else [], Windowing(1, "count", backward=True)
        )

        assert mirrored == [(count, MIRRORED[state]) for count, state in reversed(forward)]


def test_the_time_of_a_window_begins_at_the_point_before():
    """The first begins at its page's origin, on every page."""
    times = [list(itertools.accumulate([1.0, 1, 1, 1, 2, 3, 4, 5])), [3.0, 5.0, 8.0, 12.0]]
    points = points_at_days(*times)
    windows = consistent_windows(points, Windowing(0, "count"))

    assert windows.points.tolist() == [4, 4, 4]
    assert windows.origins(points).tolist() == [0.0, 4.0, 0.0]
    assert windows.part(slice(1, 3)).origins(points).tolist() == [4.0, 0.0]


def test_states_have_names():
    assert consistent_windows(points_at_days([1.0, 2, 3, 4], [1.0])).state_names == [
        "constant",
        "short",
    ]


def test_the_reproductions_state_mix():
    """Section 9: 43 % constant, 28 % increasing, 29 % decreasing, unlike the papers' 35/3/61."""
    windows = consistent_windows(bernoulli_days(2000), Windowing(3, "count"))

    mix = np.bincount(windows.state, minlength=4) / len(windows)

    assert mix[:3] == pytest.approx([0.43, 0.28, 0.29], abs=0.015)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"reading": "sum"}, "reading must be one of likelihood, point, count, budget, envelope"),
        ({"backward": True}, "backward needs another reading"),
        ({"threshold": -1.0}, "threshold must be at least 0"),
        ({"threshold": math.nan}, "threshold must be at least 0"),
        ({"tie": -1.0}, "tie must be at least 0"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(wrong, message):
    with pytest.raises(InvalidParameter, match=message):
        Windowing(**wrong)
