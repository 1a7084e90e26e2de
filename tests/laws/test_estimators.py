"""What every estimator obeys, whatever its method.

Warnings are errors in these tests, so each of them also says that numpy has nothing to complain
about.
"""

from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

from recrawl import (
    AnswerKind,
    Estimates,
    Flag,
    Gamma,
    Histories,
    Priors,
    Ratio,
    Status,
    Visit,
    fit_prior,
    histories_of,
)
from recrawl.rates import LLN, METHODS, NPMLE, SA, SAM, Bank, Classes, MalcolmAge
from tests import strategies
from tests.rates.worlds import GAPS, POPULATIONS, visited
from tests.strategies import Seen, history_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recrawl.arrays.types import Floats
    from recrawl.rates.estimates import Estimator

BLOCK = 32_768  # pages worked on together, by one thread
SHAPE, EXPOSURE = 0.8, 5.0

FIGURES = ("rate", "low", "high", "shape", "exposure")
COLUMNS = (*FIGURES, "changes", "visits", "status", "flags")
OPTIONAL = ("probability", "survival", "first_wait")
STREAMING: dict[str, Any] = {
    "gamma": Gamma(Priors.one(SHAPE, EXPOSURE)),
    "npmle": NPMLE(Priors.one(SHAPE, EXPOSURE)),
    "bank": Bank(Priors.one(SHAPE, EXPOSURE)),
    "ratio": Ratio(),
    "lln": LLN(),
    "sa": SA(),
    "sam": SAM(),
}
# What an estimator may add to what the vetting found.
OWN_FLAGS = Flag.IRREGULAR_GAPS | Flag.UNDATED | Flag.HEAVY_TAIL | Flag.FALLBACK

every_method = pytest.mark.parametrize("name", METHODS)
every_stream = pytest.mark.parametrize("name", STREAMING)


def in_turn(names: Iterable[str]) -> Iterator[str]:
    """One name after the other: all methods have the same pages, which are drawn once."""
    for name in names:
        note(f"method {name}")
        yield name


def estimator(name: str, *, stretch: float = 1.0, level: float = 0.9) -> Estimator:
    """Make the estimator of that name, what it believes beforehand in units of 1 / `stretch` days.

    That is the exposure of a prior, and the rates of classes.
    """
    if name == "classes":
        return Classes(tuple(rate / stretch for rate in Classes().rates), level=level)
    return METHODS[name](Priors.one(SHAPE, EXPOSURE * stretch), level)


def assert_same(one: Estimates, other: Estimates) -> None:
    """Bit for bit in every column; nan where the other has nan."""
    assert one.method == other.method
    for column in (*COLUMNS, *OPTIONAL):
        np.testing.assert_array_equal(getattr(one, column), getattr(other, column), column)


def rows(estimates: Estimates, pages: Any) -> Estimates:
    """Some rows of the estimates."""
    columns = {column: getattr(estimates, column)[pages] for column in COLUMNS}
    for column in OPTIONAL:
        if getattr(estimates, column) is not None:
            columns[column] = getattr(estimates, column)[pages]
    return Estimates(**columns, method=estimates.method)


@cache
def many_pages(pages: int) -> Histories:
    """Pages of all sorts: none to eight gaps, hidden, dated and counted changes."""
    chance = np.random.default_rng(81)
    lengths = chance.integers(0, 9, pages)
    gaps = 10 ** chance.uniform(-3, 3, int(lengths.sum()))
    changed = chance.random(len(gaps)) < np.repeat(chance.random(pages), lengths)
    kind = chance.integers(0, 6, len(gaps))
    times = np.where(changed, chance.integers(1, 9, len(gaps)), 0)
    first_visit = np.full(pages, "2026-01-01", "datetime64[us]")
    first_visit[chance.random(pages) < 0.5] = "NaT"
    return Histories(
        gaps=gaps,
        changed=changed,
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        age=np.where(changed & (kind == 1), gaps * chance.random(len(gaps)), np.nan),
        count=np.where(kind == 2, times, -1),
        first_visit=first_visit,
        flags=chance.integers(0, 64, pages).astype(np.uint32),
    )


