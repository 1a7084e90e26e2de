"""Each rival against its rule, written out for one page in the rival's own unit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidParameter
from recrawl.policies.rivals.aduana import Aduana
from recrawl.policies.rivals.c01 import C01
from recrawl.policies.rivals.heritrix import Heritrix
from recrawl.policies.rivals.interval import VisitRows
from recrawl.policies.rivals.miniflux import Miniflux
from recrawl.policies.rivals.newsblur import NewsBlur
from recrawl.policies.rivals.nutch import Nutch
from recrawl.policies.rivals.scrapy import Scrapy
from recrawl.policies.rivals.stormcrawler import NEWS_CRAWL, StormCrawler
from recrawl.units import epoch_days
from tests.policies.crawls import GAP, START, later, visits, waits

CLOSE: Any = {"rtol": 1e-9, "atol": 2e-11}  # two microseconds, which instants may round away


def moments(seen):
    """Visits in days after 1970, to the last bit as policies see them."""
    now = epoch_days(later(np.cumsum([gap for gap, _ in seen])))
    return zip(now.tolist(), [changed for _, changed in seen], strict=True)


def nutch(seen, inc=0.4, dec=0.2, first=GAP * 86_400, *, sync=True):
    """Seconds to wait after each visit, as AdaptiveFetchSchedule sets them."""
    now = modified = 0.0
    interval, least, most = first, 60, 31_536_000
    for gap, changed in seen:
        now += gap * 86_400
        if changed:
            interval *= 1 - dec
            modified = now
        else:
            interval *= 1 + inc
        reference = now
        if sync:
            delta = now - modified
            interval = max(interval, delta)
            offset = 0.3 * delta
            reference = now - (0 if offset > most else offset)
        interval = min(max(math.floor(interval + 0.5), least), most)
        yield max(reference + interval, now) - now


@given(visits, st.booleans())
def test_nutch_follows_its_schedule(seen, sync):
    expected = [seconds / 86_400 for seconds in nutch(seen, sync=sync)]

    np.testing.assert_allclose(waits(Nutch(sync=sync), seen), expected, **CLOSE)


@given(visits)
def test_nutch_follows_other_shares(seen):
    rule = Nutch(more=0.2, less=0.3, first=30.0, sync=False)
    expected = [s / 86_400 for s in nutch(seen, 0.2, 0.3, 2_592_000, sync=False)]

    np.testing.assert_allclose(waits(rule, seen), expected, **CLOSE)


def test_nutch_with_sync_waits_as_long_as_nothing_happened():
    """After 100 quiet days it waits 100 days, counted from 30 days before the visit."""
    assert waits(Nutch(), [(100.0, False)]) == pytest.approx([70.0])


def stormcrawler(seen, least=60, most=20_160, incr=0.5, decr=0.5):
    """Minutes to wait after each visit, as AdaptiveScheduler sets them."""
    interval = 1440
    for _, changed in seen:
        if changed:
            interval = int((1 - decr) * interval + decr * least)
        else:
            interval = min(int(interval * (1 + incr)), most)
        yield interval


@given(visits)
def test_stormcrawler_follows_its_scheduler(seen):
    expected = [minutes / 1440 for minutes in stormcrawler(seen)]

    np.testing.assert_allclose(waits(StormCrawler(), seen), expected, **CLOSE)


@given(visits)
def test_the_news_crawl_has_bounds_and_shares_of_its_own(seen):
    expected = [minutes / 1440 for minutes in stormcrawler(seen, 90, 129_600, 0.5, 0.2)]

    np.testing.assert_allclose(waits(NEWS_CRAWL, seen), expected, **CLOSE)


def heritrix(seen, *, use_overdue=False):
    """Milliseconds to wait after each visit, as WaitEvaluator sets them."""
    hour, day = 3_600_000, 86_400_000
    interval = float(day)
    for gap, changed in seen:
        if use_overdue:
            interval += max(gap * day - interval, 0)
        interval = interval / 1.5 if changed else interval * 1.5
        interval = min(max(interval, hour), 28 * day)
        yield interval


@given(visits, st.booleans())
def test_heritrix_follows_its_evaluator(seen, use_overdue):
    expected = [ms / 86_400_000 for ms in heritrix(seen, use_overdue=use_overdue)]

    np.testing.assert_allclose(waits(Heritrix(use_overdue=use_overdue), seen), expected, **CLOSE)


def miniflux(seen, most=1.0):
    """Days to wait after each visit, by entries of the last week."""
    found = []
    for now, changed in moments(seen):
        if changed:
            found.append(now)
        recent = [time for time in found if now - 7 < time <= now]
        weekly = 0
        if len(recent) >= 2 and max(recent) > min(recent):
            weekly = math.ceil(7 * (len(recent) - 1) / (max(recent) - min(recent)))
        yield most if weekly <= 0 else min(max(7 / weekly, 5 / 1440), most)


# Gaps that many of fit into a week, in whole minutes so that no rounding decides.
short_visits = st.lists(
    st.tuples(st.integers(7, 3000).map(lambda minutes: minutes / 1440), st.booleans()),
    min_size=1,
    max_size=40,
)


@given(short_visits, st.sampled_from([1.0, 28.0]))
def test_miniflux_follows_the_entries_of_a_week(seen, longest):
    expected = list(miniflux(seen, longest))

    np.testing.assert_allclose(waits(Miniflux(longest=longest), seen), expected, **CLOSE)


def newsblur(seen, subs):
    """Least and most minutes to wait after each visit, lots aside."""
    found, last = [], float(epoch_days(START))
    for now, changed in moments(seen):
        if changed:
            found.append(now)
            last = now
        spd = sum(time > now - 30 for time in found) / 30
        if spd >= 1:
            minutes = 6 if subs >= 10 else 15 if subs > 1 else 45
        elif spd > 0:
            minutes = (60 if subs > 1 else 360) * (1 - spd)
        else:
            months = max(1, (now - last) / 30)
            minutes = (360 if subs > 1 else 720 if subs == 1 else 1440) * months
        minutes = min(minutes, 240 if subs >= 1 else 2880)
        yield minutes, minutes + math.floor(minutes) / (1 if minutes <= 5 else 4)


@given(short_visits, st.sampled_from([0, 1, 2, 10]))
def test_newsblur_waits_by_stories_and_subscribers(seen, subscribers):
    found = np.array(waits(NewsBlur(subscribers), seen)) * 1440
    least, most = zip(*newsblur(seen, subscribers), strict=True)

    assert (found >= np.array(least) - 1e-6).all()
    assert (found <= np.array(most) + 1e-6).all()


def test_newsblur_adds_jitter_to_its_visits():
    """Half of a quarter is added on average."""
    found = np.array(waits(NewsBlur(), [(1.0, False)] * 2000)) * 1440

    assert found.mean() == pytest.approx(240 * 1.125, rel=0.01)
    assert len(set(found.round(6))) > 200


dated = st.lists(
    st.tuples(st.integers(1, 50).map(float), st.sampled_from(["no", "dated", "undated"])),
    min_size=1,
    max_size=20,
)


@given(dated, st.floats(0, 1))
def test_scrapy_waits_a_tenth_of_the_age(seen, share):
    """Nothing where the age is not known: before the first date, and after an undated change."""
    now, modified, expected, told = 0.0, None, [], []
    for gap, kind in seen:
        now += gap
        if kind != "no":
            modified = now - share * gap if kind == "dated" else None
        expected.append(0.0 if modified is None else min(0.1 * (now - modified), 365))
        told.append((gap, kind != "no", share * gap if kind == "dated" else np.nan))

    np.testing.assert_allclose(waits(Scrapy(), told), expected, atol=1e-10)


@given(visits)
def test_aduana_counts_one_change_more(seen):
    days = np.cumsum([gap for gap, _ in seen])
    changes = np.cumsum([changed for _, changed in seen])

    np.testing.assert_allclose(waits(Aduana(scale=2.0), seen), days / (2 * (changes + 1)), **CLOSE)


@given(visits, st.sampled_from(["changes", "nochanges"]), st.booleans())
def test_c01_follows_its_two_forms(seen, form, as_coded):
    expected = []
    for number in range(1, len(seen) + 1):
        mean = sum(gap for gap, _ in seen[:number]) / number
        changes = sum(changed for _, changed in seen[:number])
        n, x = (number + 1, changes + 1) if as_coded else (number, max(changes, 1))
        period = mean * n / x if form == "changes" else mean / -math.log((n - x + 0.5) / (n + 0.5))
        expected.append(period if number + 1 >= 5 else GAP)
    rule = C01(form, "hashes" if as_coded else "changes")

    np.testing.assert_allclose(waits(rule, seen), expected, **CLOSE)


@pytest.mark.parametrize(
    ("rule", "settles"),
    [
        (Nutch(shortest=1e-9, longest=1e9, sync=False), 0.919),
        (Nutch(more=0.2, shortest=1e-9, longest=1e9, sync=False), 0.597),
        (StormCrawler(shortest=1 / 1440, longest=1e9), 0.461),
        (StormCrawler(less=0.2, shortest=1 / 1440, longest=1e9), 1.036),
        (Heritrix(shortest=1e-9, longest=1e9), 0.693),
    ],
)
def test_intervals_settle_where_the_rule_says(rule, settles):
    """The mean of ln(rate * interval) after many visits; mean drift is 0 at the reference value.

    P(change) = ln(up) / (ln(up) + ln(down)) there. The mean of the logarithm lies near it: the
    chance of a change is concave in the logarithm, which costs a few percent.
    """
    random = np.random.default_rng(1)
    pages, rate = 4000, 0.01
    rows, unknown = np.arange(pages), np.full(pages, np.nan)
    _, memory = rule.begin(np.zeros(pages))
    interval = np.full(pages, 60.0)
    if hasattr(memory, "seconds"):
        memory.seconds[:] = interval * 86_400
    chance = []
    for turn in range(300):
        changed = random.random(pages) < -np.expm1(-rate * interval)
        if turn >= 100:
            chance.append(changed.mean())
        interval = rule.after(
            memory, rows, VisitRows(interval, interval, interval, changed, unknown, GAP)
        )

    assert np.mean(chance) == pytest.approx(-np.expm1(-settles), rel=0.005)
    assert np.exp(np.mean(np.log(rate * interval))) == pytest.approx(settles, rel=0.15)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Nutch(more=-1.0),
        lambda: Nutch(less=1.5),
        lambda: Nutch(first=0.0),
        lambda: Nutch(shortest=2.0, longest=1.0),
        lambda: StormCrawler(first=100.0),
        lambda: Heritrix(sooner=0.0),
        lambda: Miniflux(factor=0.0),
        lambda: NewsBlur(subscribers=-1),
        lambda: Scrapy(shortest=-1.0),
        lambda: Aduana(scale=np.inf),
        lambda: C01("both"),  # type: ignore[arg-type]
        lambda: C01(counted="both"),  # type: ignore[arg-type]
        lambda: C01(warm_up=1),
    ],
)
def test_parameters_that_mean_nothing_are_refused(wrong):
    with pytest.raises(InvalidParameter, match="got"):
        wrong()
