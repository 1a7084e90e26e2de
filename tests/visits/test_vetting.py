"""Each row of the table of normalisation by hand, then all of them at once against slow Python."""

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl import AnswerKind, Flag, Vetting, Visit, histories_of
from recrawl.arrays.texts import Texts
from recrawl.errors import InvalidParameter
from recrawl.units import days_between
from recrawl.visits.rows import UNKNOWN_TIME, Rows, digest_hashes
from recrawl.visits.vetting import vet, vet_log
from tests.visits.slow_vetting import SECOND, Look, Story, flags_of, story_of

SAME, DIFFERS, UNKNOWN = False, True, None
START = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = 3600


def at(seconds):
    return START + timedelta(seconds=seconds)


def look(seconds, changed=UNKNOWN, dated=None, answer=AnswerKind.OK):
    date = None if dated is None else at(dated)
    return Visit("/a", at(seconds), changed=changed, last_modified=date, answer=answer)


def vetted(*visits, vetting=None):
    """The one page's gaps as (seconds, changed, seconds from the change or None), and its flags."""
    _, histories = histories_of(visits, vetting)
    seconds = np.rint(histories.gaps * 86_400e6) / 1e6
    ages = [None if np.isnan(age) else round(age * 86_400, 6) for age in histories.age.tolist()]
    gaps = list(zip(seconds.tolist(), histories.changed.tolist(), ages, strict=True))
    return gaps, flags_of(int(histories.flags[0]))


# The table. The visit before is at 0 h, this one at 10 h.


@pytest.mark.parametrize("dated", [None, -HOUR, 0])
def test_same_content_is_unchanged(dated):
    """Whatever the date, also where it equals the visit before."""
    assert vetted(look(0), look(10 * HOUR, SAME, dated)) == ([(36_000, False, None)], set())


@pytest.mark.parametrize("dated", [1, 4 * HOUR, 10 * HOUR, 10 * HOUR + 100, 20 * HOUR])
def test_same_content_under_a_new_date_was_touched(dated):
    """A date after the visit before, of any kind, is flagged; the content decides."""
    gaps, flags = vetted(look(0), look(10 * HOUR, SAME, dated))

    assert gaps == [(36_000, False, None)]
    assert flags == {"lm_touch"}


@pytest.mark.parametrize(("dated", "age"), [(1e-6, 36_000 - 1e-6), (25_200, 10_800), (36_000, 0)])
def test_other_content_dated_in_the_gap_changed_at_that_date(dated, age):
    """From just after the visit before up to this visit."""
    assert vetted(look(0), look(10 * HOUR, DIFFERS, dated)) == ([(36_000, True, age)], set())


@pytest.mark.parametrize("dated", [0, -1, -1000 * HOUR])
def test_other_content_under_an_old_date_is_a_change_and_the_date_is_stale(dated):
    """The tie, a date equal to the visit before, is stale, too."""
    gaps, flags = vetted(look(0), look(10 * HOUR, DIFFERS, dated))

    assert gaps == [(36_000, True, None)]
    assert flags == {"lm_stale"}


def test_other_content_without_a_date_is_a_change():
    assert vetted(look(0), look(10 * HOUR, DIFFERS)) == ([(36_000, True, None)], set())


@pytest.mark.parametrize("ahead", [1e-6, 1, 300])
def test_a_date_slightly_ahead_is_a_clock_that_runs_fast(ahead):
    """Up to 300 s; the change is then put one second before the visit."""
    gaps, flags = vetted(look(0), look(10 * HOUR, DIFFERS, 10 * HOUR + ahead))

    assert gaps == [(36_000, True, 1)]
    assert flags == {"lm_skew"}


@pytest.mark.parametrize("ahead", [300.000001, 301, 1e8])
def test_a_date_far_ahead_is_not_believed(ahead):
    gaps, flags = vetted(look(0), look(10 * HOUR, DIFFERS, 10 * HOUR + ahead))

    assert gaps == [(36_000, True, None)]
    assert flags == {"lm_future"}