def folded(name: str, page: list[Seen]) -> Floats:
    """State of one page after telling it one gap after the other."""
    stream = STREAMING[name]
    state: Floats = stream.start(1)
    for gap in page:
        told = {"age": np.array([gap.age]), "count": np.array([gap.count])}
        state = stream.update(state, np.array([gap.gap]), np.array([gap.changed]), **told)
    return state


# The unit of time.


def without_age_zero(page: list[Seen]) -> list[Seen]:
    """An age of 0 is one of the clock's resolution, which has a unit and may exceed a gap."""
    return [gap._replace(age=gap.gap / 2) if gap.age == 0 else gap for gap in page]


unit_free_pages = strategies.pages.map(without_age_zero)


@given(page=unit_free_pages, stretch=st.floats(-2, 3).map(lambda exponent: float(10**exponent)))
def test_the_unit_of_time_does_not_matter(page, stretch):
    """Stretching every gap, every age and the prior's exposure divides the rates by the factor."""
    for name in in_turn(METHODS):
        plain = estimator(name).estimate(history_of(page))
        slow = estimator(name, stretch=stretch).estimate(
            history_of(strategies.stretched(page, stretch))
        )

        np.testing.assert_allclose(slow.rate * stretch, plain.rate, rtol=1e-6)
        np.testing.assert_allclose(slow.shape, plain.shape, rtol=1e-6)
        np.testing.assert_allclose(slow.exposure / stretch, plain.exposure, rtol=1e-6)
        # The ends of a likelihood's band are promised to a thousandth, each.
        np.testing.assert_allclose(slow.low * stretch, plain.low, rtol=2e-3)
        np.testing.assert_allclose(slow.high * stretch, plain.high, rtol=2e-3)
        assert slow.status.tolist() == plain.status.tolist()


@given(page=unit_free_pages)
def test_the_same_wait_in_another_unit_leaves_a_page_alone_as_often(page):
    """Seconds or days: `unchanged` depends on wait times rate only."""
    for name in in_turn(METHODS):
        plain = estimator(name).estimate(history_of(page)).unchanged(2.0)
        second = 86_400.0
        slow = estimator(name, stretch=second).estimate(
            history_of(strategies.stretched(page, second))
        )

        np.testing.assert_allclose(slow.unchanged(2.0 * second), plain, rtol=1e-6, atol=1e-12)


# Pages are independent.


@given(histories=strategies.histories())
def test_a_page_has_the_same_estimate_alone_and_in_company(histories):
    """Bit for bit: a page's neighbours, their dates and counts included, must not show."""
    for name in in_turn(METHODS):
        together = estimator(name).estimate(histories)

        for page in range(len(histories)):
            alone = estimator(name).estimate(histories.take(np.array([page])))
            assert_same(alone, rows(together, [page]))


@given(histories=strategies.histories(), data=st.data())
def test_the_order_of_pages_does_not_matter(histories, data):
    order = np.array(data.draw(st.permutations(range(len(histories)))), np.int64)
    for name in in_turn(METHODS):
        shuffled = estimator(name).estimate(histories.take(order))

        assert_same(shuffled, rows(estimator(name).estimate(histories), order))


@every_method
def test_a_page_has_the_same_estimate_in_every_block(name):
    """Whatever block of pages it falls into, at its ends or inside, whoever works on it."""
    pages = 2 * BLOCK + 37
    histories = many_pages(pages)
    together = estimator(name).estimate(histories)
    near_ends = [0, 1, BLOCK - 2, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK - 1, 2 * BLOCK, pages - 1]
    anywhere = np.random.default_rng(82).integers(0, pages, 200)

    for page in [*near_ends, *anywhere.tolist()]:
        alone = estimator(name).estimate(histories.take(np.array([page])))
        assert_same(alone, rows(together, [page]))


@every_method
def test_shuffled_blocks_hold_the_same_estimates(name):
    """Every page moves to another place of another block."""
    histories = many_pages(BLOCK + 1001)
    order = np.random.default_rng(83).permutation(len(histories))

    shuffled = estimator(name).estimate(histories.take(order))
    assert_same(shuffled, rows(estimator(name).estimate(histories), order))


# Streaming.


