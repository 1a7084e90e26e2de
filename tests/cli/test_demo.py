"""`recrawl demo`: a real site on this machine, crawled for real, beside the truth."""

import asyncio
import math
import os
import pty
import re
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

from recrawl.demo.crawl import RECALL, DemoPlan, crawl_example
from recrawl.demo.jobs import ExampleJobs
from recrawl.demo.result import result_of
from recrawl.demo.world import SECTIONS, draw_world
from recrawl.fetch.http import exchange
from recrawl.settings.settings import read_settings
from recrawl.store import open_store
from recrawl.visits.status import VisitOutcome
from tests.cli.running import Ended, names_in, run, sentence, start
from tests.preloaded import environment
from tests.waiting import HANGS_SECONDS, PatientClock, ending, wait_until

# A fresh copy is expected this much too often or too seldom, at the most.
OFF = 0.03


def crawled(folder, *, days, budget, pages=300, seed=2):
    """A world, and the run of a crawl of it."""
    world = draw_world(pages, start=20_000.0, days=days + 30, seed=seed)
    jobs = ExampleJobs.made(world.start, days=days + 30, seed=seed)
    plan = DemoPlan(folder, budget, days)

    async def crawl():
        clock = PatientClock(plan.seconds_a_day, world.start)
        nothing = lambda *_: None  # noqa: E731 - passed twice
        with pytest.MonkeyPatch.context() as patch:
            # When a request began is reckoned back from its end, on the same clock.
            patch.setattr(exchange, "perf_counter", clock.passed_seconds)
            return await crawl_example(world, jobs, clock, plan, on_start=nothing, watch=nothing)

    return world, jobs, asyncio.run(crawl())


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """A demo of some hundred visits whose folder is kept."""
    folder = tmp_path_factory.mktemp("demo") / "kept"
    words = ["--for", "10m", "--pages", "60", "--budget", "60/1d", "--folder", folder]
    return interrupted(folder, 60, visits=300, words=words), folder


def interrupted(folder, pages, *, visits=0, words=()):
    """A demo that is stopped by Ctrl-C once it has copies of all pages, and so many visits."""

    def is_enough():
        assert process.poll() is None
        if not (folder / "recrawl.db").exists():
            return False
        with open_store(folder / "recrawl.db") as reader:
            outcomes = [some.outcome for some in reader.visits()]
        found = np.concatenate([[], *outcomes])
        return len(found) > visits and np.count_nonzero(found == VisitOutcome.FIRST) == pages

    both = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with ending(start("demo", *words, text=True, **both)) as process:
        assert process.stderr is not None
        begun = process.stderr.readline()
        wait_until(is_enough)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=HANGS_SECONDS)
    return Ended(process.returncode, out, begun + err)


def test_the_demo_shows_what_was_believed_beside_what_was_true(short):
    ended, folder = short

    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    assert re.match(r"In \d+ days \d+ % of the copies were fresh on average; ", lines[0])
    assert lines[2].startswith("Share of fresh copies")
    assert [line.split()[0] for line in lines[3:7]] == ["until", "expected", "true", "uniform"]
    assert "expected fresh" in ended.out
    assert sum(line.startswith("/") for line in lines) == 8
    assert ended.err.startswith("Crawling http://127.0.0.1:")
    assert str(folder) in ended.err


def test_the_demo_shows_its_change_feed_beside_the_truth(short):
    """As many events as the store has, and a share with its band beside the true one."""
    ended, folder = short
    with open_store(folder / "recrawl.db") as reader:
        events = sum(len(batch) for batch in reader.events())

    assert "Newest changes in the change feed:" in ended.out
    assert f"The change feed holds {events:,} events." in ended.out
    said = re.search(r"It has ([\d.]+) % .* \(([\d.]+) to ([\d.]+) %\).* true: (\d+) %", ended.out)
    assert said is not None
    share, low, high, true = map(float, said.groups())
    assert 0 <= low <= share <= high <= 100
    assert 0 <= true <= 100


def test_nothing_is_asked_that_robots_txt_forbids(short):
    assert "Requests that robots.txt forbids: none." in short[0].out


def test_the_figures_are_those_of_the_store(short):
    ended, folder = short
    with open_store(folder / "recrawl.db") as reader:
        outcomes = np.concatenate([visits.outcome for visits in reader.visits()])
        addresses = [each for some in reader.all_addresses() for each in some]

    words = re.search(r"([\d,]+) visits: (\d+) first copies, (\d+) changed", ended.out)
    assert words is not None
    assert [int(word.replace(",", "")) for word in words.groups()] == [
        len(outcomes),
        np.count_nonzero(outcomes == VisitOutcome.FIRST),
        np.count_nonzero(outcomes == VisitOutcome.CHANGED),
    ]
    assert not any("/private/" in address for address in addresses)


def test_what_is_kept_is_a_crawl_like_any_other(short):
    _, folder = short

    settings = read_settings((folder / "recrawl.toml").read_text())

    assert settings.budget.visits == 60
    assert [rule.local for rule in settings.rules] == [True, True]
    assert [rule.name for rule in settings.listings] == ["jobs"]
    assert {"recrawl.toml", "recrawl.db"} <= set(names_in(folder))


def test_the_budget_is_kept(short):
    """Since it began the crawl has made no more visits than its days allow.

    A visit is paid for when it begins and is dated when its answer has come, so of single days
    nothing can be said: what began on one may end on the next.
    """
    with open_store(short[1] / "recrawl.db") as reader:
        at = np.sort(np.concatenate([visits.at for visits in reader.visits()]))

    days = (at - at[0]).astype(np.int64) / 86_400e6
    begun = np.floor(days) + 1
    assert (np.arange(1, len(days) + 1) <= 60 * (begun + 1)).all()
    assert len(days) > 60