@pytest.mark.parametrize(("dated", "age"), [(1e-6, 36_000 - 1e-6), (25_200, 10_800), (36_000, 0)])
def test_a_new_date_alone_is_a_change_at_that_date(dated, age):
    """Nobody compared the content, as after a HEAD request."""
    assert vetted(look(0), look(10 * HOUR, UNKNOWN, dated)) == ([(36_000, True, age)], set())


@pytest.mark.parametrize("ahead", [1e-6, 300])
def test_a_date_alone_that_is_slightly_ahead_is_a_change_too(ahead):
    gaps, flags = vetted(look(0), look(10 * HOUR, UNKNOWN, 10 * HOUR + ahead))

    assert gaps == [(36_000, True, 1)]
    assert flags == {"lm_skew"}


@pytest.mark.parametrize("dated", [0, -1, -1000 * HOUR])
def test_an_old_date_alone_is_no_change(dated):
    """The tie is no change: Cho and Garcia-Molina's figure 10 tests strictly."""
    assert vetted(look(0), look(10 * HOUR, UNKNOWN, dated)) == ([(36_000, False, None)], set())


def test_not_modified_is_no_change():
    gaps, flags = vetted(look(0), look(10 * HOUR, answer=AnswerKind.NOT_MODIFIED))

    assert gaps == [(36_000, False, None)]
    assert flags == set()


@pytest.mark.parametrize("dated", [5 * HOUR, 10 * HOUR + 100, 20 * HOUR])
def test_not_modified_is_no_change_even_under_a_new_date(dated):
    gaps, flags = vetted(look(0), look(10 * HOUR, UNKNOWN, dated, AnswerKind.NOT_MODIFIED))

    assert gaps == [(36_000, False, None)]
    assert flags == {"lm_touch"}


def test_not_modified_gives_way_to_content_that_was_compared():
    """The content decides whether; the host's word only where nobody compared."""
    gaps, flags = vetted(look(0), look(10 * HOUR, DIFFERS, 5 * HOUR, AnswerKind.NOT_MODIFIED))

    assert gaps == [(36_000, True, 18_000)]
    assert flags == set()


def test_a_visit_that_tells_nothing_leaves_the_gap_open():
    assert vetted(look(0), look(HOUR), look(3 * HOUR, SAME)) == ([(10_800, False, None)], set())


def test_a_date_alone_that_is_far_ahead_tells_nothing():
    visits = (look(0), look(HOUR, UNKNOWN, HOUR + 301), look(3 * HOUR, DIFFERS, 2 * HOUR))

    assert vetted(*visits) == ([(10_800, True, 3600)], {"lm_future"})


def test_a_date_is_compared_with_the_last_visit_that_told_something():
    """The change at 2 h lies before the open visit at 3 h and is still in the gap."""
    visits = (look(0), look(3 * HOUR), look(5 * HOUR, UNKNOWN, 2 * HOUR))

    assert vetted(*visits) == ([(18_000, True, 10_800)], set())


# Order, duplicates, failures, ends.


def test_visits_in_any_order_are_put_in_order():
    visits = (look(5 * HOUR, DIFFERS), look(0), look(2 * HOUR, SAME))

    assert vetted(*visits) == ([(7200, False, None), (10_800, True, None)], set())


@pytest.mark.parametrize(("one", "other"), [(SAME, DIFFERS), (DIFFERS, SAME), (UNKNOWN, DIFFERS)])
def test_visits_of_one_instant_are_one_visit(one, other):
    """It changed if either says so, at the newest date."""
    visits = (look(0), look(HOUR, one, 600), look(HOUR, other, 1800), look(2 * HOUR, SAME))

    assert vetted(*visits)[0] == [(3600, True, 1800), (3600, False, None)]


def test_visits_of_one_second_are_one_visit_at_the_time_of_the_first():
    visits = (look(0), look(HOUR + 0.2, SAME), look(HOUR + 0.9, DIFFERS), look(2 * HOUR, SAME))

    assert vetted(*visits)[0] == [(3600.2, True, None), (3599.8, False, None)]


