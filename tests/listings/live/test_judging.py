"""Syncs of listings: layouts that break, pages that fail, and what is accepted in the end.

A real board on loopback is synced by a crawler; the clock is moved by hand.
"""

import asyncio

import pytest

from recrawl.entries.listings import EventKind, SyncOutcome
from recrawl.parse.items.item import Layout
from recrawl.parse.items.paging import PageParameter
from recrawl.units import SECONDS_A_DAY
from tests.crawl.boards import Board, HandClock, history, items, keeping, listed

HOUR = 1 / 24


def synced_board(tmp_path, shown, **rule):
    """Sync a board once for each of some pages, so many days after the sync before."""

    async def go():
        current = [None]
        clock = HandClock()
        seen = []
        async with Board(lambda asked: current[0]) as board:
            wanted = board.rule(**rule)
            async with keeping(tmp_path, wanted, clock) as (_, sync):
                for days, page in shown:
                    current[0] = page
                    seen.append(await sync(days))
        return seen

    return asyncio.run(go())


def outcomes(seen):
    return [each.outcome.label for each in seen]


def wait(synced):
    """Days from a sync to the next."""
    return (synced.next_at_seconds - synced.at_seconds) / SECONDS_A_DAY


def test_objects_come_change_go_and_come_back(tmp_path):
    other = items([2, 3]).replace("Job 2", "Better job 2")

    seen = synced_board(tmp_path, [(0, items([1, 2])), (1, other), (2, items([1, 2, 3]))])

    assert outcomes(seen) == ["first", "done", "done"]
    assert [len(each.inserted) for each in seen] == [2, 1, 1]
    assert [len(each.updated) for each in seen] == [0, 1, 1]
    assert [len(each.deleted) for each in seen] == [0, 1, 0]
    found = history(tmp_path)
    assert len(found.keys) == 3  # who comes back is who was there
    kinds = [(event.object, event.kind.name) for event in found.events]
    assert kinds.count((1, "INSERT")) == 2
    assert kinds.count((1, "DELETE")) == 1
    assert len(listed(tmp_path)) == 3


def test_a_sync_tells_how_good_the_copy_had_been(tmp_path):
    """Of 1, 2, 3 two are left, beside 4 and 5."""
    seen = synced_board(tmp_path, [(0, items([1, 2, 3])), (1, items([2, 3, 4, 5]))])

    assert seen[0].quality is None
    assert (seen[1].quality.precision, seen[1].quality.recall) == (2 / 3, 2 / 4)


def test_a_layout_that_broke_deletes_nothing(tmp_path):
    """The page is there and has other classes: an alarm for a week, and all is well again."""
    page = items(range(30))
    broken = page.replace("class=job", "class=vacancy")

    seen = synced_board(
        tmp_path, [(0, page), (1, page), (1, broken), (HOUR, broken), (3, broken), (1, page)]
    )

    assert outcomes(seen) == ["first", "done", "doubted", "doubted", "doubted", "done"]
    assert seen[2].detail == "list is empty, expected about 30 objects"
    assert seen[-1].deleted == []
    assert len(listed(tmp_path)) == 30
    assert history(tmp_path).alarm == ""


def test_an_alarm_stays_until_a_sync_is_accepted(tmp_path):
    synced_board(tmp_path, [(0, items(range(30))), (1, items([]))])

    assert history(tmp_path).alarm == "list is empty, expected about 30 objects"
    assert len(listed(tmp_path)) == 30


def test_a_list_that_stays_empty_is_accepted_after_a_week(tmp_path):
    page = items(range(30))

    seen = synced_board(tmp_path, [(0, page), (1, items([])), (6.9, items([])), (0.2, items([]))])

    assert outcomes(seen) == ["first", "doubted", "doubted", "done"]
    assert listed(tmp_path) == {}


def test_keys_that_are_all_new_are_accepted_after_an_hour_if_they_stay(tmp_path):
    before, after = items(range(30)), items(range(100, 130))

    seen = synced_board(tmp_path, [(0, before), (1, after), (HOUR / 2, after), (HOUR / 2, after)])

    assert outcomes(seen) == ["first", "doubted", "doubted", "done"]
    assert seen[1].detail == "all 30 keys are new, expected known ones"


def test_keys_that_are_new_at_every_sync_are_never_accepted(tmp_path):
    """A session in the address makes each key another one each time."""
    shown = [(1, items(range(100 * sync, 100 * sync + 30))) for sync in range(6)]

    seen = synced_board(tmp_path, shown)

    assert outcomes(seen) == ["first"] + ["doubted"] * 5


def test_a_fall_that_nobody_expected_is_synced_again_within_an_hour(tmp_path):
    page, fallen = items(range(100)), items(range(60))

    seen = synced_board(tmp_path, [(0, page), (1, page), (1, fallen), (HOUR, fallen)])

    assert outcomes(seen) == ["first", "done", "doubted", "done"]
    assert wait(seen[2]) == pytest.approx(HOUR)
    assert len(seen[3].deleted) == 40


