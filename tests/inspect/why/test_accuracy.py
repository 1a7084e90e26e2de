"""How near what is said of the next visit comes to what then happens, over many pages."""

import numpy as np
import pytest

from recrawl.demo.world import draw_world
from recrawl.inspect.scenario import build_scenario
from recrawl.inspect.why.changes import budget_times, weight_times
from recrawl.inspect.why.what_if import neighbour
from recrawl.simulate.next_visit import simulate_next_visit, simulate_next_visits
from recrawl.state.snapshot import load_snapshot
from tests.inspect.why.frozen import Frozen
from tests.simulate.virtual import crawling, settings_of

BUDGET = 50
WORLD = draw_world(100, start=20_000.0, days=60.0, seed=4)
STREAMS = range(1, 10)


@pytest.fixture(scope="module")
def frozen(tmp_path_factory):
    path = tmp_path_factory.mktemp("frozen") / "recrawl.db"
    return Frozen.at(path, WORLD, settings_of(BUDGET), WORLD.start + 25, days=20)


@pytest.mark.slow
def test_the_next_visit_is_near_what_is_said(tmp_path):
    """Of 102 visits of a running crawl, by the days between two visits to the page."""
    settings = settings_of(BUDGET)
    said, last = [], []
    with crawling(tmp_path / "recrawl.db", WORLD, settings, WORLD.start) as crawl:
        for number, now in enumerate(WORLD.start + 15 + 4 * np.arange(6.0)):
            crawl.go_on(now)
            crawl.save()
            snapshot = load_snapshot(settings, crawl.reader, now)
            asked = range(number, 100, 6)
            scenario = build_scenario(snapshot, crawl.reader, number)
            for page, found in zip(asked, simulate_next_visits(scenario, asked), strict=True):
                said.append((page, now, found.at))
                last.append(snapshot.last[page])
        crawl.go_on(WORLD.end - 1)
    pages, at = (np.array(each) for each in zip(*crawl.made, strict=True))
    really = [at[(pages == page) & (at > now)][0] for page, now, _ in said]
    error = (np.array([each[2] for each in said]) - really) / (np.array(really) - last)

    assert len(error) > 90
    assert np.median(np.abs(error)) < 0.2
    assert np.quantile(np.abs(error), 0.9) < 0.6
    assert abs(np.median(error)) < 0.1


@pytest.mark.slow
def test_the_band_holds_the_visit_in_about_seven_cases_of_ten(frozen):
    """One virtual crawl per random stream says when it visits each of the pages."""
    pages = range(1, 100, 4)
    found = [
        [each.at for each in simulate_next_visits(frozen.scenario(1), pages, stream=stream)]
        for stream in STREAMS
    ]
    really = np.array(frozen.went_on)[list(pages)]
    held = (np.min(found, axis=0) <= really) & (really <= np.max(found, axis=0))

    assert held.mean() >= 0.5


@pytest.mark.slow
def test_other_settings_move_visits_as_is_said(frozen):
    """Twice the budget for all pages, and twice the weight for one after the other."""
    pages = range(2, 100, 9)
    before = np.array(frozen.went_on)[list(pages)] - frozen.now
    twice = np.array(frozen.really(pages, settings_of(2 * BUDGET))) - frozen.now
    found = simulate_next_visits(budget_times(frozen.scenario(2), 2.0), pages)
    forecast = np.array([each.at for each in found]) - frozen.now
    heavier = [settings_of(BUDGET, more=frozen.block(page, "weight = 2")) for page in pages]
    weighed = np.array(
        [frozen.really([page], each)[0] for page, each in zip(pages, heavier, strict=True)]
    )
    scenarios = (weight_times(frozen.scenario(page), 2.0) for page in pages)
    weighed_said = np.array([simulate_next_visit(each).at for each in scenarios])

    turns = 2 / BUDGET  # days
    assert np.median(twice) < 0.8 * np.median(before)
    assert np.median(np.abs(forecast - twice)) < 0.3 * np.median(twice) + turns
    assert np.median(weighed - frozen.now) < 0.8 * np.median(before)
    # Some are visited at once, which is said of them; the others within a share of their wait.
    at_once, said_at_once = (each - frozen.now < turns for each in (weighed, weighed_said))
    assert 0 < at_once.sum() < len(pages)
    assert np.mean(at_once == said_at_once) >= 0.9
    off = np.abs(weighed_said - weighed)[~at_once]
    assert np.median(off / before[~at_once]) < 0.2


@pytest.mark.slow
def test_a_neighbour_found_changed_moves_visits_as_is_said(frozen):
    pages = range(3, 100, 8)
    forecast, really, before = [], [], []
    for page in pages:
        said = frozen.said(page)
        changed = said.what_ifs.get("neighbour found changed now")
        if changed is None or not changed.moves:
            continue
        pool = said.scenario.pool
        (other,) = pool.pages[pool.rows == neighbour(said.scenario)].tolist()
        forecast.append(changed.at - frozen.now)
        really.append(frozen.really([page], changed=other)[0] - frozen.now)
        before.append(frozen.went_on[page] - frozen.now)

    assert len(really) >= 4
    assert np.median(np.array(really) - before) < 0  # page by page: their gaps differ widely
    off = np.abs(np.array(forecast) - really)
    assert np.median(off) < 0.4 * np.median(really) + 2 / BUDGET


def test_a_part_of_the_pages_says_nearly_the_same(frozen):
    """Fifty of a hundred pages, with half of the budget."""
    pages = range(0, 100, 5)
    found = simulate_next_visits(frozen.scenario(0), pages)
    whole = np.array([each.at for each in found]) - frozen.now
    part = (
        np.array([simulate_next_visit(frozen.scenario(page, most=50)).at for page in pages])
        - frozen.now
    )

    assert np.median(np.abs(part - whole) / whole) < 0.2