def test_visits_in_neighbouring_seconds_are_two():
    """However close: a gap is positive, and that is all an estimator needs."""
    visits = (look(0), look(HOUR - 1e-6, SAME), look(HOUR, DIFFERS))

    assert vetted(*visits)[0] == [(3599.999999, False, None), (1e-6, True, None)]


def test_a_change_in_a_gap_shorter_than_the_resolution_is_half_a_gap_old():
    """An age of a second would lie before the gap."""
    visits = (look(0.5), look(1.5, DIFFERS, 2))

    assert vetted(*visits)[0] == [(1, True, 0.5)]


def test_the_first_visit_is_the_baseline_whatever_it_says():
    assert vetted(look(0, DIFFERS), look(HOUR, SAME)) == ([(3600, False, None)], set())


def test_a_failed_visit_is_no_visit():
    visits = (look(0), look(HOUR, DIFFERS, 1800, AnswerKind.FAILED), look(3 * HOUR, SAME))

    assert vetted(*visits) == ([(10_800, False, None)], set())


def test_a_page_that_never_answered_has_no_visits():
    names, histories = histories_of([look(0, answer=AnswerKind.FAILED)])

    assert names == ["/a"]
    assert histories.visits.tolist() == [0]
    assert np.isnat(histories.first_visit).all()


def test_gone_after_a_visit_is_a_change_that_ends_the_history():
    """Its date, if a 404 has one, is that of the error page."""
    visits = (look(0), look(HOUR, SAME), look(3 * HOUR, SAME, 2 * HOUR, AnswerKind.GONE))

    assert vetted(*visits) == ([(3600, False, None), (7200, True, None)], {"gone"})


def test_gone_again_and_again_is_gone_once():
    visits = (look(0), look(HOUR, answer=AnswerKind.GONE), look(2 * HOUR, answer=AnswerKind.GONE))

    assert vetted(*visits) == ([(3600, True, None)], {"gone"})


@pytest.mark.parametrize(
    ("back", "changed"),
    [
        (look(3 * HOUR, DIFFERS), True),
        (look(3 * HOUR, SAME), False),
        (look(3 * HOUR, answer=AnswerKind.NOT_MODIFIED), False),
        (look(3 * HOUR, UNKNOWN, 2 * HOUR), True),
        (look(3 * HOUR, UNKNOWN, -HOUR), False),
    ],
)
def test_a_page_that_comes_back_goes_on_by_what_its_return_shows(back, changed):
    """Its absence lies in the gap; nobody saw when it began or ended."""
    absences = (look(HOUR, DIFFERS, answer=AnswerKind.GONE), look(HOUR + 9, answer=AnswerKind.GONE))

    gaps, flags = vetted(look(0), *absences, back, look(4 * HOUR, SAME))

    assert [gap[:2] for gap in gaps] == [(10_800, changed), (3600, False)]
    assert flags == {"returned"}


def test_a_return_that_tells_nothing_leaves_the_gap_open():
    visits = (look(0), look(HOUR, answer=AnswerKind.GONE), look(2 * HOUR), look(3 * HOUR, SAME))

    assert vetted(*visits) == ([(10_800, False, None)], {"returned"})


def test_a_page_that_comes_back_and_goes_for_good_is_both():
    visits = (look(0), look(HOUR, answer=AnswerKind.GONE), look(2 * HOUR, SAME))

    gaps, flags = vetted(*visits, look(4 * HOUR, answer=AnswerKind.GONE))

    assert gaps == [(7200, False, None), (7200, True, None)]
    assert flags == {"gone", "returned"}


def test_a_failure_after_gone_is_no_return():
    visits = (look(0), look(HOUR, answer=AnswerKind.GONE), look(2 * HOUR, answer=AnswerKind.FAILED))

    assert vetted(*visits)[1] == {"gone"}


def test_gone_before_the_first_visit_is_nothing():
    """The page was not there yet."""
    visits = (look(0, answer=AnswerKind.GONE), look(HOUR), look(2 * HOUR, SAME))

    assert vetted(*visits) == ([(3600, False, None)], set())