def test_a_fall_that_was_a_mistake_leaves_no_trace(tmp_path):
    page = items(range(100))

    seen = synced_board(tmp_path, [(0, page), (1, page), (1, items(range(40))), (HOUR, page)])

    assert outcomes(seen) == ["first", "done", "doubted", "done"]
    assert all(event.kind is EventKind.INSERT for event in history(tmp_path).events)
    assert (seen[3].quality.precision, seen[3].quality.recall) == (1.0, 1.0)


def test_failures_wait_an_hour_then_two_then_four_up_to_a_day(tmp_path):
    shown = [(0, items(range(5)))] + [(1, (503, "sorry"))] * 7

    seen = synced_board(tmp_path, shown)

    assert outcomes(seen)[1:] == ["failed"] * 7
    assert [round(wait(each) * 24) for each in seen[1:]] == [1, 2, 4, 8, 16, 24, 24]
    assert seen[-1].detail.endswith("/jobs: expected status 200, got 503")
    assert len(listed(tmp_path)) == 5


def test_a_failure_does_not_lose_what_was_doubted(tmp_path):
    page, fallen = items(range(100)), items(range(60))
    shown = [(0, page), (1, fallen), (HOUR, (500, "")), (HOUR, fallen)]

    assert outcomes(synced_board(tmp_path, shown)) == ["first", "doubted", "failed", "done"]


def test_a_second_page_that_fails_deletes_nothing(tmp_path):
    down = [False]

    async def go():
        def answer(asked):
            page = int(asked.query["p"])
            if page == 2 and down[0]:
                return 500, "sorry"
            return items(range((page - 1) * 10, min(page * 10, 20)))

        async with (
            Board(answer) as board,
            keeping(tmp_path, board.rule(counted=PageParameter("p"))) as (_, sync),
        ):
            first = await sync()
            down[0] = True
            return first, await sync(1.0)

    first, second = asyncio.run(go())

    assert (first.outcome, second.outcome) == (SyncOutcome.FIRST, SyncOutcome.FAILED)
    assert (first.items, second.items) == (20, 10)
    assert len(listed(tmp_path)) == 20


def test_a_link_to_the_next_page_that_is_no_longer_found_deletes_nothing(tmp_path):
    link = ["<a class=next href='/jobs?page={}'>next</a>"]

    async def go():
        def answer(asked):
            page = int(asked.query.get("page", 1))
            return items(range(page * 10, page * 10 + 10), link[0].format(page + 1) * (page < 5))

        layout = Layout("li.job", "a@href", {}, "a.next")
        async with (
            Board(answer) as board,
            keeping(tmp_path, board.rule(layout=layout)) as (_, sync),
        ):
            seen = [await sync(), await sync(1.0)]
            link[0] = "<a class=forth href='/jobs?page={}'>next</a>"
            return [*seen, await sync(1.0), await sync(1.0), await sync(3.0)]

    seen = asyncio.run(go())

    assert outcomes(seen) == ["first", "done", "doubted", "doubted", "doubted"]
    assert seen[-1].detail == "list ends after its first page, expected about 5 pages"
    assert len(listed(tmp_path)) == 50


def test_a_list_that_never_showed_anything_is_an_alarm(tmp_path):
    (seen,) = synced_board(tmp_path, [(0, "<p>Welcome</p>")])

    assert seen.outcome is SyncOutcome.FAILED
    assert seen.detail == "no items found by 'li.job'"


def test_a_sync_that_was_confirmed_by_another_process_counts(tmp_path):
    """Each sync is made by a crawl of its own: what was doubted is in the store."""
    page, fallen = items(range(100)), items(range(60))
    clock = HandClock()

    async def once(days, shown):
        clock.time += days
        async with Board(lambda _: shown) as board:
            rule = board.rule()
            # Another port each time: the keys are paths, as far as this test is concerned.
            layout = type(rule.layout)("li.job", "a")
            async with keeping(tmp_path, board.rule(layout=layout), clock) as (_, sync):
                return await sync()

    seen = [asyncio.run(once(*each)) for each in [(0, page), (1, fallen), (HOUR, fallen)]]

    assert outcomes(seen) == ["first", "doubted", "done"]


@pytest.mark.parametrize(
    ("more", "days"),
    [({}, 1.0), ({"minimum": 2.0}, 2.0), ({"maximum": 0.25}, 0.25)],
    ids=["nothing known", "at least", "at most"],
)
def test_after_the_first_sync_the_next_is_a_day_later_within_what_is_allowed(tmp_path, more, days):
    (seen,) = synced_board(tmp_path, [(0, items(range(30)))], **more)

    assert wait(seen) == pytest.approx(days, abs=1e-6)


def test_hours_are_kept(tmp_path):
    """The clock begins at midnight: a day later is outside of the hours, and they begin at 8."""
    (seen,) = synced_board(tmp_path, [(0, items(range(30)))], hours=(8, 10))

    assert wait(seen) == pytest.approx(1 + 8 / 24, abs=1e-3)
