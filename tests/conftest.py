"""How all tests run: the same examples in every run, and nothing left behind by any of them.

`scripts/test --random` explores instead: with pytest-randomly loaded, which is switched off in
`pyproject.toml`, hypothesis takes its examples from the seed of the run.
"""

import signal

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from tests.leftovers import adopt_orphans, nothing_left
from tests.preloaded import SERVERS

# The machine may be busy with other work: neither a slow example nor slow drawing is a failure.
# Without a database, what an earlier run has found does not decide on this one.
_SHARED = settings(
    max_examples=60,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
# The same examples in every run find nothing new: fewer of them, and more where they are fresh.
settings.register_profile("fixed", _SHARED, derandomize=True, max_examples=20)
settings.register_profile("random", _SHARED)


def pytest_configure(config):
    adopt_orphans()
    # A run that a shell has put into the background ignores interrupts, and so would the programs
    # that tests start and interrupt.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    explores = config.pluginmanager.hasplugin("randomly")
    settings.load_profile("random" if explores else "fixed")
    if not explores:
        # Hypothesis also tries the constants of all modules that happen to be loaded, so the
        # examples of one test would depend on which others run beside it.
        nothing_local = providers._local_constants
        providers._get_local_constants = lambda: nothing_local


def pytest_unconfigure():
    for server in SERVERS:
        server.close()


@pytest.fixture(autouse=True)
def leaves_nothing():
    """A test closes and ends what it opens and starts."""
    with nothing_left():
        yield


@pytest.fixture(autouse=True, scope="module")
def module_leaves_nothing():
    """So do the fixtures that the tests of a file share."""
    with nothing_left():
        yield
