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


@pytest.fixture(scope="module")
def shared_windows(chromium):
    """Windows by their options, for tests that only look."""
    windows: dict[tuple[tuple[str, str], ...], servers.Window] = {}
    yield windows
    for window in windows.values():
        window.context.close()


@pytest.fixture
def glance(chromium, shared_windows):
    """Opens pages in a window that other tests have looked through before.

    A window of its own costs a process and loads all scripts anew. It is for tests that leave
    something behind, or need that nothing was.
    """
    used = []

    def find_window(**options):
        key = tuple(sorted((name, repr(each)) for name, each in options.items()))
        if key not in shared_windows:
            shared_windows[key] = servers.Window.open(chromium, **options)
        used.append(shared_windows[key])
        return used[-1]

    yield find_window
    for window in used:
        wrong, window.wrong[:] = list(window.wrong), []
        assert not wrong, wrong


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
