"""Work beside the loop."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
import time
import weakref
from collections import Counter
from functools import partial

import pytest

from recrawl.crawl.worker_threads import WorkerThreads


def test_work_is_done_in_another_thread_and_its_result_comes_back():
    async def ask():
        return await WorkerThreads().run(threading.get_ident)

    assert asyncio.run(ask()) != threading.get_ident()


def test_an_error_comes_back_as_it_was_raised():
    async def ask():
        await WorkerThreads().run(lambda: 1 // 0)

    with pytest.raises(ZeroDivisionError):
        asyncio.run(ask())


def test_few_are_worked_on_at_a_time():
    under_way, most = 0, 0

    def work():
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        time.sleep(0.05)
        under_way -= 1

    async def ask():
        threads = WorkerThreads()
        await asyncio.gather(*(threads.run(work) for _ in range(6)))

    asyncio.run(ask())

    assert most == 2


def test_what_takes_too_long_is_not_waited_for():
    async def ask():
        await WorkerThreads(longest_seconds=0.05).run(lambda: time.sleep(0.5))

    with pytest.raises(TimeoutError):
        asyncio.run(ask())


def test_where_work_never_ends_nothing_is_begun_before_some_of_it_has():
    """Four threads at most, however much is asked for; then as before."""
    ends = threading.Event()
    before = set(threading.enumerate())

    async def ask():
        workers = WorkerThreads(longest_seconds=0.02)
        works = (workers.run(ends.wait) for _ in range(20))
        asked = await asyncio.gather(*works, return_exceptions=True)
        threads = set(threading.enumerate()) - before
        ends.set()
        for thread in threads:
            thread.join()
        await asyncio.sleep(0)  # the loop hears of it
        return asked, len(threads), await workers.run(lambda: "done")

    asked, threads, after = asyncio.run(ask())

    assert all(isinstance(each, TimeoutError) for each in asked)
    assert [str(each) for each in asked[:4]] == [""] * 4
    assert str(asked[-1]) == "all 4 worker threads are busy"
    assert threads == 4
    assert after == "done"


def test_work_that_never_ends_does_not_keep_the_program_from_ending():
    program = """
import asyncio, time
from recrawl.crawl.worker_threads import WorkerThreads

async def main():
    work = asyncio.create_task(WorkerThreads().run(lambda: time.sleep(600)))
    await asyncio.sleep(0.2)
    work.cancel()