@every_stream
@given(page=st.lists(strategies.all_gaps, max_size=40))
def test_telling_gap_by_gap_is_the_same_as_all_at_once(name, page):
    """Bit for bit, dates and counts included; a state starts after the first visit."""
    first_visit = np.array(["2026-01-01"], "datetime64[us]")
    at_once = STREAMING[name].estimate(history_of(page, first_visit=first_visit))

    assert_same(STREAMING[name].read(folded(name, page)), at_once)


@every_stream
def test_telling_many_pages_is_the_same_as_all_at_once(name):
    """A crawl tells all pages a gap at a time; those that have no more are left out."""
    histories = many_pages(500)
    at_once = STREAMING[name].estimate(histories)
    stream = STREAMING[name]
    state = stream.start(len(histories))
    for rank in range(8):
        left = np.flatnonzero(histories.gaps_of_page > rank)
        row = histories.offsets[left] + rank
        told = {"age": histories.age[row], "count": histories.count[row]}
        state[left] = stream.update(
            state[left], histories.gaps[row], histories.changed[row], **told
        )

    visited_once = histories.visits > 0
    streamed = stream.read(state, flags=histories.flags)
    assert_same(rows(streamed, visited_once), rows(at_once, visited_once))


@pytest.mark.parametrize("name", ["ratio", "lln", "npmle"])
@given(one=strategies.pages, other=strategies.pages)
def test_parts_of_a_sum_merge_exactly(name, one, other):
    """The state is a sum, so only the order of additions differs."""
    merged = STREAMING[name].merge(folded(name, one), folded(name, other))

    np.testing.assert_allclose(merged, folded(name, one + other), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["sa", "sam"])
def test_steps_that_shrink_cannot_be_merged(name):
    """How far a gap moves them depends on how many came before, so they have no `merge`."""
    assert not hasattr(STREAMING[name], "merge")


@given(one=strategies.told_pages, other=strategies.told_pages)
def test_parts_of_a_gamma_merge_exactly_where_nothing_is_hidden(one, other):
    """Events and days are sums too."""
    merged = STREAMING["gamma"].merge(folded("gamma", one), folded("gamma", other))

    np.testing.assert_allclose(merged, folded("gamma", one + other), rtol=1e-12)


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("population", ["gamma", "Pareto", "log-normal"])
def test_parts_of_a_gamma_merge_closely_where_changes_are_hidden(population, gaps):
    """Within 10 % of the rate from the whole history on 95 % of pages (DESIGN.md 3)."""
    chance = np.random.default_rng(84)
    rates = POPULATIONS[population](chance, 4000)
    histories = visited(rates, GAPS[gaps](chance, (4000, 20)), chance)
    gamma = Gamma(fit_prior(histories))

    halves = []
    for half in (slice(0, 10), slice(10, 20)):
        days = histories.gaps.reshape(4000, 20)[:, half]
        changed = histories.changed.reshape(4000, 20)[:, half]
        state = gamma.start(4000)
        for visit in range(10):
            state = gamma.update(state, days[:, visit], changed[:, visit])
        halves.append(state)
    merged = gamma.read(gamma.merge(*halves))
    whole = gamma.estimate(histories)
    assert np.mean(np.abs(merged.rate / whole.rate - 1) <= 0.1) >= 0.95
    assert merged.visits.tolist() == whole.visits.tolist()
    assert merged.changes.tolist() == whole.changes.tolist()


# Evidence.


def rates_with_one_more_change(name: str, page: list[Seen], row: int) -> tuple[float, float]:
    """Rate of the page, and its rate if an unchanged gap had changed, at no known time."""
    flipped = [*page[:row], Seen(page[row].gap, True), *page[row + 1 :]]
    before, after = estimator(name).estimate(history_of(page, flipped)).rate.tolist()
    return before, after


def unchanged_row(page: list[Seen], data: st.DataObject) -> int:
    """Some gap of the page that showed nothing."""
    quiet = [row for row, gap in enumerate(page) if not gap.changed]
    assume(quiet)
    return data.draw(st.sampled_from(quiet))


