"""Rates of months, years, weekdays, hours and stretches between two instants."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import minimize
from scipy.stats import gamma, poisson

from recrawl import Gamma, Histories, Priors
from recrawl.errors import InvalidParameter
from recrawl.rates.estimates import Status
from recrawl.trends.local_rates import local_rates, rates_between
from recrawl.trends.seasons import seasonal_forecast
from tests import strategies
from tests.strategies import Seen, history_of

NEW_YEAR = np.datetime64("2026-01-01", "us")
DAY = np.timedelta64(1, "D")
BY = ("month", "year", "weekday", "hour")


def page(*seen: tuple, first: np.datetime64 = NEW_YEAR) -> Histories:
    """One page, first visited at the start of 2026."""
    return history_of([Seen(*gap) for gap in seen], first_visit=np.array([first]))


def overall(histories: Histories) -> float:
    """Mean rate of the first page, which a period's prior has."""
    found = Gamma().estimate(histories)
    return float(found.shape[0] / found.exposure[0])


def test_dated_changes_count_where_they_are():
    """A change on the 2nd of January, seen on the 11th; then nothing for a month.

    From the change to the end of January pass 30 days, and 10 days of February follow.
    """
    seen = page((10.0, True, 9.0), (31.0, False))

    months = local_rates(seen, "month")

    assert months.period.tolist() == ["2026-01", "2026-02"]
    assert months.start[1] == np.datetime64("2026-02-01")
    assert months.end[1] == np.datetime64("2026-03-01")
    assert months.changes.tolist() == [1.0, 0.0]
    assert months.exposure == pytest.approx([30.0, 10.0])
    assert months.own_changes == pytest.approx([1.0, 0.0])
    assert months.own_days == pytest.approx([30.0, 10.0], rel=0.01)
    assert months.status_names == ["ok", "no_change_seen"]


def test_a_period_with_changes_speaks_for_itself():
    """13 changes in the 31 days of January, one in the eleven months after it.

    The band is that of half a change more, whatever the other months did; the rate is 13 / 31 but
    for a tenth of a change at most.
    """
    seen = page((31.0, True, np.nan, 13), (300.0, False), (34.0, True, np.nan, 1))

    january = rates_between(seen, NEW_YEAR, NEW_YEAR + 31 * DAY)

    band = np.array([[january.low[0], january.high[0]]])
    assert band == pytest.approx(gamma.ppf([[0.05, 0.95]], 13.5) / 31, rel=1e-6)
    assert 12.9 / 31 < january.rate[0] < 13 / 31


def test_a_quiet_period_is_pulled_only_where_it_says_nothing():
    """The rate solves r E = 1/2 - 3/5 r / (r + mu/5); without any days that is mu."""
    seen = page((31.0, True, np.nan, 13), (28.0, False), (0.01, False))

    months = local_rates(seen, "month")

    mu, rate = overall(seen), months.rate[1:]
    days = np.array([28.0, 0.01])
    assert rate * days == pytest.approx(0.5 - 0.6 * rate / (rate + mu / 5), rel=1e-6)
    assert rate[1] == pytest.approx(mu, rel=0.05)
    assert months.high[1:] == pytest.approx(gamma.ppf(0.95, 0.5) / days, rel=1e-6)
    assert (months.low[1:] < 0.02 * mu).all()


