"""When to look at a source of new pages, and how many pages nobody has found."""

from dataclasses import replace
from math import exp, inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from recrawl.entries.entries import PagesFound
from recrawl.entries.sources import Source, SourceKind, SourceLooked
from recrawl.frontier.sources import (
    LookTerms,
    SourceTable,
    expected_unknown,
    look_interval,
    next_look,
    unknown_pages,
    usual_price,
    value_of_look,
)
from recrawl.plan.objectives import OBJECTIVES, Missed
from recrawl.units import SECONDS_A_DAY

MINUTE, DAY = 1 / 1440, SECONDS_A_DAY
PRICE = LookTerms(price=0.01)


def source(*looks, kind=SourceKind.FEED, **more):
    """A source after looks at some days, each with so many new addresses."""
    found = Source("https://a.org/feed", "https://a.org", kind, **more)
    for day, new in looks:
        found = found.after_look(day * DAY, new)
    return found


# What looks teach.


def by_scale(new, days, dispersion):
    """Rate by hand: a mean over four scales of the prior, the fast ones rare."""
    scales = 0.1 / 10.0 ** np.arange(4)
    odds = 20.0 ** -np.arange(4) * scales**0.1 / (scales + days) ** (0.1 + new / dispersion)
    return float(np.sum(odds * (0.1 + new) / (scales + days)) / np.sum(odds))


def test_a_rate_is_what_was_new_over_the_days_it_took():
    """About (2 + 4) / (0.5 + 0.5), but for the prior and for what is forgotten in half a day."""
    kept = exp(-0.5 / 7)

    seen = source((0, 99), (0.5, 2), (1.0, 4))

    new, days = kept * 2 + 4, kept * 0.5 + 0.5
    assert (seen.new, seen.exposure) == pytest.approx((new, days))
    assert seen.rate == pytest.approx(by_scale(new, days, seen.dispersion))
    assert seen.rate == pytest.approx(new / days, rel=0.1)


def test_the_first_look_teaches_nothing():
    assert source((0, 99)).rate == source().rate == pytest.approx(by_scale(0, 0, 1))
    assert 1 < source().rate < 2


@pytest.mark.parametrize("seconds", [10, 60, 600, DAY / 10, DAY, 30 * DAY])
def test_learning_takes_as_many_looks_however_fast_a_source_is(seconds):
    """One address in a gap, ten times: whatever the gap, the rate is right within a third."""
    gap = seconds / DAY
    seen = source((0, 9), *[(number * gap, 1) for number in range(1, 11)])

    assert seen.rate == pytest.approx(1 / gap, rel=0.33)
    unknown = unknown_pages([seen], 12 * gap)
    assert unknown.low < 2 < unknown.high
    assert unknown.mean == pytest.approx(2, rel=0.33)


def test_a_source_that_never_had_news_is_not_taken_for_a_fast_one():
    """A thousand hubs that were looked at twice in a minute: fewer than five new pages expected."""
    seen = source((0, 9), (MINUTE / 2, 0), (MINUTE, 0))

    assert 1000 * unknown_pages([seen], 2 * MINUTE).mean < 5


def test_a_source_that_turns_fast_or_falls_silent_is_learnt_anew():
    """Its counts are of days, in which a minute would never weigh anything."""
    daily = [(day, 1) for day in range(1, 15)]
    minutely = [(14 + number * MINUTE, 1) for number in range(1, 6)]
    hushed = [(14 + 5 * MINUTE + number * 10 * MINUTE, 0) for number in range(1, 4)]

    assert source((0, 0), *daily).rate == pytest.approx(1, rel=0.1)
    assert source((0, 0), *daily, *minutely).rate == pytest.approx(1440, rel=0.33)
    assert source((0, 0), *daily, *minutely, *hushed).rate < 50


def test_a_batch_is_one_piece_of_news():
    """Forty pages every third day are no forty a minute, whenever the look comes."""
    looks = [(day / 4, 40 * (day % 12 == 0)) for day in range(1, 97)]
    seen = source((0, 0), *looks).after_look((24 + 1 / 24) * DAY, 40)

    assert seen.rate < 2 * 40 / 3


def test_rare_looks_are_forgotten_by_their_number():
    """A gap of 7 days keeps e^-1/8 of what was known, one of half a day e^-1/14."""
    rare, often = source((0, 0), (7, 8), (14, 0)), source((0, 0), (0.5, 8), (1, 0))

    assert rare.new == pytest.approx(8 * exp(-1 / 8))
    assert often.new == pytest.approx(8 * exp(-1 / 14))


def test_a_failure_teaches_nothing():
    seen = source((0, 9), (1, 2))

    assert seen.after_failure(2 * DAY).rate == seen.rate


@pytest.mark.parametrize("day", [1.0, 0.5])
def test_a_look_that_is_written_after_a_later_one_adds_addresses_and_no_days(day):
    before = source((0, 9), (1, 2))

    seen = before.after_look(day * DAY, 5)

    assert (seen.new, seen.exposure) == (before.new + 5, before.exposure)
    assert seen.looked_at_seconds == 1 * DAY