@given(page=strategies.pages, data=st.data())
def test_one_more_change_never_lowers_the_rate(page, data):
    """Exempt, with laws of their own below: `gamma`, `malcolm-age` and `sam`.

    `bank` too: a change moves it to the member that foresaw it, whatever that one's rate is.
    """
    row = unchanged_row(page, data)
    for name in in_turn(sorted(set(METHODS) - {"gamma", "bank", "malcolm-age", "sam"})):
        before, after = rates_with_one_more_change(name, page, row)

        assert after >= before * (1 - 1e-9)


@given(page=strategies.even_pages, data=st.data())
def test_one_more_change_never_lowers_the_rate_of_a_gamma(data, page):
    """Among gaps within two orders of magnitude of each other.

    Two numbers cannot remember everything: a change in a gap that is far longer than all that was
    seen before says nothing then, and later quiet cannot make it speak.
    """
    before, after = rates_with_one_more_change("gamma", page, unchanged_row(page, data))

    assert after >= before * (1 - 1e-9)


@given(page=strategies.pages, gap=strategies.days)
def test_a_change_in_the_last_gap_never_lowers_the_rate_of_a_gamma(page, gap):
    """A single step obeys the law whatever came before."""
    before, after = rates_with_one_more_change("gamma", [*page, Seen(gap, False)], len(page))

    assert after >= before * (1 - 1e-9)


@given(page=strategies.pages, first_age=strategies.days, data=st.data())
def test_one_more_change_never_lowers_the_rate_of_ages(page, first_age, data):
    """Where the age at the first visit is known: a change only makes later ages shorter.

    Where it is not, the first change seen brings ages that were unknown before.
    """
    row = unchanged_row(page, data)
    flipped = [*page[:row], Seen(page[row].gap, True), *page[row + 1 :]]
    first_visit = np.full(2, "2026-01-01", "datetime64[us]")
    pages = history_of(page, flipped, first_visit=first_visit, first_age=np.full(2, first_age))
    before, after = MalcolmAge().estimate(pages).rate.tolist()

    assert after >= before * (1 - 1e-9)


def test_one_more_change_may_lower_the_rate_of_momentum():
    """Why `sam` is exempt: five days, a change on the last, and then one on the first as well.

    The early change swings the rate up; coming down again has a momentum of its own, which takes
    the rate further down than it would have been.
    """
    late = [Seen(1.0, False)] * 4 + [Seen(1.0, True)]
    before, after = rates_with_one_more_change("sam", late, 0)

    assert after < before * 0.9


@given(page=strategies.pages, gap=strategies.days)
def test_a_change_in_the_last_gap_never_lowers_the_rate_of_momentum(page, gap):
    """A single step of `sam` goes the right way, whatever came before."""
    before, after = rates_with_one_more_change("sam", [*page, Seen(gap, False)], len(page))

    assert after >= before * (1 - 1e-9)


# Methods that count gaps, and those that know how long each one was.
COUNTING = {"likelihood", "cho", "cho-exact", "matloff", "beta", "lln", "sa"}
MEASURING = (
    set(METHODS) - COUNTING - {"last-modified", "malcolm-age", "sam", "bank"}
)  # a bank forgets towards its prior


def rates_with_one_more_quiet_gap(name: str, page: list[Seen], gap: float) -> tuple[float, float]:
    """Rate of the page, and its rate after so many more days without a change."""
    longer = [*page, Seen(gap, False)]
    before, after = estimator(name).estimate(history_of(page, longer)).rate.tolist()
    return before, after


@given(page=unit_free_pages, gap=strategies.days)
def test_one_more_quiet_gap_never_raises_the_rate(page, gap):
    """However short. Exempt, with laws of their own: who counts gaps, and three more below.

    Ages of 0 alone stand for a second each, and the new gap may be shorter than that.
    """
    for name in in_turn(sorted(MEASURING)):
        before, after = rates_with_one_more_quiet_gap(name, page, gap)

        assert after <= before * (1 + 1e-9)


