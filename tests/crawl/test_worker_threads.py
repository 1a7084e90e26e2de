"""Work beside the loop."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time

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
    assert str(asked[-1]).startswith("4 other pieces of work must end first")
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
