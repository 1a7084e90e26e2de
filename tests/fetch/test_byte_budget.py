"""All bodies in memory share one budget of bytes: they wait, and never for each other."""

import asyncio
import gc
import gzip

import pytest

from recrawl.errors import FetchFailed
from recrawl.fetch.fetcher import RequestLimits
from recrawl.fetch.http.byte_budget import SMALL, ByteBudget, Reservation
from recrawl.fetch.http.client import HttpFetcher
from recrawl.parse.messages import Request, Response
from tests.servers import answers
from tests.servers.faults import FaultServer, head
from tests.waiting import HANGS_SECONDS

MB = 1 << 20
LARGE = b"<p>large</p>" * (3 * MB // 12)


async def half_sent(wire):
    """The first megabyte of a large body, and no more."""
    await wire.send(head(200, {"Connection": "close"}) + LARGE[:MB])
    await asyncio.sleep(HANGS_SECONDS)


PAGES = {
    "/large": answers.page(LARGE),
    "/zipped": answers.status(200, gzip.compress(LARGE), content_encoding="gzip"),
    "/small": answers.page(b"<p>small</p>"),
    "/half": half_sent,
    "/chunked": answers.chunked([LARGE[at : at + MB // 4] for at in range(0, 3 * MB, MB // 4)]),
}


def budget_of(large, **more):
    """A budget with so many megabytes for large bodies."""
    return ByteBudget(large * MB + 4 * SMALL, for_small=4 * SMALL, for_decoding=0, **more)


def fetching(budget, work, **limits):
    async def working():
        async with FaultServer(PAGES) as server, asyncio.timeout(HANGS_SECONDS):
            most = {"decoded_bytes": 4 * MB} | limits
            fetcher = HttpFetcher("bot (me@example.org)", RequestLimits(**most))
            fetcher._budget = budget

            async def get(path):
                return await fetcher.fetch(Request(server.address(path), local=True))

            try:
                return await work(get)
            finally:
                await fetcher.close()

    return asyncio.run(working())


async def until(true):
    """Wait until something is true, in the loop."""
    while not true():  # noqa: ASYNC110 - there is no event to wait for
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("path", ["/large", "/zipped"])
def test_large_bodies_wait_until_others_are_let_go(path):
    """Two of 3 MB fit; a small one waits for nobody; the rest come once the first are gone."""
    budget = budget_of(10)

    async def work(get):
        waiting = [asyncio.create_task(get(path)) for _ in range(6)]
        await until(lambda: sum(task.done() for task in waiting) >= 1 and any(budget._waiting))
        small = await get("/small")
        done = [task for task in waiting if task.done()]
        assert len(done) < 6
        used = budget.used
        bodies = {task.result().body for task in done}
        rest = [task for task in waiting if not task.done()]
        count = len(done)
        done.clear()
        waiting.clear()
        while rest:
            gc.collect()
            finished, _ = await asyncio.wait(rest, return_when=asyncio.FIRST_COMPLETED)
            rest = [task for task in rest if task not in finished]
            count += sum(task.result().body == LARGE for task in finished)
            del finished
        return small.ok, used <= 18 * MB, bodies, count

    assert fetching(budget, work) == (True, True, {LARGE}, 6)


def test_all_is_given_back_in_the_end():
    budget = budget_of(16)

    async def work(get):
        async with asyncio.TaskGroup() as group:
            for path in ("/large", "/zipped", "/small", "/nowhere") * 2:
                group.create_task(get(path))
        del group
        gc.collect()
        await asyncio.sleep(0)
        return budget.used

    assert fetching(budget, work) == 0


def test_one_that_is_too_large_gives_back_what_it_held():
    budget = budget_of(8)

    async def work(get):
        return [(await get("/zipped")).problem for _ in range(3)]

    assert fetching(budget, work, decoded_bytes=2 * MB) == ["too-large"] * 3
    assert budget.used == 0


def test_half_read_bodies_do_not_wait_for_each_other():
    """Each holds a part of all that there is, and wants more: one may exceed it, then the next."""
    budget = budget_of(4)

    async def work(get):
        async def length():
            return len((await get("/chunked")).body)

        return await asyncio.gather(*(length() for _ in range(6)))

    assert fetching(budget, work) == [len(LARGE)] * 6


def test_a_body_larger_than_the_budget_comes_alone():
    budget = budget_of(1)

    async def work(get):
        return [len((await get("/large")).body) for _ in range(2)]

    assert fetching(budget, work) == [len(LARGE)] * 2


def test_a_body_of_which_hardly_anything_comes_holds_hardly_anything():
    """Of an unknown length: what it has sent, and no more, until the host has sent nothing long."""
    budget = budget_of(40)

    async def work(get):
        slow = asyncio.create_task(get("/half"))
        await until(lambda: budget.used > SMALL)
        held = budget.used
        slow.cancel()
        await asyncio.wait({slow})
        return held

    assert fetching(budget, work) < 5 * MB
    assert budget.used == 0


def test_who_waits_too_long_for_memory_is_not_called_slow():
    """The request fails for want of memory, which is no fault of the host."""
    budget = budget_of(4, longest_seconds=0.2)

    async def work(get):
        held = await get("/large")
        late = await get("/large")
        return held.problem, late.problem, late.detail

    seen = fetching(budget, work, total_seconds=30.0)
    assert seen == ("", "overloaded", "no memory was free for it within 0.2 seconds")


def test_waiting_for_memory_takes_none_of_the_time_that_a_host_has():
    """Longer than the whole request may take; the same body comes all the same."""
    budget = budget_of(4)

    async def work(get):
        held = await get("/large")
        late = asyncio.create_task(get("/large"))
        await until(lambda: any(budget._waiting))
        await asyncio.sleep(2.5)
        assert held.ok
        del held
        return (await late).problem

    assert fetching(budget, work, total_seconds=2.0) == ""


def held_at(budget, domain):
    return Reservation(budget, f"https://www.{domain}/")


def test_owners_take_turns_where_several_wait():
    """Names below one domain are one owner: ten of them do not go before the one of another."""
    budget, served = budget_of(4), []

    async def waiting(domain, name):
        held = Reservation(budget, f"https://{name}.{domain}/")
        await held.grow(4 * MB)
        served.append(domain)
        held.release()

    async def work():
        first = held_at(budget, "first.org")
        await first.grow(4 * MB)
        names = [("evil.com", f"h{number}") for number in range(10)] + [("honest.org", "www")]
        tasks = [asyncio.create_task(waiting(*each)) for each in names]
        await asyncio.sleep(0)
        first.release()
        await asyncio.gather(*tasks)

    asyncio.run(work())
    assert served.index("honest.org") == 1


def test_small_bodies_have_a_part_that_large_ones_leave():
    budget = budget_of(2)

    async def work():
        large = held_at(budget, "evil.com")
        await large.grow(2 * MB)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await held_at(budget, "other.org").grow(2 * MB)
        small = [held_at(budget, "honest.org") for _ in range(4)]
        for each in small:
            await each.grow(SMALL)
        return budget.used

    assert asyncio.run(work()) == 2 * MB + 4 * SMALL


def test_a_wait_that_is_given_up_leaves_nothing_behind():
    budget = budget_of(2, longest_seconds=0.05)

    async def work():
        first, second, third = (held_at(budget, f"{name}.org") for name in "abc")
        await first.grow(2 * MB)
        with pytest.raises(FetchFailed):
            await second.grow(2 * MB)
        late = asyncio.create_task(third.grow(2 * MB))
        await asyncio.sleep(0)
        first.release()
        await late
        third.release()
        return second.size, budget.used

    assert asyncio.run(work()) == (0, 0)


def test_a_response_holds_its_body_until_nobody_has_it():
    budget = budget_of(8)

    async def work():
        held = held_at(budget, "a.org")
        await held.grow(5 * MB)
        response = Response("https://a.org/", 200, body=bytes(MB))
        held.keep_for(response)
        kept = budget.used
        del response
        await asyncio.sleep(0)
        return kept, budget.used

    assert asyncio.run(work()) == (MB, 0)