def test_a_page_that_was_only_ever_gone_has_no_visits():
    _, histories = histories_of([look(0, answer=AnswerKind.GONE), look(1, answer=AnswerKind.GONE)])

    assert histories.visits.tolist() == [0]
    assert histories.flags.tolist() == [0]


# Dates that the server makes up.


def stamped(ages):
    """Visits an hour apart, all of other content, with a date of each age in seconds."""
    return [
        look(number * HOUR, DIFFERS, None if age is None else number * HOUR - age)
        for number, age in enumerate(ages)
    ]


@pytest.mark.parametrize(
    ("ages", "generated"),
    [
        ([0] * 5, True),
        ([0] * 4, False),  # fewer than five dates
        ([None, *[0] * 4, None, 0], True),  # five dates
        ([1.999999] * 5, True),
        ([2] * 5, False),
        ([100, 0, 0, 0, 0], True),  # 80 %
        ([100, 100, 0, 0, 0, 0], False),  # 67 %
        ([100] * 9 + [0] * 8 + [100] * 2, True),  # 8 of the last ten
        ([0] * 9 + [0] * 7 + [100] * 3, False),  # 7 of the last ten
    ],
)
def test_dates_that_are_always_now_are_ignored(ages, generated):
    """At least five dates, and 80 % of the last ten younger than two seconds."""
    gaps, flags = vetted(*stamped(ages))

    assert ("lm_generated" in flags) == generated
    assert all(age is None for _, _, age in gaps) == generated


def test_a_page_whose_dates_are_made_up_has_no_other_flag_from_them():
    visits = [*stamped([0] * 9), look(9 * HOUR, SAME, 9 * HOUR)]

    assert vetted(*visits)[1] == {"lm_generated"}


def test_without_its_dates_a_page_may_tell_nothing():
    """HEAD requests to a server that stamps now: every visit but the first is open."""
    visits = [look(number * HOUR, UNKNOWN, number * HOUR) for number in range(6)]

    assert vetted(*visits) == ([], {"lm_generated"})


# The age of the page at its first visit.


@pytest.mark.parametrize(
    ("dated", "age", "flag"),
    [(0, 0, 0), (-HOUR, 3600, 0), (100, 1, 0), (301, None, Flag.LM_FUTURE), (None, None, 0)],
)
def test_the_first_visit_has_an_age_where_its_date_can_be_believed(dated, age, flag):
    _, histories = histories_of([look(0, UNKNOWN, dated)])

    seconds = histories.first_age[0] * 86_400
    assert np.isnan(seconds) if age is None else seconds == pytest.approx(age)
    assert histories.flags[0] == flag


# Parameters, and many pages at once.


def test_another_skew_may_be_allowed():
    visits = (look(0), look(10 * HOUR, DIFFERS, 10 * HOUR + 5))

    assert vetted(*visits, vetting=Vetting(skew_seconds=4))[1] == {"lm_future"}
    assert vetted(*visits, vetting=Vetting(skew_seconds=5))[1] == {"lm_skew"}


def test_another_resolution_may_be_wanted():
    """Visits of one minute as one, and changes put a minute back."""
    visits = (look(0), look(30, DIFFERS), look(7200, SAME), look(10_800, DIFFERS, 10_801))
    minutes = Vetting(resolution_seconds=60)

    assert vetted(*visits, vetting=minutes)[0] == [(7200, False, None), (3600, True, 60)]


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_a_skew_must_be_a_duration(seconds):
    with pytest.raises(InvalidParameter, match=r"\(got .*\)$"):
        Vetting(skew_seconds=seconds)


@pytest.mark.parametrize("seconds", [0.0, -1.0, 1e-9, float("nan"), float("inf")])
def test_a_resolution_must_be_a_positive_duration(seconds):
    """Nothing can be told apart within it, so there must be such a time; a microsecond at least."""
    with pytest.raises(InvalidParameter, match=r"\(got .*\)$"):
        Vetting(resolution_seconds=seconds)


def test_no_visits_make_no_pages():
    names, histories = histories_of([])

    assert names == []
    assert len(histories) == 0