def test_two_looks_at_once_both_count():
    """Both began from the same source: the one that is written second adds to the first."""
    began = source((0, 9), kind=SourceKind.HUB)
    looks = [SourceLooked(began, PagesFound([], [], [], day * DAY)) for day in (1.0, 1.5)]

    seen = looks[1].learned(looks[0].learned(began, 4), 2)

    assert seen == began.after_look(1.0 * DAY, 4).after_look(1.5 * DAY, 2)


def test_the_rate_of_a_steady_source_is_found():
    random = np.random.default_rng(2)
    seen = source((0, 0))
    for look in range(1, 500):
        seen = seen.after_look(look * 0.1 * DAY, int(random.poisson(1.2)))

    # Some 84 addresses count, so one standard deviation is 11 %.
    assert seen.rate == pytest.approx(12.0, rel=0.33)
    assert 0.5 < seen.dispersion < 1.7


def test_batches_scatter_more():
    """Forty at once, every fourth look: variance over mean is 30."""
    seen = source((0, 0))
    for look in range(1, 200):
        seen = seen.after_look(look * DAY, 40 if look % 4 == 0 else 0)

    assert seen.rate == pytest.approx(10, rel=0.2)
    assert seen.dispersion == pytest.approx(30, rel=0.3)


@given(
    gaps=st.lists(st.floats(0.001, 30), min_size=1, max_size=20),
    new=st.lists(st.integers(0, 50_000), min_size=20, max_size=20),
)
def test_a_rate_stays_between_nothing_and_the_fastest_gap(gaps, new):
    days = np.cumsum(gaps)
    looks = list(zip(days.tolist(), new, strict=False))
    seen = source((0, 9), *looks)
    fastest = max((count + 0.1) / gap for gap, (_, count) in zip(gaps, looks, strict=True))

    assert 0 < seen.rate <= max(fastest, source().rate) + 1e-9
    assert seen.dispersion >= 1
    later = days[-1] * DAY + 60.0
    assert seen.after_look(later, 0).rate < seen.after_look(later, 1).rate


def test_dates_of_a_feed_give_a_first_rate():
    """Of ten entries the newest three count: what a site was like a month ago says little."""
    now = 10 * DAY
    old = [now - day * DAY for day in range(3, 10)]
    dated = source().with_dates([*old, *(now - each * 1800 for each in (1, 2, 3))], now)

    assert (dated.new, dated.exposure * 24) == pytest.approx((3.0, 1.5))
    assert source().with_dates([now + 60.0], now) == source()


def test_a_sitemap_whose_date_stood_still_though_it_had_news_is_looked_at_by_itself():
    seen = source((0, 9), kind=SourceKind.SITEMAP, follows_index=True)
    found = PagesFound([], [], [], DAY)

    assert SourceLooked(seen, found).learned(seen, 0).follows_index
    assert SourceLooked(seen, found, announced=True).learned(seen, 3).follows_index
    assert not SourceLooked(seen, found).learned(seen, 3).follows_index


# What a look is worth.


def test_a_look_is_worth_what_a_visit_is_to_a_page_that_misses_changes():
    """One missing page and one missed change cost the same, so the objective has the value."""
    value = Missed().value(np.array([4.0]), np.array([0.3]))[0]

    assert value_of_look(4.0, 0.3, PRICE) == pytest.approx(value)


@pytest.mark.parametrize("power", [1, 2])
def test_the_value_is_that_of_the_cost_of_pages_that_are_late(power):
    """V = t c(t) - integral of c, where c adds up what each page costs that came since."""

    def cost(elapsed):
        return quad(lambda late: 5.0 * late ** (power - 1), 0, elapsed)[0]

    value = 0.7 * cost(0.7) - quad(cost, 0, 0.7)[0]

    assert value_of_look(5.0, 0.7, replace(PRICE, power=power)) == pytest.approx(value)


@given(
    rate=st.floats(0.2, 1000),
    price=st.floats(1e-6, 1),
    weight=st.floats(0.1, 10),
    power=st.integers(0, 2),
)
def test_a_look_is_made_when_it_is_worth_its_price(rate, price, weight, power):
    seen = source(new=rate * 10 - 0.1, exposure=9.9)
    terms = LookTerms(price, weight, power)
    interval = look_interval(seen, terms)

    if MINUTE < interval < 7:
        assert value_of_look(seen.rate, interval, terms) == pytest.approx(price)
    elif interval == MINUTE:
        assert value_of_look(seen.rate, interval, terms) >= price * (1 - 1e-9)


def test_a_large_body_costs_more():
    """A sitemap of 3 MB costs as much as four requests, so it is looked at half as often."""
    small = source(new=99.9, exposure=9.9)
    large = replace(small, size=3 << 20)

    assert look_interval(large, PRICE) == pytest.approx(2 * look_interval(small, PRICE))


# When to look.


