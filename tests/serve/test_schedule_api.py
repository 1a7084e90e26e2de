"""Other crawlers use the schedule over HTTP: leases, reports, and each visit counted once."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest

from recrawl.errors import Conflict
from recrawl.scheduler import Scheduler
from recrawl.scheduler.reports import Report
from recrawl.serve.lending import Lending, SchedulerOwner
from recrawl.store import open_store
from recrawl.visits.status import VisitOutcome
from tests.serve.api_server import PAGES, served, write_settings


@pytest.fixture
def file(tmp_path):
    return write_settings(tmp_path)


@pytest.fixture
def scheduler(file):
    with Scheduler.open(settings=file) as scheduler:
        scheduler.add(PAGES)
        yield scheduler


@pytest.fixture
def client(file, scheduler):
    with served(file, SchedulerOwner(scheduler)) as client:
        yield client


def due(client, limit=10, wait=5, **more):
    query = "&".join(f"{name}={value}" for name, value in more.items())
    answer = client.post(f"/api/v1/due?limit={limit}&wait={wait}&{query}")
    assert answer.status == 200, answer.body
    return answer.json()["pages"]


def visits_in(file):
    with open_store(file.parent / "recrawl.db") as reader:
        return reader.last_visit()


def test_a_crawler_takes_pages_and_reports_what_it_found(client, file):
    found: dict[str, str] = {}
    while len(found) < len(PAGES):
        pages = due(client, limit=3)
        visits = [{"lease": each["lease"], "body": f"<p>{each['address']}"} for each in pages]
        answer = client.post("/api/v1/visits", {"visits": visits}).json()
        assert answer["taken"] == len(pages)
        found.update(
            (page["address"], result["outcome"])
            for page, result in zip(pages, answer["visits"], strict=True)
        )

    assert found == dict.fromkeys(PAGES, "first")
    assert visits_in(file) == len(PAGES)


def test_two_clients_never_get_the_same_page(client):
    got: list[str] = []

    def take():
        for _ in range(6):
            got.extend(each["address"] for each in due(client, limit=1, wait=0.5))

    clients = [threading.Thread(target=take) for _ in range(4)]
    for each in clients:
        each.start()
    for each in clients:
        each.join()

    assert len(got) == len(set(got)) == 2  # one page per host at a time


def test_a_lease_that_ended_returns_and_its_visit_is_not_taken(client, scheduler):
    (page,) = due(client, limit=1, lease_seconds=1)
    others = due(client, limit=10)
    assert page["address"] not in [each["address"] for each in others]
    client.post("/api/v1/due/release", {"leases": [each["lease"] for each in others]})
    clock = [0.0]
    client.app.state.lending._steady = lambda: clock[0] + 1e9

    again = {each["address"] for each in due(client) + due(client, wait=1)}
    late = client.post("/api/v1/visits", {"visits": [{"lease": page["lease"], "status": 200}]})

    assert page["address"] in again
    assert late.status == 200
    assert late.json()["taken"] == 0
    assert "ended" in late.json()["visits"][0]["problem"]


def test_a_released_page_is_due_again(client):
    (page,) = due(client, limit=1)
    assert client.post("/api/v1/due/release", {"leases": [page["lease"], "x"]}).json() == {
        "released": 1
    }
    assert client.post("/api/v1/due/release", {"leases": [page["lease"]]}).json() == {"released": 0}
    assert page["address"] in [each["address"] for each in due(client) + due(client, wait=1)]


def test_a_batch_sent_again_under_its_key_counts_once(client, file):
    (page,) = due(client, limit=1)
    batch = {"visits": [{"lease": page["lease"], "body": "<p>once"}]}

    first = client.post("/api/v1/visits", batch, Idempotency_Key="k-1")
    again = client.post("/api/v1/visits", batch, Idempotency_Key="k-1")
    other = client.post(
        "/api/v1/visits",
        {"visits": [{"lease": page["lease"], "outcome": "failed"}]},
        Idempotency_Key="k-1",
    )

    assert (first.status, first.json()) == (again.status, again.json())
    assert first.json()["visits"][0]["outcome"] == "first"
    assert other.status == 422
    assert visits_in(file) == 1


def test_a_batch_counts_once_after_a_restart(file):
    with Scheduler.open(settings=file) as scheduler:
        scheduler.add(PAGES)
        with served(file, SchedulerOwner(scheduler)) as client:
            (page,) = due(client, limit=1)
            batch = {"visits": [{"lease": page["lease"], "body": "<p>once"}]}
            before = client.post("/api/v1/visits", batch, Idempotency_Key="k-1").json()
    with (
        Scheduler.open(settings=file) as scheduler,
        served(file, SchedulerOwner(scheduler)) as client,
    ):
        after = client.post("/api/v1/visits", batch, Idempotency_Key="k-1").json()
        unkeyed = client.post("/api/v1/visits", batch).json()

    assert before == after
    assert unkeyed["taken"] == 0
    assert visits_in(file) == 1


def test_a_batch_that_is_not_clear_is_refused_whole(client, file):
    pages = due(client, limit=2)
    visits = [{"lease": each["lease"], "body": "<p>a"} for each in pages]
    visits[1] = {"lease": pages[1]["lease"], "status": 304}  # there is no copy of it yet

    refused = client.post("/api/v1/visits", {"visits": visits}, Idempotency_Key="k-1")
    assert refused.status == 422
    assert pages[1]["address"] in refused.json()["detail"]
    assert visits_in(file) == 0

    visits[1] = {"lease": pages[1]["lease"], "status": 404}
    taken = client.post("/api/v1/visits", {"visits": visits}, Idempotency_Key="k-1").json()
    assert [each["outcome"] for each in taken["visits"]] == ["first", "gone"]


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ({"changed": True}, "changed"),
        ({"changed": False, "age_days": 3}, "same"),
        ({"digest": "other"}, "changed"),
        ({"digest": "d"}, "same"),
        ({"status": 304}, "not_modified"),
        ({"status": 410}, "gone"),
        ({"status": 503, "headers": {"Retry-After": "60"}}, "failed"),
        ({"status": 301, "headers": {"Location": "/elsewhere"}}, "moved"),
        ({"outcome": "refused"}, "refused"),
        ({"body_base64": "PHA+YQ=="}, "changed"),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else value,
)
def test_what_a_crawler_may_say(file, said, outcome):
    with Scheduler.open(settings=file) as scheduler:
        scheduler.add(PAGES[:1])
        with served(file, SchedulerOwner(scheduler)) as client:
            (page,) = due(client)
            first = [{"lease": page["lease"], "digest": "d"}]
            client.post("/api/v1/visits", {"visits": first})
            client.app.state.lending.owner._scheduler._schedule.crawl.agenda.recheck(
                0, scheduler._schedule.clock.now()
            )
            (page,) = due(client)
            answer = client.post("/api/v1/visits", {"visits": [{"lease": page["lease"], **said}]})

    assert answer.status == 200, answer.body
    assert answer.json()["visits"][0]["outcome"] == outcome


def test_nothing_is_leased_by_a_server_that_only_reads(file, scheduler):
    with served(file) as client:
        answer = client.post("/api/v1/due")
        reports = client.post("/api/v1/visits", {"visits": [{"lease": "x", "status": 200}]})

    assert (answer.status, reports.status) == (409, 409)
    assert answer.headers["content-type"] == "application/problem+json"
    assert "recrawl serve --schedule" in answer.json()["detail"]


def test_leases_by_get_need_the_token_and_are_not_prefetched(client):
    assert client.get("/api/v1/due?limit=1").json()["pages"]
    assert client.get("/api/v1/due", Sec_Purpose="prefetch;prerender").status == 403
    client.token = ""
    assert client.get("/api/v1/due").status == 401
    assert client.get("/api/v1/status").status == 200


def test_hints_are_noted_and_taken(client, scheduler):
    urls = ["https://a.org/new-page", "https://elsewhere.org/"]
    answer = client.post("/api/v1/hints", {"urls": urls})

    assert answer.json() == {"noted": 1, "left_out": 1, "takes": "now"}
    scheduler.take_hints()
    with scheduler._held():
        assert scheduler._schedule.reader.find_pages(urls[:1]) != [None]
    assert client.post("/api/v1/hints", {"urls": urls[1:]}).status == 422
    assert client.post("/api/v1/hints", {"urls": ["no address"]}).status == 422


def test_too_many_leases_are_refused(client, monkeypatch):
    monkeypatch.setattr("recrawl.serve.lending._MOST_OUT", 1)
    assert client.post("/api/v1/due?limit=5").status == 503


def test_a_batch_that_is_being_taken_is_not_taken_beside(scheduler):
    async def both():
        lending = Lending(SchedulerOwner(scheduler))
        (lent,) = await lending.due(1, 60.0, wait_seconds=30.0)
        batch = "k", b"digest"
        lending._keys.add("k")
        with pytest.raises(Conflict):
            await lending.seen_all([(lent.lease, None)], batch)

    asyncio.run(both())


def test_a_batch_is_taken_whole_though_its_sender_has_left(scheduler):
    async def leave():
        lending = Lending(SchedulerOwner(scheduler))
        (lent,) = await lending.due(1, 60.0, wait_seconds=30.0)
        report = Report(outcome=VisitOutcome.GONE)
        sender = asyncio.create_task(lending.seen_all([(lent.lease, report)], ("k", b"d")))
        await asyncio.sleep(0)
        sender.cancel()
        await asyncio.gather(*lending._working)
        return await lending.seen_all([(lent.lease, report)], ("k", b"d"))

    assert asyncio.run(leave()) == [VisitOutcome.GONE]
    assert scheduler._schedule.reader.last_visit() == 1