def test_a_date_just_after_a_visit_centuries_ago_is_inside_the_gap():
    """A microsecond in 290 years is less than a float of days can tell."""
    start, end = datetime(1905, 1, 1, tzinfo=UTC), datetime(2195, 1, 1, tzinfo=UTC)
    date = start + timedelta(microseconds=1)
    _, histories = histories_of(
        [Visit("/a", start), Visit("/a", end, changed=True, last_modified=date)]
    )

    assert 0 <= histories.age[0] < histories.gaps[0]


def test_pages_are_vetted_each_by_itself():
    """The second visit of one page is no visit of the other, however close."""
    visits = [
        Visit("/a", at(0)),
        Visit("/a", at(HOUR), changed=DIFFERS),
        Visit("/b", at(0.5)),
        Visit("/b", at(2 * HOUR), changed=SAME),
    ]
    names, histories = histories_of(visits)

    assert names == ["/a", "/b"]
    assert histories.changed.tolist() == [True, False]
    assert (histories.gaps * 86_400).tolist() == pytest.approx([3600, 7199.5])


# Digests, where nobody compared.


def digests(*found, changed=UNKNOWN):
    """Visits an hour apart with these digests."""
    return [
        Visit("/a", at(number * HOUR), changed=changed, digest=digest)
        for number, digest in enumerate(found)
    ]


def compared(*visits):
    """Changes and reverts of the one page."""
    _, histories = histories_of(visits)
    return histories.changed.tolist(), histories.reverted.tolist()


def test_equal_digests_are_unchanged_and_others_a_change():
    assert compared(*digests("x", "x", "y", "z")) == ([False, True, True], [False] * 3)


def test_a_digest_that_was_there_before_is_a_change_back():
    visits = digests("x", "y", "x", "x", "z", "y")

    assert compared(*visits) == ([1, 1, 0, 1, 1], [0, 1, 0, 0, 1])
    assert vetted(*visits)[1] == {"reverted"}
    assert histories_of(visits)[1].reverts.tolist() == [2]


def test_an_empty_digest_says_nothing():
    """The gap goes on to the next that has one."""
    _, histories = histories_of(digests("x", "", "", "y"))

    assert histories.changed.tolist() == [True]
    assert (histories.gaps * 24).tolist() == pytest.approx([3])


def test_visits_before_the_first_digest_are_left_out():
    """Nobody knows what the page was then."""
    _, histories = histories_of(digests("", "", "x", "x"))

    assert histories.visits.tolist() == [2]
    assert histories.changed.tolist() == [False]


def test_what_a_log_says_goes_before_its_digests():
    visits = [Visit("/a", at(0), digest="x"), Visit("/a", at(HOUR), changed=SAME, digest="y")]

    assert compared(*visits, Visit("/a", at(2 * HOUR), digest="y")) == ([False] * 2, [False] * 2)


def test_a_change_without_a_digest_leaves_nothing_to_compare_with():
    """What was there before it tells nothing of what comes after it."""
    said = [Visit("/a", at(0), digest="x"), Visit("/a", at(HOUR), changed=DIFFERS)]
    later = [Visit("/a", at((2 + n) * HOUR), digest=digest) for n, digest in enumerate("xxy")]

    assert compared(*said, *later)[0] == [True, False, True]


def test_a_failed_visit_has_no_digest():
    visits = digests("x", "wall", "x")
    visits[1] = Visit("/a", at(HOUR), digest="wall", answer=AnswerKind.FAILED)

    assert compared(*visits) == ([False], [False])


def test_digests_are_compared_across_an_absence():
    """x, x, gone, x, y, z, z: six visits, two changes, none of them the absence."""
    visits = digests("x", "x", "", "x", "y", "z", "z")
    visits[2] = Visit("/a", at(2 * HOUR), answer=AnswerKind.GONE)
    _, histories = histories_of(visits)

    assert histories.visits.tolist() == [6]
    assert histories.changed.tolist() == [False, False, True, True, False]
    assert (histories.gaps * 24).tolist() == pytest.approx([1, 2, 1, 1, 1])
    assert histories.last_visit == np.datetime64(at(6 * HOUR).replace(tzinfo=None))
    assert flags_of(int(histories.flags[0])) == {"returned"}