def test_what_is_not_kept_is_removed():
    ended = run("demo", "--for", "2s", "--pages", "20")

    (folder,) = re.findall(r"^(\S+) was removed; --folder", ended.err, re.MULTILINE)
    assert f"into {folder}" in ended.err
    assert not Path(folder).exists()


def test_an_interrupt_ends_it_early_with_all_figures(tmp_path):
    words = ["--for", "10m", "--pages", "40", "--folder", tmp_path / "kept"]
    ended = interrupted(tmp_path / "kept", 40, words=words)

    assert ended.code == 0
    assert "visits: 40 first copies" in ended.out


def test_a_terminal_shows_how_it_goes():
    ours, theirs = pty.openpty()
    streams = {"stdout": subprocess.DEVNULL, "stderr": theirs}
    words = ["demo", "--for", "10m", "--pages", "20"]
    with ending(start(*words, env=environment(TERM="xterm"), **streams)) as process:
        os.close(theirs)
        shown = b""
        while b"of 600" not in shown or b"expected fresh" not in shown:
            shown += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        while b"removed" not in shown:
            shown += os.read(ours, 4096)
        process.wait(HANGS_SECONDS)
    os.close(ours)

    assert re.search(rb"day \d+ of 600 ", shown)
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--for", "1s"], "--for must be a time from 2s to 60m (got '1s')"),
        (["--for", "2h"], "--for must be a time from 2s to 60m (got '2h')"),
        (["--for", "soon"], "duration must look like 90s, 30m, 6h, 3d, 2w or 1y (got 'soon')"),
        (["--budget", "4/change"], "budget must look like 5000/1d or 0.1/page/1d (got '4/change')"),
        (["--pages", "19"], "pages must be from 20 to 10000 (got 19)"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_made(words, said, tmp_path):
    folder = tmp_path / "kept"

    assert sentence(run("demo", *words, "--folder", folder)) == said
    assert not folder.exists()


def test_a_folder_that_holds_something_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")

    said = sentence(run("demo", "--folder", tmp_path))

    assert said == f"{tmp_path} is not empty; --folder needs a new folder"
    assert names_in(tmp_path) == ["mine.txt"]


def test_a_folder_that_cannot_be_is_refused(tmp_path):
    (tmp_path / "file").write_text("")

    said = sentence(run("demo", "--folder", tmp_path / "file" / "kept"))

    assert said.startswith(f"{tmp_path / 'file' / 'kept'} cannot be created")


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    """Forty days at 120 visits each."""
    world, jobs, run = crawled(tmp_path_factory.mktemp("long"), days=40.0, budget="120/1d")
    return world, run, result_of(world, jobs, run)


@pytest.mark.slow
def test_thousands_of_visits_find_every_page_and_obey_robots_txt(long):
    world, run, result = long

    assert result.costs.visits >= 2_000
    assert result.costs.first == len(world)
    assert result.costs.forbidden == 0
    assert result.costs.saved_bytes > 0
    assert result.costs.cosmetic > 0
    assert run.requests.all < 2 * result.costs.visits  # sitemaps, the board, second requests
    assert run.tally.outcomes[VisitOutcome.FAILED] == 0


@pytest.mark.slow
def test_visits_keep_copies_fresher_than_visits_in_turn(long):
    """At the same number of visits, once the first tenth has taught something."""
    result = long[2]

    assert np.mean(result.freshness.true[1:]) > np.mean(result.uniform[1:]) + 0.01


@pytest.mark.slow
def test_bands_hold_the_rates_of_pages_that_change_by_themselves(long):
    """Of sections that change as a whole now and then, some weeks cannot tell how often.

    They hold about 85 % of them. When an answer comes is not up to the crawl's clock alone, so no
    two runs are alike to the last visit.
    """
    world, run, _ = long
    alone = [number for number, each in enumerate(SECTIONS) if each.sweep == math.inf]
    pages = np.isin(world.section, alone)
    low, _, high = run.rates[:, pages]

    held = (low <= world.rate[pages]) & (world.rate[pages] <= high)

    assert pages.sum() > 150
    assert held.mean() > 0.65


@pytest.mark.slow
def test_as_many_copies_are_fresh_as_expected_in_the_tenths_of_a_run(long):
    """On the mean of them: one in which a whole section is swept may be off by more.

    The first tenth is spent on first copies and on what a new page is taken for. No two runs are
    alike; tests/demo/test_virtual.py looks at single tenths of runs that are.
    """
    fresh = long[2].freshness

    assert np.abs(fresh.expected - fresh.true)[1:].mean() <= OFF


@pytest.mark.slow
def test_chances_come_true_as_often_as_they_say(long):
    """By tenths of all chances, on the mean of them."""
    believed = long[2].calibration

    assert np.abs(believed.expected - believed.true).mean() <= OFF


@pytest.mark.slow
def test_nothing_that_the_site_does_is_taken_for_a_change(long):
    """But for a page that really changes between two fetches."""
    caught = long[2].caught

    assert caught.noisy > 100
    assert caught.noisy_false <= 0.01 * caught.noisy
    assert caught.walled > 0
    assert caught.taken_for_walls > 0
    assert caught.found_though_denied > 50


@pytest.mark.slow
def test_the_job_board_is_kept_as_wanted(long):
    caught = long[2].caught

    assert caught.syncs > 5
    assert caught.recall >= RECALL