@given(page=strategies.pages, times=st.floats(1, 1000))
def test_one_more_long_quiet_gap_never_raises_the_rate(page, times):
    """A gap at least as long as any before it.

    All these take an average gap for each (`likelihood` for half a gap), and a gap below the
    average makes them believe that the page was visited more often than they knew.
    """
    gap = max(gap.gap for gap in page) * times
    for name in in_turn(sorted(COUNTING)):
        before, after = rates_with_one_more_quiet_gap(name, page, gap)

        assert after <= before * (1 + 1e-9)


@given(
    page=st.lists(strategies.all_gaps, min_size=3, max_size=12).map(without_age_zero),
    times=st.floats(1, 1000),
)
def test_one_more_long_quiet_gap_never_raises_the_rate_of_dates(page, times):
    """`last-modified` from three gaps on: its X' grows with the gaps, at most as fast as they do.

    One gap is left to `gamma`. From two to three gaps that all changed X' jumps from 1 to 1.607,
    while the quiet days may grow by half only.
    """
    gap = max(gap.gap for gap in page) * times
    before, after = rates_with_one_more_quiet_gap("last-modified", page, gap)

    assert after <= before * (1 + 1e-9)


@given(page=unit_free_pages, first_age=st.just(np.nan) | strategies.days, times=st.floats(1, 1000))
def test_one_more_long_quiet_gap_never_raises_the_rate_of_ages(page, first_age, times):
    """`malcolm-age`, for a gap at least as long as the mean age: the new age is above the mean."""
    columns = {
        "first_visit": np.array(["2026-01-01"], "datetime64[us]"),
        "first_age": np.array([first_age]),
    }
    before = estimator("malcolm-age").estimate(history_of(page, **columns))
    quiet = Seen(float(before.mean_interval[0]) * times, False)
    after = estimator("malcolm-age").estimate(history_of([*page, quiet], **columns))

    assert after.rate[0] <= before.rate[0] * (1 + 1e-9)


def test_one_more_quiet_gap_may_raise_the_rate_of_momentum():
    """Why `sam` is exempt: after a long quiet a change swings the rate up, and it swings on."""
    page = [Seen(1.0, False)] * 6 + [Seen(1.0, True)]
    before, after = rates_with_one_more_quiet_gap("sam", page, 1.0)

    assert after > before


# What an estimate looks like.


@given(histories=strategies.histories(), level=st.sampled_from([0.5, 0.8, 0.9, 0.99, 0.999]))
def test_the_rate_lies_in_its_band(histories, level):
    for name in in_turn(METHODS):
        estimates = estimator(name, level=level).estimate(histories)
        known = ~np.isnan(estimates.rate)

        assert (estimates.low[known] >= 0).all()
        assert (estimates.low[known] <= estimates.rate[known]).all()
        assert (estimates.rate[known] <= estimates.high[known]).all()


@given(histories=strategies.histories())
def test_an_empty_figure_has_a_status_that_says_why(histories):
    """nan or infinite only where the status is not `ok` (DESIGN.md 3)."""
    for name in in_turn(METHODS):
        estimates = estimator(name).estimate(histories)
        figures = np.stack([getattr(estimates, figure) for figure in FIGURES])

        fine = estimates.status == Status.OK
        assert np.isfinite(figures[:, fine]).all()
        assert np.isfinite(estimates.mean_interval[fine]).all()


@given(histories=strategies.histories())
def test_a_row_a_page_with_its_counts_and_flags(histories):
    """What the vetting found stays, and an estimator adds none but its own."""
    for name in in_turn(METHODS):
        estimates = estimator(name).estimate(histories)

        assert len(estimates) == len(histories)
        assert estimates.changes.tolist() == histories.changes.tolist()
        assert estimates.visits.tolist() == histories.visits.tolist()
        assert (estimates.flags & histories.flags).tolist() == histories.flags.tolist()
        assert not (estimates.flags & ~(histories.flags | np.uint32(OWN_FLAGS))).any()
        assert all(len(getattr(estimates, column)) == len(histories) for column in COLUMNS)


@given(histories=strategies.histories(), wait=strategies.days)
def test_the_chance_to_stay_as_it_is_is_a_chance(histories, wait):
    """From 1 at the last visit downwards; nothing is said only where there is no rate."""
    for name in in_turn(METHODS):
        estimates = estimator(name).estimate(histories)
        known = ~np.isnan(estimates.rate)
        at_once, later = estimates.unchanged(0.0), estimates.unchanged(wait)

        assert (at_once[known] == 1).all()
        assert ((later[known] >= 0) & (later[known] <= 1)).all()
        assert np.isnan(later[~known]).all()


