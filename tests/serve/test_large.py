"""The dashboard of a crawl of 100,000 pages: every page, and how soon it is there."""

import time

import pytest

from tests.serve import servers, stores

PAGES = (
    "/",
    "/changes",
    "/pages",
    "/pages?q=s3+p99&sort=-fresh",
    "/pages?host=h7.org&sort=next&page=2",
    "/pages/99999",
    "/sites",
    "/sites/h7.org",
    "/listings",
    "/what-if?budget=50000/1d",
)
# Five times what a page may take on a quiet machine: tests share theirs.
MOST_SECONDS = 5.0

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with servers.served(stores.large(tmp_path_factory.mktemp("large"))) as found:
        for path in PAGES:  # whoever comes first may wait
            assert servers.get(found + path)[0] == 200
        yield found


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_there_soon(address, path):
    took = []
    for _ in range(3):
        began = time.monotonic()
        assert servers.get(address + path)[0] == 200
        took.append(time.monotonic() - began)

    assert min(took) < MOST_SECONDS


def test_every_page_is_drawn(address, look):
    window = look()
    for path in ("/", "/pages", "/sites", "/sites/h7.org"):
        window.show(address + path)


def test_a_search_finds_one_page_among_all(address):
    _, _, text = servers.get(f"{address}/pages?q=h7.org+p54207")

    assert "<caption>1 page</caption>" in text
    assert "https://h7.org/s6/p54207" in text
