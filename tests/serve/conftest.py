"""Stores that are served to all tests of a file, and a browser that looks at them."""

import pytest

from tests.browsers import CHROMIUM, NO_BROWSER
from tests.serve import servers, stores


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """Address of a server of a crawl like the demo's, with hostile content."""
    with servers.served(stores.example(tmp_path_factory.mktemp("example"))) as address:
        yield address


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """Address of a server of a crawl in which nothing happened yet."""
    with servers.served(stores.empty(tmp_path_factory.mktemp("empty"))) as address:
        yield address


@pytest.fixture(scope="module")
def chromium():
    """A headless browser."""
    if CHROMIUM is None:
        pytest.skip(NO_BROWSER)
    with servers.browser() as found:
        yield found


@pytest.fixture
def look(chromium):
    """Opens pages in windows that notice what must not happen."""
    windows = []

    def open_window(**options):
        window = servers.Window.open(chromium, **options)
        windows.append(window)
        return window

    yield open_window
    for window in windows:
        window.context.close()
    for window in windows:
        assert not window.wrong, window.wrong