@pytest.mark.parametrize("fast", [0.42, 0.2, 0.06])
def test_a_season_is_held_as_often_as_whole_numbers_allow(fast):
    """January is fast, all else is at 0.02: chances of all counts whose band holds, added up."""
    chance = np.random.default_rng(5)
    pages = 1000
    count = np.stack([chance.poisson(31 * fast, pages), chance.poisson(1.8, pages)], axis=1)
    seen = Histories(
        np.tile([31.0, 89.0], pages),
        count.ravel() > 0,
        np.arange(pages + 1) * 2,
        count=count.ravel(),
        first_visit=np.full(pages, NEW_YEAR),
    )

    january = rates_between(seen, NEW_YEAR, NEW_YEAR + 31 * DAY)

    numbers = np.arange(60)
    low, high = (gamma.ppf(at, numbers + 0.5) / 31 for at in (0.05, 0.95))
    exact = poisson.pmf(numbers, 31 * fast)[(low <= fast) & (fast <= high)].sum()
    held = (january.low <= fast) & (fast <= january.high)
    assert held.mean() == pytest.approx(exact, abs=0.02)
    assert january.rate.mean() == pytest.approx(fast, rel=0.06)


def test_visits_that_only_see_whether_hold_a_sharp_season_too():
    """Daily visits, January at 0.42 changes a day, else 0.02."""
    chance = np.random.default_rng(6)
    pages, days = 1000, 120
    rate = np.where(np.arange(days) < 31, 0.42, 0.02)
    seen = Histories(
        np.ones(pages * days),
        (chance.random((pages, days)) < -np.expm1(-rate)).ravel(),
        np.arange(pages + 1) * days,
        first_visit=np.full(pages, NEW_YEAR),
    )

    january = rates_between(seen, NEW_YEAR, NEW_YEAR + 31 * DAY)

    assert january.rate.mean() == pytest.approx(0.42, rel=0.04)
    held = (january.low <= 0.42) & (january.high >= 0.42)
    assert held.mean() == pytest.approx(0.9, abs=0.03)


def test_a_hidden_change_is_shared():
    """Ten days before and ten after the new month, nothing else: half of it in each."""
    months = local_rates(page((20.0, True), first=NEW_YEAR + 21 * DAY), "month")

    assert months.changes[0] == pytest.approx(months.changes[1])
    assert months.changes.sum() >= 1
    assert months.status_names == ["all_changed", "all_changed"]
    assert np.isinf(months.high).all()


def test_a_hidden_change_goes_where_changes_are():
    """January changes every day, February never: the gap across the two changed in January."""
    january, february = [(1.0, True)] * 29, [(1.0, False)] * 26
    months = local_rates(page(*january, (4.0, True), *february), "month")

    assert months.changes[1] < 0.05


def test_told_counts_are_shared_by_the_rates():
    """Six changes in ten days before and ten days after the new month."""
    months = local_rates(
        page((20.0, True, np.nan, 6), first=NEW_YEAR + 21 * DAY), "month", level=0.8
    )

    assert months.changes == pytest.approx([3, 3])
    assert np.isfinite(months.high).all()


def test_weekdays_and_hours_are_pooled():
    """2026 began on a Thursday. Four weeks of days that changed on Sundays."""
    seen = page(*[(1.0, day % 7 == 3) for day in range(28)])

    days = local_rates(seen, "weekday")
    hours = local_rates(seen, "hour")

    assert days.period.tolist() == ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    assert days.exposure == pytest.approx([4.0] * 7)
    assert (days.changes > 0).tolist() == [False] * 6 + [True]
    assert hours.period.tolist()[:3] == ["00", "01", "02"]
    assert hours.exposure == pytest.approx([28 / 24] * 24)
    assert hours.start[0] == NEW_YEAR
    assert hours.end[0] == NEW_YEAR + 28 * DAY


def test_a_leap_year_has_366_days():
    years = local_rates(page((800.0, False), first=np.datetime64("2024-01-01", "us")), "year")

    assert years.period.tolist() == ["2024", "2025", "2026"]
    assert years.exposure == pytest.approx([366, 365, 69])


def test_between_two_instants():
    seen = page(*[(1.0, day % 2 == 0) for day in range(40)])

    aware = rates_between(
        seen, datetime(2026, 1, 11, tzinfo=UTC), datetime(2026, 1, 21, tzinfo=UTC)
    )
    plain = rates_between(seen, np.datetime64("2026-01-11"), np.datetime64("2026-01-21"))

    assert aware.period.tolist() == ["2026-01-11T00:00:00/2026-01-21T00:00:00"]
    assert aware.exposure == pytest.approx([10.0])
    assert (aware.rate == plain.rate).all()


