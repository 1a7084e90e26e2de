"""What is told of a page is what the store and the policy hold."""

import numpy as np
import pytest

from recrawl.entries.entries import RobotsRead
from recrawl.inspect.next_visits import next_visits
from recrawl.inspect.pages import believed, page_rows
from recrawl.inspect.scenario import build_scenario
from recrawl.inspect.why.facts import activity, estimate, evidence, value_at, worth
from recrawl.inspect.why.why import reasons
from recrawl.simulate.next_visit import simulate_next_visit
from recrawl.state.snapshot import load_snapshot
from recrawl.store import open_for_writing, open_store
from recrawl.units import instants_after_epoch
from tests.inspect.looked import BEGAN, DAY, made

NOW = BEGAN + 10


@pytest.fixture
def path(tmp_path):
    return tmp_path / "recrawl.db"


def looked(path, settings, page, now=NOW):
    with open_store(path) as reader:
        snapshot = load_snapshot(settings, reader, now)
        return snapshot, build_scenario(snapshot, reader, page)


def test_evidence_is_counted(path):
    settings = made(path)
    with open_store(path) as reader:
        snapshot = load_snapshot(settings, reader, NOW)
        found = [evidence(snapshot, reader, page) for page in range(60)]
        rows = page_rows(snapshot, reader)

    assert [each.visits for each in found] == [5] * 60
    assert [each.compared for each in found] == [4] * 60
    assert [each.changes for each in found] == rows.changes.tolist()
    assert found[0].outcomes["first"] == 1
    assert all(BEGAN <= each.first_visit < BEGAN + 1 for each in found)
    assert all(BEGAN + 8 <= each.last_visit < BEGAN + 9 for each in found)
    never = [np.isnan(each.last_change) for each in found]
    assert never == (rows.changes == 0).tolist()


def test_the_estimate_is_what_the_crawl_believes(path):
    settings = made(path)
    snapshot, scenario = looked(path, settings, 7)
    beliefs, found = believed(snapshot, 7), estimate(scenario)

    assert found is not None
    assert beliefs is not None
    assert found.rate == beliefs.rate[0]
    assert (found.low, found.high) == tuple(end[0] for end in beliefs.rate_band())
    assert found.fresh == beliefs.fresh[0]


def test_what_is_its_own_grows_with_visits(path):
    """Without a second visit everything is assumed; each of them adds."""
    shares = []
    for rounds in (1, 2, 5):
        settings = made(path.with_name(f"{rounds}.db"), rounds=rounds)
        found = estimate(looked(path.with_name(f"{rounds}.db"), settings, 3)[1])
        assert found is not None
        shares.append(found.own)

    assert shares[0] == 0
    assert 0 < shares[1] < shares[2] < 1


def test_a_page_of_which_nothing_is_known_is_what_its_relatives_are(path):
    settings = made(path, rounds=1)
    found = estimate(looked(path, settings, 3)[1])

    assert found is not None
    assert found.rate == pytest.approx(found.relatives)


def test_a_visit_is_worth_what_the_policy_says_and_reaches_the_price(path):
    settings = made(path)
    _, scenario = looked(path, settings, 7)
    base = simulate_next_visit(scenario)
    found = worth(scenario, base)
    now = instants_after_epoch(np.array([NOW]))[0]

    assert found is not None
    (value,) = scenario.policy.value(scenario.pool.state, np.array([scenario.row]), now)
    assert found.value == pytest.approx(value)
    assert found.values[0] == (NOW, found.value)
    assert [at for at, _ in found.values][2] == base.at
    if found.reaches > NOW:
        (reached,) = value_at(scenario, scenario.pool.state, [found.reaches])
        assert reached == pytest.approx(found.price, rel=0.1)  # bursts fade until then


def test_a_section_that_nothing_is_known_of_adds_nothing(path):
    settings = made(path, rounds=1)
    with open_store(path) as reader:
        snapshot = load_snapshot(settings, reader, NOW)
        found = activity(build_scenario(snapshot, reader, 25), snapshot, reader)

    assert found is not None
    assert found.address == "https://a.org/s2/"
    assert found.pages == 10
    assert found.pace == pytest.approx(1)
    assert found.value == pytest.approx(found.even)


def test_a_robots_txt_that_forbids_a_page_decides(path):
    settings = made(path)
    body = b"User-agent: bot\nDisallow: /s2/\nCrawl-delay: 30"
    with open_for_writing(path) as store:
        store.write([RobotsRead("https://a.org", (NOW - 0.5) * DAY, 200, body, 30 / DAY)])
    with open_store(path) as reader:
        snapshot = load_snapshot(settings, reader, NOW)
        due = next_visits(snapshot, reader, np.arange(60))
        # Those of both sections that are next: what is far off takes long to simulate.
        pages = (20 + int(due[20:30].argmin()), 30 + int(due[30:].argmin()))
        forbidden, allowed = (reasons(snapshot, reader, page) for page in pages)
        scenario = build_scenario(snapshot, reader, 25)

    assert forbidden.constraint == "robots"
    assert forbidden.figures["robots_read_at"] == pytest.approx(NOW - 0.5)
    assert allowed.constraint != "robots"
    assert scenario.host.delay * DAY == pytest.approx(30)


def test_a_host_without_robots_txt_is_left_alone_for_an_hour(path):
    settings = made(path)
    with open_for_writing(path) as store:
        store.write([RobotsRead("https://a.org", NOW * DAY, 503, b"")])
    _, scenario = looked(path, settings, 3, NOW + 0.01)

    assert scenario.host.after == pytest.approx(NOW + 1 / 24)
    assert simulate_next_visit(scenario).at >= NOW + 1 / 24
