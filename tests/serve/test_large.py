"""The dashboard of a crawl of 1,000,000 pages: every page in a browser, and how soon it comes."""

import time

import pytest

from tests.serve import servers, stores

PAGES = (
    "/",
    "/changes",
    "/pages",
    "/pages?q=s3+p99&sort=-fresh",
    "/pages?host=h7.org&sort=next&page=2",
    "/pages/999990",
    "/sites",
    "/sites/h7.org",
    "/listings",
    "/what-if?budget=50000/1d",
)
MOST_SECONDS = 1.0

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with servers.served(stores.large(tmp_path_factory.mktemp("large"))) as found:
        for path in PAGES:  # whoever comes first may wait
            assert servers.get(found + path)[0] == 200
        yield found


def slowdown():
    """How many times slower this machine is now than alone, by work that takes it .1 s alone."""
    began, used = time.perf_counter(), time.process_time()
    while time.process_time() - used < 0.1:
        sum(range(1000))
    return max((time.perf_counter() - began) / 0.1, 1.0)


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_there_within_a_second(address, path):
    """A second of a quiet machine: the best of some tries, and longer where others are at work."""
    allowed, took = [], []
    for _ in range(5):
        busy, began = slowdown(), time.monotonic()
        assert servers.get(address + path)[0] == 200
        took.append(time.monotonic() - began)
        allowed.append(MOST_SECONDS * max(busy, slowdown()))
        if took[-1] <= allowed[-1]:
            break

    assert any(each <= most for each, most in zip(took, allowed, strict=True)), (took, allowed)


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_drawn(address, look, path):
    look().show(address + path)


def test_a_search_finds_one_page_among_all(address):
    _, _, text = servers.get(f"{address}/pages?q=h7.org+p754207")

    assert "<caption>1 page</caption>" in text
    assert "https://h7.org/s6/p754207" in text