def test_a_stretch_that_was_not_watched_has_the_page_s_rate():
    seen = page((10.0, False), (10.0, True, 5.0))

    later = rates_between(seen, np.datetime64("2027-01-01"), np.datetime64("2027-02-01"))

    assert later.status_names == ["prior_only"]
    assert later.rate == pytest.approx([overall(seen)])
    assert later.exposure.tolist() == [0.0]


def test_one_period_with_everything_is_the_constant_rate():
    """But for the prior of half a change at the page's own rate, which hardly moves it."""
    chance = np.random.default_rng(1)
    changed = chance.random(300) < 0.3
    seen = page(*[(1.0, bool(flag)) for flag in changed])
    priors = Priors.one(1e-6, 1e-6)

    year = local_rates(seen, "year", priors=priors)
    constant = Gamma(priors).estimate(seen)

    assert year.rate == pytest.approx(-np.log1p(-changed.mean()), rel=2e-3)
    assert year.rate == pytest.approx(constant.shape / constant.exposure, rel=0.01)
    assert year.low == pytest.approx(constant.low, rel=0.02)
    assert year.high == pytest.approx(constant.high, rel=0.02)


def most_likely(histories, rows, cells, widths):
    """Rates of one page by direct maximisation of the likelihood of their logarithms."""

    def unlikely(logs):
        rate = np.exp(logs)
        found = 0.0
        for gap, width in enumerate(widths):
            expected = float(rate @ width)
            if not histories.changed[gap]:
                found -= expected
            elif not np.isnan(histories.age[gap]):
                found += logs[rows[gap]] - expected
            else:
                found += np.log(-np.expm1(-expected))
        return -found

    best = minimize(unlikely, np.full(cells, np.log(0.1)), method="BFGS", options={"gtol": 1e-6})
    return np.exp(best.x)


@pytest.mark.parametrize("seed", range(3))
def test_the_rates_are_the_most_likely_ones(seed):
    """Against scipy's optimiser, with pieces cut cut year by year; half a change is little."""
    chance = np.random.default_rng(seed)
    gaps = chance.uniform(1, 15, 300)
    changed = chance.random(300) < 0.5
    age = np.where(changed & (chance.random(300) < 0.5), gaps * chance.random(300), np.nan)
    seen = Histories(gaps, changed, np.array([0, 300]), age, first_visit=np.array([NEW_YEAR]))

    years = local_rates(seen, "year")

    edges = np.append(years.start, years.end[-1])
    walls = (edges - NEW_YEAR) / DAY
    ends = np.cumsum(gaps)
    starts = np.where(np.isnan(age), ends - gaps, ends - age)
    widths = [
        np.clip(np.minimum(walls[1:], end) - np.maximum(walls[:-1], start), 0, None)
        for start, end in zip(starts, ends, strict=True)
    ]
    rows = np.searchsorted(walls, starts, side="right") - 1
    expected = most_likely(seen, rows, len(years), widths)
    full = years.own_changes > 15
    assert full.sum() >= 4
    assert years.rate[full] == pytest.approx(expected[full], rel=0.03)


def test_a_change_in_either_of_two_months_tells_less_than_one_in_each():
    """Told changes across two months, six on each side alone: 2 x 2 information by hand."""
    seen = page((21.0, True, np.nan, 6), (20.0, True, np.nan, 4), (18.0, True, np.nan, 6))
    months = local_rates(seen, "month")

    share = months.changes - 6
    matrix = 6.5 * np.eye(2) + np.outer(share, share) / 4
    known = 1 / np.diag(np.linalg.inv(matrix))
    assert months.own_changes == pytest.approx(known - 0.5, rel=1e-3)
    assert (months.own_changes < months.changes).all()