asyncio.run(main())
"""
    ended = subprocess.run([sys.executable, "-c", program], timeout=60, check=False)

    assert ended.returncode == 0


def test_small_pages_go_on_beside_large_ones():
    """However many large ones wait, one of them is worked on."""

    async def work():
        threads, go = WorkerThreads(), threading.Event()
        large = [asyncio.create_task(threads.run(go.wait, 5 << 20)) for _ in range(4)]
        await asyncio.sleep(0)
        small = [await threads.run(lambda: 7, 1 << 15) for _ in range(5)]
        go.set()
        return small, await asyncio.gather(*large)

    assert asyncio.run(work()) == ([7] * 5, [True] * 4)


def test_owners_take_turns():
    """One that has twenty pieces of work waiting delays another by one of them."""
    begun: list[str] = []

    async def ask():
        threads, go = WorkerThreads(), threading.Event()
        first = [asyncio.create_task(threads.run(go.wait)) for _ in range(2)]
        await asyncio.sleep(0)
        owners = ["evil"] * 20 + ["honest"]
        works = [threads.run(partial(begun.append, owner), 0, owner) for owner in owners]
        rest = [asyncio.ensure_future(work) for work in works]
        await asyncio.sleep(0)
        go.set()
        await asyncio.gather(*first, *rest)

    asyncio.run(ask())

    assert begun.index("honest") <= 2  # two are worked on at a time
    assert len(begun) == 21


def test_a_large_page_is_worked_on_from_its_first_step_to_its_last():
    """What other large pages need between their steps is not in memory meanwhile."""
    steps: list[tuple[str, int]] = []

    async def visit(threads, owner):
        async with threads.turn(5 << 20, owner) as run:
            for step in range(3):
                await run(partial(steps.append, (owner, step)))

    async def ask():
        threads = WorkerThreads()
        await asyncio.gather(*(visit(threads, owner) for owner in "abc"))

    asyncio.run(ask())

    assert steps == [(owner, step) for owner in "abc" for step in range(3)]


def spin(seconds):
    """Use the CPU for so long."""
    began = time.thread_time()
    while time.thread_time() - began < seconds:
        pass


def test_cpu_time_is_charged_to_whom_it_was_spent_for():
    """In a thread, without one, and where the work fails."""
    used: Counter[str] = Counter()

    def fail():
        spin(0.05)
        raise ZeroDivisionError

    async def ask():
        threads = WorkerThreads(on_cpu=lambda owner, seconds, **_: used.update({owner: seconds}))
        await threads.read(partial(spin, 0.05), 1 << 10, "small")
        await threads.read(partial(spin, 0.05), 1 << 17, "large")
        await threads.run(partial(time.sleep, 0.05), 0, "waits")
        with pytest.raises(ZeroDivisionError):
            await threads.run(fail, 0, "fails")

    asyncio.run(ask())

    assert used["small"] >= 0.05
    assert used["large"] >= 0.05
    assert used["fails"] >= 0.05
    assert used["waits"] < 0.04


def test_the_steps_of_a_small_page_are_charged_together():
    """Also where one of them fails."""
    charged = []

    async def read(threads):
        async with threads.turn(1 << 10, "small") as run:
            await run(partial(spin, 0.03))
            await run(partial(spin, 0.03))
            await run(lambda: 1 / 0)

    async def ask():
        threads = WorkerThreads(on_cpu=lambda owner, seconds, **_: charged.append((owner, seconds)))
        with pytest.raises(ZeroDivisionError):
            await read(threads)

    asyncio.run(ask())

    ((owner, seconds),) = charged
    assert owner == "small"
    assert seconds >= 0.06


def test_work_that_nobody_waits_for_any_more_is_charged_all_the_same():
    used: Counter[str] = Counter()
    ends = threading.Event()

    async def ask():
        threads = WorkerThreads(0.05, lambda owner, seconds, **_: used.update({owner: seconds}))
        with pytest.raises(TimeoutError):
            await threads.run(ends.wait, 0, "evil")
        ends.set()

    asyncio.run(ask())

    assert used["evil"] == pytest.approx(0.05)


def test_a_turn_that_is_given_up_is_given_to_the_next():
    async def ask():
        threads, go = WorkerThreads(), threading.Event()
        first = [asyncio.create_task(threads.run(go.wait)) for _ in range(2)]
        given_up = asyncio.create_task(threads.run(lambda: 1, 0, "a"))
        last = asyncio.create_task(threads.run(lambda: 2, 0, "b"))
        await asyncio.sleep(0)
        given_up.cancel()
        go.set()
        return await last, await asyncio.gather(*first)

    assert asyncio.run(ask()) == (2, [True, True])


class Page:
    """Something large."""


def test_a_page_that_could_not_be_read_is_let_go_at_once():
    """Not at the next search for cycles: that may be long after, and memory is short."""
    pages = [Page()]
    gone = weakref.ref(pages[0])

    def fail(page):
        raise ValueError(page)

    async def ask():
        threads = WorkerThreads()
        page = pages.pop()
        try:
            await threads.run(partial(fail, page), 5 << 20)
        except ValueError:
            del page
        await asyncio.sleep(0)
        return gone()

    gc.disable()
    try:
        assert asyncio.run(ask()) is None
    finally:
        gc.enable()


def test_a_large_page_is_followed_by_a_rest_where_there_is_work_of_others():
    """Threads hold each other up: what is left of the time is for others."""

    async def ask(owner):
        threads, loop = WorkerThreads(), asyncio.get_running_loop()
        times: list[float] = []

        def work():
            times.append(loop.time())
            time.sleep(0.05)
            times.append(loop.time())

        for _ in range(2):
            large = asyncio.create_task(threads.run(work, 5 << 20, "large"))
            while threads._working[True] == 0:  # noqa: ASYNC110 - it rests
                await asyncio.sleep(0.001)
            await threads.read(lambda: None, 1, owner)
            await large
        return times

    (began, ended, again, _) = asyncio.run(ask("other"))
    assert again - ended >= 5 * (ended - began)

    (began, ended, again, _) = asyncio.run(ask("large"))
    assert again - ended < 5 * (ended - began)
