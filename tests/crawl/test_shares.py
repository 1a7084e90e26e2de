"""Who uses more than a share waits, and nobody else does."""

import asyncio
from collections import Counter
from itertools import pairwise

import pytest

from recrawl.clock import ScaledClock
from recrawl.crawl.remarks import Remarks
from recrawl.crawl.running import running
from recrawl.fetch.cpu_shares import CpuShares
from recrawl.fetch.host_slots import HostBusy, HostSlot
from recrawl.fetch.polite import PoliteClient
from recrawl.frontier.host_table import HostTable
from recrawl.parse.messages import Request, Response
from recrawl.parse.robots import Permission
from recrawl.plan.budget import Budget
from recrawl.settings.rules import Rule
from recrawl.units import SECONDS_A_DAY
from tests.crawl.crawls import AGENT, SECOND, START, real_time, settings, store_in
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.waiting import HANGS_SECONDS

CELLS = b"<table>" + b"<tr><td>a cell <a href=/x>b</a> &amp; c" * 5_000  # 200 kB


async def heavy_page(wire):
    """A page that takes a while to read, and is another one each time."""
    await answers.page(b"<p>%d" % len(wire.server.requests) + CELLS)(wire)


def test_a_domain_above_its_share_is_asked_later_and_the_others_go_on(tmp_path, monkeypatch):
    """Two hosts with the same delay: pages of the one take CPU time, those of the other none."""
    monkeypatch.setattr(CpuShares.__init__, "__kwdefaults__", {"capacity": 0.05, "large": 0.05})
    visits: Counter[str] = Counter()
    said: list[str] = []

    async def crawl():
        async with (
            asyncio.timeout(HANGS_SECONDS),
            FaultServer({"/": heavy_page}) as heavy,
            FaultServer({"/": answers.page(b"<p>light</p>")}) as light,
        ):
            addresses = heavy.address("/"), light.address("/", host="localhost")
            rules = [
                Rule(address, local=True, exact=True, interval=0.1 * SECOND)
                for address in addresses
            ]

            def told(visit):
                assert visit.outcome.label != "failed"
                visits[visit.address] += 1
                if said and visits[addresses[1]] > visits[addresses[0]]:
                    crawler.stop()

            asked = settings(*rules, budget=Budget(1e9), delay=0.05 * SECOND)
            async with running(
                asked, store_in(tmp_path), real_time(), on_visit=told, on_remark=said.append, seed=1
            ) as crawler:
                await crawler.run(found=lambda *_: None)

    asyncio.run(crawl())
    why = "reading its pages has taken more than its share of CPU time; it is visited less often"
    assert said == [f"127.0.0.1: {why}"]


class Robots:
    """Everything is allowed."""

    def at_hand(self, origin):
        return Permission.of(404, None, START, AGENT)

    async def known(self, origin):
        return self.at_hand(origin)


class Network:
    """Answers when told to, and fails as told."""

    def __init__(self):
        self.go, self.asked, self.problem = asyncio.Event(), 0, ""

    async def fetch(self, request, on_send=bool):
        on_send()
        self.asked += 1
        await self.go.wait()
        detail = "no memory" if self.problem else ""
        return Response(request.address, 200, problem=self.problem, detail=detail)


def client_of(network, hosts, cpu=None):
    return PoliteClient(
        network,
        hosts,
        Robots(),  # type: ignore[arg-type] # all that is asked of them
        ScaledClock(SECONDS_A_DAY, START),
        is_local=lambda _: True,
        write=bool,
        on_release=bool,
        cpu=cpu,
    )


def test_one_domain_has_only_so_many_visits_under_way_however_many_names():
    """Others are given back at once, and take no place from other domains."""

    async def work():
        network, hosts = Network(), HostTable(delay=0.0)
        client = client_of(network, hosts)

        async def visit(name):
            host = hosts.row(name)
            hosts.begin(host, START)
            return await client.get(Request(f"https://{name}/"), slot=HostSlot(host))

        evil = [asyncio.create_task(visit(f"h{number}.evil.com")) for number in range(50)]
        honest = asyncio.create_task(visit("www.honest.org"))
        while network.asked < 33:  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0)
        early = [task for task in evil if task.done()]
        network.go.set()
        found = await asyncio.gather(*evil, honest, return_exceptions=True)
        return len(early), found

    early, found = asyncio.run(work())
    assert early == 18
    assert sum(isinstance(each, HostBusy) for each in found) == 18
    assert sum(isinstance(each, Response) for each in found) == 33
    assert isinstance(found[-1], Response)


def test_what_we_lack_is_no_failure_of_the_host():
    """The visit is given back with the reason, and the host is free again after its delay."""

    async def work():
        network, hosts = Network(), HostTable(delay=0.0)
        network.problem = "overloaded"
        network.go.set()
        host = hosts.row("a.org")
        hosts.begin(host, START)
        with pytest.raises(HostBusy) as raised:
            await client_of(network, hosts).get(Request("https://a.org/"), slot=HostSlot(host))
        return raised.value, hosts.ready(host)

    busy, ready = asyncio.run(work())
    assert busy.why == "no memory"
    assert 0 < busy.until - START < 60 * SECOND
    assert ready < START + 5 * SECOND


def test_a_redirect_does_not_lead_to_a_domain_above_its_share():
    async def work():
        clock = ScaledClock(SECONDS_A_DAY, START)
        cpu = CpuShares(clock, capacity=1.0)
        cpu.charge("evil.com", 10.0)
        cpu.charge("honest.org", 0.1)
        client = client_of(Network(), HostTable(delay=0.0), cpu)
        with pytest.raises(HostBusy):
            await client.get(Request("https://h1.evil.com/"))
        return cpu.wait("evil.com") * SECONDS_A_DAY, cpu.wait("honest.org")

    wait, none = asyncio.run(work())
    assert 100 < wait < 200  # 60 ln(10 / 0.9)
    assert none == 0.0


def test_large_pages_have_a_share_of_their_own():
    cpu = CpuShares(ScaledClock(SECONDS_A_DAY, START), capacity=100.0, large=1.0)
    for domain, large in (("small.org", False), ("large.org", True), ("other.org", True)):
        cpu.charge(domain, 5.0, large=large)

    assert cpu.wait("small.org") == 0.0
    assert cpu.wait("large.org") > 0.0


def test_a_remark_is_made_once_an_hour_and_few_are():
    said: list[str] = []
    clock = ScaledClock(SECONDS_A_DAY, START)
    remarks = Remarks(said.append, clock)
    for _ in range(3):
        remarks("a")
    clock._start += 2 / 24
    remarks("a")
    for number in range(1000):
        remarks(str(number))

    assert said[:3] == ["a", "a", "0"]
    assert len(said) == 21
    assert all(first != second for first, second in pairwise(said[1:]))