@settings(max_examples=40)
@given(strategies.histories())
def test_every_page_has_figures_in_every_period(histories):
    """Gaps of a second and of thirty years, pages with one visit or none, unknown first visits."""
    for by in BY:
        rows = local_rates(histories, by)

        assert np.isfinite(rows.rate).all()
        assert (rows.rate > 0).all()
        assert (rows.low <= rows.high).all()
        assert (rows.exposure >= 0).all()
        assert (rows.own_changes >= 0).all()
        assert (rows.own_days >= 0).all()
        assert (rows.low <= rows.rate).all()
        assert (rows.rate <= rows.high).all()
        watched = np.bincount(rows.page, rows.exposure, len(histories))
        days = histories.total(np.where(np.isnan(histories.age), histories.gaps, histories.age))
        assert (watched <= days * (1 + 1e-6) + 1e-6 * histories.gaps_of_page).all()


@settings(max_examples=20)
@given(strategies.histories())
def test_all_periods_together_hold_the_dated_changes(histories):
    by_year, by_hour = (local_rates(histories, by) for by in ("year", "hour"))
    dated = histories.total(~np.isnan(histories.age))
    known = ~np.isnat(histories.first_visit)

    for rows in (by_year, by_hour):
        changes = np.bincount(rows.page, rows.changes, len(histories))
        assert (changes[known] >= dated[known] - 1e-9).all()


def test_company_does_not_matter():
    """A page's figures are the same alone and among others."""
    chance = np.random.default_rng(2)
    gaps = chance.exponential(3, 3000)
    changed = chance.random(3000) < 0.4
    first = NEW_YEAR + np.arange(30) * DAY
    many = Histories(gaps, changed, np.arange(31) * 100, first_visit=first)

    for by in BY:
        together, alone = local_rates(many, by), local_rates(many.take(np.array([17])), by)
        rows = together.take(together.page == 17)
        np.testing.assert_array_equal(rows.rate, alone.rate)
        np.testing.assert_allclose(rows.own_changes, alone.own_changes, rtol=1e-9)


@pytest.mark.parametrize("by", BY)
def test_pages_without_much_to_say(by):
    """No visit, one visit, one gap at an unknown time, three visits on one day."""
    first = np.array(["NaT", NEW_YEAR, "NaT", NEW_YEAR], "datetime64[us]")
    seen = history_of(
        [], [], [Seen(1.0, True)], [Seen(0.2, True), Seen(0.2, False)], first_visit=first
    )

    rows = local_rates(seen, by)

    calendar = {"month": 1, "year": 1}
    each = {"weekday": 7, "hour": 24} | calendar
    expected = [0, 1, 0, 1] if by in calendar else [each[by]] * 4
    assert np.bincount(rows.page, minlength=4).tolist() == expected
    assert (rows.status[rows.page < 3] == Status.PRIOR_ONLY).all()


def test_no_pages_have_no_rows():
    for by in BY:
        assert len(local_rates(Histories.from_lists([]), by)) == 0