def test_a_304_without_a_digest_keeps_the_one_before():
    visits = digests("x", "", "y")
    visits[1] = Visit("/a", at(HOUR), answer=AnswerKind.NOT_MODIFIED)

    assert compared(*visits) == ([False, True], [False, False])


# Sizes, where there is nothing better.


def test_a_size_that_the_page_had_before_is_no_change():
    """Packed for some clients and plain for others: two sizes alternate for ever."""
    visits = digests("size:9", "size:4", "size:9", "size:4", "size:7")

    assert compared(*visits) == ([True, False, False, True], [False] * 4)


def test_sizes_are_compared_in_the_order_of_time_whatever_that_of_the_log():
    visits = digests("size:9", "size:9", "size:4", "size:4", "size:9")

    assert compared(*visits)[0] == compared(*reversed(visits))[0] == [False, True, False, False]


def test_sizes_are_not_compared_with_digests():
    """The first size tells nothing, and a digest is compared with the digest before."""
    assert compared(*digests("x", "size:9", "x", "size:9", "y"))[0] == [False, False, True]


# Against slow Python, on logs as nasty as possible: few instants, so that most rules meet.

_moments = st.builds(
    lambda seconds, rest: seconds * SECOND + rest,
    st.sampled_from([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 299, 300, 301, 302, 303, 600, 601, 86_400]),
    st.sampled_from([0, 0, 0, 1, 500_000, 999_999]),
)
_answers = st.sampled_from([AnswerKind.OK] * 6 + [AnswerKind.NOT_MODIFIED] * 2 + list(AnswerKind))
_changes = st.sampled_from([True, False, None, None, None])
_digests = st.sampled_from(["", "", "x", "y", "z", "size:1", "size:2"])


@st.composite
def _pages(draw):
    """Looks at one page; the dates are other instants, visits before, or made up by the server."""
    moments = draw(st.lists(_moments, max_size=14))
    stamps = draw(st.sampled_from([False, False, True]))
    looks = []
    for moment in moments:
        behind = draw(st.sampled_from([0, 0, 0, 1, SECOND, 2 * SECOND - 1, 2 * SECOND]))
        dates = [st.none(), _moments, st.sampled_from(moments), st.just(moment + 300 * SECOND)]
        date = moment - behind if stamps else draw(st.one_of(dates))
        looks.append(Look(moment, draw(_changes), date, draw(_answers), draw(_digests)))
    return looks


def _rows(pages):
    looks = [look for page in pages for look in page]
    dates = [UNKNOWN_TIME if look.dated is None else look.dated for look in looks]
    changed = [-1 if look.changed is None else look.changed for look in looks]
    return Rows(
        offsets=np.cumsum([0, *map(len, pages)]),
        at=np.array([look.at for look in looks], np.int64),
        changed=np.array(changed, np.int8),
        last_modified=np.array(dates, np.int64),
        answer=np.array([look.answer for look in looks], np.uint8),
        digest=digest_hashes(Texts.of([look.digest for look in looks])),
    )


def _stories(histories):
    """Histories in the form of the slow vetting."""
    for page in range(len(histories)):
        one = histories.take(np.array([page]))
        first = one.first_visit.astype(np.int64)[0]
        gaps = zip(one.gaps.tolist(), one.changed.tolist(), _known(one.age), strict=True)
        yield Story(
            first_visit=None if np.isnat(one.first_visit[0]) else int(first),
            first_age=_known(one.first_age)[0],
            gaps=list(gaps),
            flags=flags_of(int(one.flags[0])),
            reverted=one.reverted.tolist(),
        )


def _known(figures):
    return [None if np.isnan(figure) else figure for figure in figures.tolist()]


@settings(max_examples=300)
@given(st.lists(_pages(), max_size=5))
def test_columns_are_vetted_as_one_would_by_hand(pages):
    histories = vet(_rows(pages), Vetting())

    assert list(_stories(histories)) == [story_of(page) for page in pages]


