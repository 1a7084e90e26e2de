"""Visits that are made to learn rather than to refresh."""

import numpy as np
import pytest

from recrawl.entries.entries import PagesFound, VisitMade
from recrawl.inspect.status import learning as overview_learning
from recrawl.inspect.status.learning import learning
from recrawl.store import open_for_writing, open_store
from recrawl.visits.status import Audit, VisitOutcome
from tests.inspect.looked import BEGAN, DAY, made, overview_of

NOW = BEGAN + 10.25


@pytest.fixture
def path(tmp_path):
    return tmp_path / "recrawl.db"


def learned(path, first, end):
    with open_store(path) as reader:
        return learning(reader, first, end)


def test_a_page_is_learnt_about_until_it_was_compared_three_times(path):
    """Five rounds: a first copy, three visits to learn, one more; the week holds the last three."""
    status = overview_of(made(path), path, NOW)

    assert status.learning.visits == status.learning.looked_at == 180
    assert (status.learning.young, status.learning.audits, status.learning.either) == (120, 0, 120)
    assert status.learning.share(status.learning.either) == pytest.approx(2 / 3)


def test_a_first_copy_is_had_and_not_learnt_about(path):
    made(path, pages=4, rounds=1)

    assert learned(path, 1, 5).young == 0


def test_a_page_that_fails_before_there_is_a_copy_is_not_learnt_about(path):
    made(path, pages=1, rounds=0)
    with open_for_writing(path) as store:
        store.write([VisitMade(0, BEGAN * DAY + each, VisitOutcome.FAILED) for each in range(3)])

    assert learned(path, 1, 4).young == 0


def test_a_second_request_is_a_visit_to_learn_once(path):
    """One to a page that was compared often, one to a young page, which counts already."""
    made(path, pages=1)
    with open_for_writing(path) as store:
        store.write(
            [
                PagesFound(["https://a.org/new"], ["a.org"], [0], NOW * DAY),
                VisitMade(0, NOW * DAY, VisitOutcome.NOT_MODIFIED, audit=Audit.WORD),
                VisitMade(1, NOW * DAY, VisitOutcome.FIRST),
                VisitMade(1, NOW * DAY + 1, VisitOutcome.CHANGED, audit=Audit.NOISE),
                VisitMade(0, NOW * DAY + 2, VisitOutcome.SAME),
            ]
        )
    found = learned(path, 6, 10)

    assert (found.visits, found.young, found.audits, found.either) == (4, 1, 2, 2)


def test_of_many_visits_some_are_looked_at(path, monkeypatch):
    """600 visits, of which 3 rounds in 5 were made to learn."""
    made(path, pages=120)
    monkeypatch.setattr(overview_learning, "_MOST", 200)
    found = learned(path, 1, 601)

    assert (found.visits, found.looked_at) == (600, 200)
    assert found.share(found.young) == pytest.approx(0.6, abs=4 * np.sqrt(0.6 * 0.4 / 200))


def test_no_visits_have_no_share(path):
    made(path, rounds=0)

    assert np.isnan(learned(path, 1, 1).share(0))