def coverage(rate: float, gap: float, dated: bool) -> float:
    """Share of months whose band holds the rate, over pages whose months differ."""
    chance = np.random.default_rng(7)
    pages, visits = 150, int(360 / gap)
    rates = np.exp(chance.normal(np.log(rate), 0.7, (pages, 14)))
    gaps = chance.uniform(0.5, 1.5, (pages, visits)) * gap
    ends = np.cumsum(gaps, axis=1)
    months = np.arange("2026-01", "2027-04", dtype="datetime64[M]").astype("datetime64[us]")
    walls = (months - NEW_YEAR) / DAY
    changed = np.zeros(gaps.shape, bool)
    age = np.full(gaps.shape, np.nan)
    for number in range(pages):
        counts = chance.poisson(rates[number] * np.diff(walls))
        at = np.sort(chance.uniform(np.repeat(walls[:-1], counts), np.repeat(walls[1:], counts)))
        at = at[at < ends[number, -1]]
        row = np.searchsorted(ends[number], at)
        changed[number, row] = True
        age[number, row] = ends[number][row] - at
    seen = Histories(
        gaps.ravel(),
        changed.ravel(),
        np.arange(pages + 1) * visits,
        np.minimum(age, np.nextafter(gaps, 0)).ravel() if dated else None,  # type: ignore[arg-type]
        first_visit=np.full(pages, NEW_YEAR),
    )
    rows = local_rates(seen, "month")
    full = rows.end <= NEW_YEAR + 330 * DAY
    truth = rates[rows.page, rows.start.astype("datetime64[M]").astype(int) % 12]
    return float(((rows.low <= truth) & (truth <= rows.high))[full].mean())


@pytest.mark.parametrize("dated", [False, True])
@pytest.mark.parametrize(("rate", "gap"), [(0.5, 1.0), (2.0, 0.3), (0.2, 3.0)])
def test_bands_hold_the_rate_nine_times_in_ten(rate, gap, dated):
    assert coverage(rate, gap, dated) == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize("dated", [False, True])
@pytest.mark.parametrize(("rate", "gap"), [(0.05, 1.0), (0.1, 7.0)])
def test_bands_of_few_changes_hold_the_rate_a_little_more_often(rate, gap, dated):
    """One to three changes a month are whole numbers; the next narrower band would hold 80 %."""
    assert 0.88 < coverage(rate, gap, dated) < 0.95


@pytest.mark.parametrize(
    ("ask", "rule"),
    [
        (lambda: local_rates(page(), "week"), "month, year, weekday, hour"),
        (lambda: local_rates(page(), "month", level=1.0), "level"),
        (lambda: rates_between(page(), NEW_YEAR, NEW_YEAR), "before end"),
        (lambda: rates_between(page(), np.datetime64("NaT", "us"), NEW_YEAR), "before end"),
    ],
)
def test_what_cannot_be_asked_is_refused(ask, rule):
    with pytest.raises(InvalidParameter, match=rule):
        ask()


def years(chance, rates, pages=50):
    """Daily visits for as many years as rows of twelve rates, from 2021 on."""
    first = np.datetime64("2021-01-01", "us")
    days = int((np.datetime64(str(2021 + len(rates)), "us") - first) / DAY)
    month = (first + np.arange(days) * DAY).astype("datetime64[M]").astype(int)
    rate = np.ravel(rates)[month - month[0]]
    changed = chance.random((pages, days)) < -np.expm1(-rate)
    return Histories(
        np.ones(pages * days),
        changed.ravel(),
        np.arange(pages + 1) * days,
        first_visit=np.full(pages, first),
    )


def test_a_page_with_seasons_is_forecast_by_its_season():
    """Januaries are ten times as fast as all other months, for four years."""
    rates = np.full((4, 12), 0.1)
    rates[:, 0] = 1.0
    forecast = seasonal_forecast(years(np.random.default_rng(1), rates), "2025-01")

    assert np.median(forecast.season_weight) > 0.9
    assert np.median(forecast.rate) == pytest.approx(1.0, rel=0.15)
    assert ((forecast.low < 1.0) & (forecast.high > 1.0)).mean() > 0.8


def counted_years(chance, rates):
    """Pages whose changes are all known, month by month: pages x years x 12 rates, from 2021 on."""
    pages, years, _ = rates.shape
    months = np.arange("2021-01", f"{2021 + years}-02", dtype="datetime64[M]")
    days = np.diff(months.astype("datetime64[D]")).astype(float)
    count = chance.poisson(rates.reshape(pages, -1) * days)
    return Histories(
        np.tile(days, pages),
        count.ravel() > 0,
        np.arange(pages + 1) * len(days),
        count=count.ravel(),
        first_visit=np.full(pages, np.datetime64("2021-01-01", "us")),
    )


