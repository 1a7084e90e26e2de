"""The calls that read answer what the description of the API says, on a real server."""

from __future__ import annotations

import time
from urllib.parse import quote

import jsonschema  # type: ignore[import-untyped] # ships no types
import pytest

from recrawl.scheduler import Scheduler
from recrawl.serve.lending import SchedulerOwner
from recrawl.store import add_hints
from tests.serve import servers
from tests.serve.api_server import PAGES, Client, crawl_store, served, write_settings


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    file = write_settings(tmp_path_factory.mktemp("served"))
    crawl_store(file)
    return file


@pytest.fixture(scope="module")
def client(file):
    """A stranger, who may read: of `recrawl serve`, in its own process, for all tests that do."""
    with servers.served(file) as address:
        yield Client(int(address.rpartition(":")[2]), token="")


@pytest.fixture(scope="module")
def description(client):
    return client.get("/api/v1/openapi.json").json()


CALLS = [
    ("/status", ""),
    ("/plan", ""),
    ("/pages", ""),
    ("/pages", "?q=s1&host=a.org&sort=-next&limit=2&offset=1"),
    ("/pages", f"?url={quote(PAGES[3])}"),
    ("/pages/{page}", ""),
    ("/pages/{page}/visits", "?limit=2"),
    ("/pages/{page}/versions", ""),
    ("/pages/{page}/why", ""),
    ("/visits", "?after=3&limit=5"),
    ("/why", f"?url={quote(PAGES[0])}"),
    ("/hosts", "?limit=1&offset=1"),
    ("/changes", "?limit=3&with=markdown"),
    ("/copies", f"?url={quote(PAGES[0])}&as=text"),
    ("/listings", ""),
]


@pytest.mark.parametrize(("path", "query"), CALLS, ids=lambda value: value or "-")
def test_an_answer_is_as_described(client, description, path, query):
    answer = client.get(f"/api/v1{path.replace('{page}', '3')}{query}")
    assert answer.status == 200, answer.body
    operation = description["paths"][f"/api/v1{path}"]["get"]
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    assert schema, "described"
    jsonschema.validate(answer.json(), {**schema, "components": description["components"]})

    tag = answer.headers["etag"]
    again = client.get(f"/api/v1{path.replace('{page}', '3')}{query}", If_None_Match=f'"x", {tag}')
    assert again.status in (304, 200)  # 200 where it tells of the instant
    assert again.status == 304 or path in (
        "/status",
        "/plan",
        "/why",
        "/pages/{page}/why",
        "/copies",
    )


def test_visits_are_read_to_the_end_by_their_numbers(client):
    after, seen = 0, []
    while True:
        found = client.get(f"/api/v1/visits?after={after}&limit=7").json()
        seen += [each["visit"] for each in found["visits"]]
        after = found["after"]
        if not found["more"]:
            break
    assert seen == list(range(1, len(seen) + 1))
    assert len(seen) >= 3 * len(PAGES)


def test_changes_are_read_to_the_end_by_their_cursors(client):
    cursor, seen = "", []
    while True:
        found = client.get(f"/api/v1/changes?limit=4&after={cursor}").json()
        seen += [each["id"] for each in found["events"]]
        cursor = found["cursor"]
        if not found["more"]:
            break
    assert len(seen) == len(set(seen)) >= len(PAGES)
    assert client.get(f"/api/v1/changes?after={cursor}&wait=0.2").json()["events"] == []
    assert client.get("/api/v1/changes?after=wrong-9").status == 422


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/pages/99", 404),
        ("/pages/99/why", 404),
        ("/pages/-1", 422),
        ("/pages?limit=501", 422),
        ("/pages?sort=colour", 422),
        ("/pages?status=odd", 422),
        ("/changes?kind=odd", 422),
        ("/copies", 422),
        ("/copies?url=https://a.org/none", 404),
        ("/why?url=https://a.org/none", 404),
        ("/listings/none/objects", 404),
        ("/none", 404),
    ],
)
def test_what_is_wrong_is_one_sentence(client, path, code):
    answer = client.get(f"/api/v1{path}")
    assert answer.status == code
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == code
    assert problem["detail"]
    assert "\n" not in problem["detail"]


def test_a_copy_is_read_with_a_guarantee(client, file):
    url = quote(PAGES[0])
    sure = client.get(f"/api/v1/copies?url={url}&fresh=0.01")
    unsure = client.get(f"/api/v1/copies?url={url}&fresh=0.9999")

    assert sure.status == 200
    assert sure.json()["visited"] is False
    assert unsure.status == 409
    assert unsure.json()["fresh"] == pytest.approx(sure.json()["fresh"], abs=0.05)
    assert "recrawl crawl --serve" in unsure.json()["detail"]
    assert client.get(f"/api/v1/copies?url={url}&fresh=2").status == 422


def test_a_guarantee_holds_though_a_page_was_hinted_a_moment_ago(client, file):
    """What is kept of the crawl for a while does not know of it."""
    hinted, other = (f"/api/v1/copies?url={quote(each)}" for each in PAGES[-2:])
    before = client.get(hinted).json()["fresh"]

    add_hints(file.with_name("recrawl.db"), PAGES[-2:-1], time.time())

    assert client.get(hinted).json()["fresh"] < before / 2
    assert client.get(f"{hinted}&fresh={before / 2}").status == 409
    assert client.get(f"{other}&fresh=0.01").status == 200


def test_where_others_make_the_visits_nothing_is_fetched(tmp_path):
    file = write_settings(tmp_path)
    crawl_store(file, rounds=2)
    with (
        Scheduler.open(settings=file) as scheduler,
        served(file, SchedulerOwner(scheduler)) as client,
    ):
        url = f"/api/v1/copies?url={quote(PAGES[0])}&fresh=0.9999"
        assert "other crawlers" in client.get(url).json()["detail"]
        stranger = Client(client.port, token="")
        assert "other crawlers" in stranger.get(url).json()["detail"]


def test_an_empty_store_is_served(tmp_path):
    file = write_settings(tmp_path)
    with Scheduler.open(settings=file):
        pass
    with served(file) as client:
        for path in ("/status", "/plan", "/pages", "/visits", "/changes", "/hosts", "/listings"):
            assert client.get(f"/api/v1{path}").status == 200, path
