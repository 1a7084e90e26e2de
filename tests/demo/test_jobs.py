"""A job board of which everything is known."""

import numpy as np
import pytest

from recrawl.demo.jobs import A_PAGE, PATH, ExampleJobs
from recrawl.parse.items.html import read_html_items
from recrawl.parse.items.item import Layout

START = 20_000.0
LAYOUT = Layout("li.job", "@id", {"title": "h3", "city": ".city"}, "a.next")


def test_the_same_seed_makes_the_same_jobs():
    one, other = (ExampleJobs.made(START, days=10, seed=4) for _ in range(2))

    assert np.array_equal(one.up, other.up)
    assert not np.array_equal(one.up, ExampleJobs.made(START, days=10, seed=5).up)


def test_as_many_jobs_come_as_was_asked_for_and_few_at_weekends():
    """A Poisson count of about 10,000 within four of its standard deviations."""
    jobs = ExampleJobs.made(START, days=1000 - 120, arrivals=10.0)

    weekday = (np.floor(jobs.up).astype(int) - 4) % 7
    assert len(jobs.up) == pytest.approx(10_000, abs=400)
    assert np.mean(weekday >= 5) == pytest.approx(0.4 / 7, abs=0.01)


def test_the_board_begins_in_balance():
    """By Little's law there are 10 a day times a mean stay of 18.6 days."""
    jobs = ExampleJobs.made(START, days=100, arrivals=10.0)
    counts = [len(jobs.listed(START + day)) for day in range(0, 100, 7)]

    assert np.mean(counts[:7]) == pytest.approx(186, rel=0.15)
    assert np.mean(counts[7:]) == pytest.approx(186, rel=0.15)


def test_pages_show_every_job_once():
    jobs = ExampleJobs.made(START, days=10)
    shown, address = [], f"http://127.0.0.1{PATH}"
    number = 1
    while address:
        found = read_html_items(jobs.page(START + 5, number), LAYOUT, f"http://127.0.0.1{PATH}")
        shown += list(found.objects)
        assert len(found.objects) <= A_PAGE
        address, number = found.following, number + 1

    assert list(map(int, shown)) == jobs.listed(START + 5).tolist()


def test_precision_and_recall_by_hand():
    """Of jobs 0 and 1 the second is left, beside job 2."""
    jobs = ExampleJobs(0.0, np.array([0.0, 0.0, 2.0]), np.array([1.5, 9.0, 9.0]))

    assert (jobs.precision(1.0, 3.0), jobs.recall(1.0, 3.0)) == (0.5, 0.5)
    assert (jobs.precision(-1.0, 3.0), jobs.recall(1.0, 10.0)) == (1.0, 1.0)