@pytest.mark.parametrize(
    ("fast", "slow", "spread"), [(0.6, 0.02, 0.0), (0.3, 0.2, 0.0), (1.0, 0.1, 0.2)]
)
def test_a_forecast_holds_the_next_january_nine_times_in_ten(fast, slow, spread):
    """Sharp, mild, and with years that differ by a Gamma factor: the next one has its own."""
    chance = np.random.default_rng(4)
    pages, years = 600, 6
    factor = chance.gamma(1 / spread, spread, (pages, years + 1)) if spread else 1.0
    rates = np.full((pages, years + 1, 12), slow)
    rates[:, :, 0] = fast
    rates *= np.broadcast_to(factor, (pages, years + 1))[:, :, np.newaxis]
    true = rates[:, -1, 0]

    forecast = seasonal_forecast(counted_years(chance, rates[:, :-1]), "2027-01")

    assert ((forecast.low <= true) & (true <= forecast.high)).mean() == pytest.approx(0.9, abs=0.03)
    assert forecast.rate.mean() == pytest.approx(true.mean(), rel=0.06)
    assert np.median(forecast.season_weight) > 0.9


def test_a_season_of_which_every_visit_found_a_change_has_no_upper_bound():
    """Weekly visits to a page that changes twice a day."""
    first = np.array([np.datetime64("2024-01-01", "us")])
    seen = Histories(np.full(104, 7.0), np.ones(104, bool), np.array([0, 104]), first_visit=first)

    assert np.isinf(seasonal_forecast(seen, "2026-01").high).all()


def test_a_page_that_drifts_is_forecast_by_its_last_months():
    """Twice as fast every year, no season: January is as fast as December."""
    rates = np.exp2(np.arange(48).reshape(4, 12) / 12) * 0.05
    forecast = seasonal_forecast(years(np.random.default_rng(2), rates), "2025-01")

    assert np.median(forecast.season_weight) < 0.1
    assert np.median(forecast.rate) == pytest.approx(0.8, rel=0.25)


def test_a_forecast_looks_at_earlier_months_only():
    chance = np.random.default_rng(3)
    quiet, busy = np.full((2, 12), 0.1), np.full((1, 12), 3.0)
    seen = years(chance, np.concatenate([quiet, busy]), pages=5)

    forecast = seasonal_forecast(seen, "2023-01", priors=Priors.one(0.5, 5.0))

    assert (forecast.rate < 0.5).all()


def test_pages_without_a_year_have_no_season():
    """Nor those without a visit, or visited later only."""
    first = np.array(["NaT", NEW_YEAR, NEW_YEAR], "datetime64[us]")
    seen = history_of([], [Seen(1.0, True)] * 2 + [Seen(1.0, False)] * 40, [], first_visit=first)

    forecast = seasonal_forecast(seen, "2026-03")
    earlier = seasonal_forecast(seen, "2020-03")

    assert len(forecast) == 3
    assert forecast.season_weight.tolist() == [0, 0, 0]
    assert np.isnan(forecast.season).all()
    assert forecast.status.tolist() == [Status.PRIOR_ONLY, Status.OK, Status.PRIOR_ONLY]
    assert (earlier.status == Status.PRIOR_ONLY).all()
    assert np.isfinite(earlier.rate).all()


def test_a_forecast_reads_dates_and_counts():
    """A dated change, three told ones and a hidden one; what ends in March is left out."""
    seen = page((10.0, True, 2.0), (10.0, True, np.nan, 3), (10.0, True), (60.0, True, 1.0))

    forecast = seasonal_forecast(seen, "2026-02")
    january = local_rates(seen.take(np.array([0])), "month").take(slice(0, 1))

    assert forecast.status.tolist() == [Status.OK]
    assert forecast.recent[0] == pytest.approx(january.rate[0], rel=0.5)