@given(histories=strategies.histories())
def test_nothing_overflows_or_divides_by_zero(histories):
    """Not even silently, inside an `errstate` of the caller's."""
    for name in in_turn(METHODS):
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            estimates = estimator(name).estimate(histories)
        estimates.unchanged(1.0)


# Too little data is a status, never an exception.


def log_of(*visits: tuple[str, float, bool | None, AnswerKind]) -> Histories:
    """Histories of a visit log: page, day, changed, answer."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    _, histories = histories_of(
        Visit(page, start + timedelta(days=day), changed, answer=answer)
        for page, day, changed, answer in visits
    )
    return histories


@every_method
@pytest.mark.parametrize(
    "histories",
    [
        pytest.param(Histories.from_lists([]), id="no pages"),
        pytest.param(Histories.from_lists([([], [])]), id="a page without visits"),
        pytest.param(log_of(("a", 0, None, AnswerKind.OK)), id="one visit"),
        pytest.param(log_of(("a", 0, None, AnswerKind.GONE)), id="only gone"),
        pytest.param(log_of(("a", 0, None, AnswerKind.FAILED)), id="only failed"),
        pytest.param(
            log_of(("a", 0, None, AnswerKind.OK), ("a", 1, None, AnswerKind.GONE)),
            id="seen, then gone",
        ),
        pytest.param(
            log_of(("a", 0, None, AnswerKind.OK), ("a", 1, None, AnswerKind.FAILED)),
            id="seen, then failed",
        ),
        pytest.param(
            log_of(("a", 0, None, AnswerKind.OK), ("a", 1, None, AnswerKind.OK)),
            id="never compared",
        ),
    ],
)
def test_too_little_data_is_a_status(name, histories):
    estimates = estimator(name).estimate(histories)

    assert len(estimates) == len(histories)
    assert Status.OK not in estimates.status.tolist()
    assert all(status in {s.name.lower() for s in Status} for status in estimates.status_names)


# Values travel.


@given(histories=strategies.histories())
def test_estimators_histories_and_estimates_survive_a_pickle(histories):
    """To another process and back: the same estimates from the same visits."""
    for name in in_turn(METHODS):
        sent = pickle.loads(pickle.dumps((estimator(name), histories)))  # noqa: S301 - our own
        here = estimator(name).estimate(histories)

        assert_same(sent[0].estimate(sent[1]), here)
        assert_same(pickle.loads(pickle.dumps(here)), here)  # noqa: S301 - our own


@given(histories=strategies.histories())
def test_priors_survive_a_pickle(histories):
    sites = np.arange(len(histories)) % 2
    priors: Any = fit_prior(histories, sites)
    sent = pickle.loads(pickle.dumps(priors))  # noqa: S301 - our own

    assert sent.shape.tolist() == priors.shape.tolist()
    assert sent.exposure.tolist() == priors.exposure.tolist()
    assert sent.site_of_page.tolist() == priors.site_of_page.tolist()


@given(histories=strategies.histories())
def test_histories_survive_a_pickle(histories):
    """Every column, and what is unknown stays as cheap as it was."""
    sent = pickle.loads(pickle.dumps(histories))  # noqa: S301 - our own

    for column in (
        "gaps",
        "changed",
        "offsets",
        "age",
        "count",
        "first_visit",
        "first_age",
        "flags",
    ):
        np.testing.assert_array_equal(getattr(sent, column), getattr(histories, column), column)
    assert sent.knows_age == histories.knows_age
    assert sent.knows_count == histories.knows_count


@given(histories=strategies.histories())
def test_a_fitted_prior_makes_estimates_for_the_same_pages(histories):
    """Whatever was seen: all rates are positive and finite, from the first visit on."""
    sites = np.arange(len(histories)) % 2
    estimates = Gamma(fit_prior(histories, sites)).estimate(histories)

    assert ((estimates.rate > 0) & (estimates.rate < np.inf)).all()