@given(st.lists(_pages(), min_size=1, max_size=3), st.sampled_from([0, 1, 7, 300]))
def test_other_parameters_are_followed_as_well(pages, skew):
    histories = vet(_rows(pages), Vetting(skew_seconds=skew, resolution_seconds=2))

    slow = [story_of(page, skew * SECOND, 2 * SECOND) for page in pages]
    assert list(_stories(histories)) == slow


@pytest.mark.parametrize(("dated", "answered"), [(False, False), (True, False), (False, True)])
@given(pages=st.lists(_pages(), max_size=4))
def test_columns_that_nobody_filled_may_be_left_out(pages, dated, answered):
    """Which takes other paths through the code, to the same end."""
    fewer = [
        [
            Look(
                look.at,
                look.changed,
                look.dated if dated else None,
                look.answer if answered else AnswerKind.OK,
                look.digest,
            )
            for look in page
        ]
        for page in pages
    ]
    rows = _rows(fewer)
    without = Rows(
        offsets=rows.offsets,
        at=rows.at,
        changed=rows.changed,
        last_modified=rows.last_modified if dated else None,
        answer=rows.answer if answered else None,
        digest=rows.digest,
    )

    histories = vet(without, Vetting())

    assert list(_stories(histories)) == [story_of(page) for page in fewer]
    assert dated or not histories.knows_age or len(histories.gaps) == 1


@given(_pages(), st.randoms(use_true_random=False))
def test_the_order_of_visits_does_not_matter(page, random):
    """As long as no two are of one instant: which of those is the last, nobody knows."""
    looks = list({look.at: look for look in page}.values())
    shuffled = random.sample(looks, len(looks))
    one, other = vet(_rows([looks]), Vetting()), vet(_rows([shuffled]), Vetting())

    assert list(_stories(one)) == list(_stories(other))


@given(st.lists(_pages(), max_size=6))
def test_last_visit_is_the_last_that_told_something(pages):
    histories = vet(_rows(pages), Vetting())

    expected = [
        None
        if story.first_visit is None
        else story.first_visit + sum(round(gap * 86_400 * SECOND) for gap, _, _ in story.gaps)
        for story in map(story_of, pages)
    ]
    last = histories.last_visit
    assert [None if np.isnat(at) else int(at.astype(np.int64)) for at in last] == expected
    assert (days_between(histories.first_visit, last)[~np.isnat(last)] >= 0).all()


def test_blocks_of_pages_come_out_in_order():
    """More pages than a block holds, each with a gap of its own."""
    count = 70_000
    start = np.arange(count) * 10 * SECOND
    rows = Rows(
        offsets=np.arange(0, 2 * count + 1, 2),
        at=np.stack([start, start + (np.arange(count) + 1) * SECOND], axis=1).ravel(),
        changed=np.zeros(2 * count, np.int8),
    )
    histories = vet(rows, Vetting())

    np.testing.assert_allclose(histories.gaps * 86_400, np.arange(count) + 1)
    assert (histories.first_visit.astype(np.int64) == start).all()


plain_pages = st.lists(
    st.lists(st.tuples(st.integers(-1, 40), st.sampled_from([-1, 0, 1])), max_size=6), max_size=5
)


@given(plain_pages, st.sampled_from([1, 3, 1_000_000, 2_500_000]))
def test_a_log_without_fault_has_the_histories_of_any_other(pages, unit):
    """The short way and the long one, which a column of answers asks for, agree to the last bit.

    Steps of 0 and less, steps within the resolution and changes that are not known are faults.
    """
    at = [np.cumsum([step for step, _ in page]) * unit for page in pages]
    rows = Rows(
        offsets=np.cumsum([0, *map(len, pages)]),
        at=np.concatenate([np.empty(0, np.int64), *at]).astype(np.int64),
        changed=np.array([told for page in pages for _, told in page], np.int8),
    )
    answered = replace(rows, answer=np.full(len(rows.at), AnswerKind.OK, np.uint8))

    short, long = vet_log(rows, Vetting()), vet_log(answered, Vetting())

    assert short[1:] == long[1:]
    for column in fields(long.histories):
        np.testing.assert_array_equal(
            getattr(short.histories, column.name), getattr(long.histories, column.name)
        )