def looks_of(births, terms, days):
    """Instants of looks at a source whose births are a function of the day."""
    seen, at, times = source((0, 0)), 0.0, []
    while (due := next_look(seen, terms)) < days:
        seen = seen.after_look(due * DAY, births(at, due))
        times.append(due)
        at = due
    return np.diff(times)


def test_a_source_that_brings_nothing_is_looked_at_ever_more_rarely():
    gaps = looks_of(lambda *_: 0, PRICE, 60)

    assert (np.diff(gaps) > -1e-9).all()
    assert gaps[0] < 0.3
    assert 1 < gaps[-1] <= 7


def test_a_busy_feed_is_looked_at_within_minutes_where_the_budget_allows():
    """Two hundred a day, a price of 0.001: the root of 2 x 0.001 / 200 is 4.6 minutes."""
    gaps = looks_of(lambda begin, end: int(200 * end) - int(200 * begin), LookTerms(0.001), 3)

    assert np.median(gaps[-50:]) == pytest.approx(4.6 * MINUTE, rel=0.15)


@pytest.mark.parametrize(
    ("change", "days"),
    [
        ({"delay": MINUTE}, 10 * MINUTE),  # a tenth of what the host allows
        ({"backlog": 0.5}, 0.5),  # what is found would only wait
        ({"backlog": 90.0}, 7.0),
        ({"fixed": 0.25}, 0.25),
        ({"price": inf}, 7.0),
        ({"price": 0.0}, 10 * (1 / DAY)),
    ],
)
def test_bounds_of_an_interval(change, days):
    seen = source(new=1e9, exposure=30.0)
    assert look_interval(seen, replace(LookTerms(1e-9), **change)) == days


def test_a_source_that_tells_of_changes_is_looked_at_every_day():
    terms = LookTerms(price=100.0)

    seen, by_hand = source(exposure=30.0), replace(terms, fixed=0.01)
    assert look_interval(replace(seen, dated=True), terms) == 1.0
    assert look_interval(replace(seen, follows_index=True), by_hand) == 1.0
    assert look_interval(replace(seen, kind=SourceKind.HUB), by_hand) == 7.0


def test_a_new_source_is_probed_and_then_left_for_as_long_as_it_was_watched():
    """As far as a look in ten visits pays for it, and not where an index has hundreds."""
    terms = LookTerms(price=100.0, visit_every=MINUTE / 2)

    gaps = looks_of(lambda *_: 0, terms, 1.0) / MINUTE
    assert gaps[:5] == pytest.approx([5, 10, 20, 40, 79], rel=0.02)
    assert look_interval(source(), replace(terms, visit_every=0.01)) == 0.1
    assert look_interval(source(parent="https://a.org/index"), terms) == 7.0


def test_what_was_never_seen_is_due_and_what_fails_backs_off():
    assert next_look(source(), PRICE) == -inf
    seen = source((0, 9)).after_failure(DAY)
    assert next_look(seen, PRICE) == pytest.approx(1 + 10 * MINUTE)
    never = source().after_failure(DAY)
    assert next_look(never, PRICE) == 2
    assert next_look(never.after_failure(2 * DAY), PRICE) == 4
    assert next_look(source(), LookTerms(0.01, fixed=inf)) == inf


def test_a_policy_without_values_has_the_usual_price():
    """A page that changes once a gap of two days: the harmonic value is 2 / e."""
    assert usual_price(OBJECTIVES["harmonic"], 2.0) == pytest.approx(2 / np.e)


# What nobody has found.


def test_unknown_pages_add_up_and_an_index_counts_for_nothing():
    feed = source((0, 0), (1, 3))
    index = replace(feed, address="https://a.org/index")
    child = replace(feed, address="https://a.org/child", parent=index.address)
    assert expected_unknown([feed, index, child], 2.5) == pytest.approx(2 * feed.rate * 1.5)
    assert expected_unknown([source()], 9.0) == 0.0
    assert unknown_pages([], 9.0).high == 0.0


def test_the_band_holds_what_there_is():
    """Sources that bring batches, of which looks know only what they have seen."""
    random, held = np.random.default_rng(5), 0
    for _ in range(200):
        rate, size = np.exp(random.normal(1, 1)), int(random.integers(1, 8))
        seen = source((0, 0))
        for look in range(1, 25):
            seen = seen.after_look(look * DAY, size * int(random.poisson(rate / size)))
        unknown = unknown_pages([seen], 25.5)
        really = size * int(random.poisson(1.5 * rate / size))
        held += unknown.low - 0.5 <= really <= unknown.high + 0.5

    assert 165 <= held <= 200


def test_a_table_keeps_the_sources_of_each_origin():
    feed, hub = source(), replace(source(), address="https://b.org/", origin="https://b.org")
    table = SourceTable([feed, hub])
    table.put(replace(feed, failures=2))
    table.drop(hub)

    assert table.get("https://a.org", feed.address) == replace(feed, failures=2)
    assert table.of("https://b.org") == []
    assert (table.count("https://a.org"), len(list(table))) == (1, 1)
