"""Workers as actors of a real Ray: started, killed, started again, stopped."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from base64 import b64encode
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.adapters.engines.isolated import environment, missing
from tests.cli.running import run, sentence
from tests.crawl.test_worker_records import free_port
from tests.crawl.test_workers import (
    AGENT,
    PAGES,
    SITES,
    assert_polite,
    logged,
    running_sites,
    said,
    seen,
    settings_text,
)
from tests.servers import postgres
from tests.waiting import HANGS_SECONDS, started, wait_until

WORKERS = ("visits-0", "visits-1")
RUNS = re.compile(r"(?m)^worker (\d+): Runs on \S+ \(process (\d+)\)\.$")
SECRET = "not for everyone"  # noqa: S105 - none
# Slots that have a worker, those of workers that are gone, and workers there are by now.
HELD = "select count(*) from {schema}.slots where worker is not null"
LEFT = HELD + " and until <= clock_timestamp()"
ALIVE = "select count(*) from {schema}.workers where until > clock_timestamp()"


@pytest.fixture
def home():
    """A home that is as near to the root as can be: names of sockets are short."""
    if why := missing("ray"):
        pytest.skip(why)
    with tempfile.TemporaryDirectory(prefix="e", dir="/tmp") as folder:
        yield Path(folder)


@contextmanager
def crawl_on_ray(folder, home, **variables):
    """A crawl by two workers, as a shell starts it: in a process group of its own."""
    words = ("crawl", "--engine", "ray", "--workers", "2", "--visit-log", "visits.jsonl")
    with (
        (folder / "ray.txt").open("w") as output,
        started(
            [sys.executable, "-m", "recrawl", *words],
            cwd=folder,
            env={**environment(home), **variables},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        yield process


@contextmanager
def cluster(home):
    """A cluster of one machine that runs by itself; its address."""
    address = f"127.0.0.1:{free_port()}"
    words = ["start", "--head", "--block", "--node-ip-address=127.0.0.1", "--disable-usage-stats"]
    more = [f"--port={address.rpartition(':')[2]}", "--include-dashboard=false", "--num-cpus=2"]
    program = Path(sys.executable).with_name("ray")
    variables = {**environment(home), "RAY_ADDRESS": ""}
    with (
        (home / "cluster.txt").open("w") as output,
        started([program, *words, *more], env=variables, stdout=output, stderr=output) as process,
    ):
        wait_until(lambda: "Ray runtime started" in (home / "cluster.txt").read_text())
        yield address
        process.terminate()
        process.wait(HANGS_SECONDS)


def processes(folder):
    """Processes that each worker has had, in order."""
    found: dict[int, list[int]] = {}
    for number, process in RUNS.findall(said(folder, "ray")):
        found.setdefault(int(number), []).append(int(process))
    return found


def test_a_worker_that_is_killed_comes_back_and_no_visit_is_lost_or_double(tmp_path, home):
    with postgres.place() as place, running_sites() as sites:
        (tmp_path / "recrawl.toml").write_text(settings_text(place, sites))
        made = run("init", cwd=tmp_path)
        assert made.code == 0, made.err
        with crawl_on_ray(tmp_path, home) as process:
            wait_until(lambda: all(len(logged(tmp_path, name)) > 10 for name in WORKERS))
            victim = processes(tmp_path)[0][0]
            os.kill(victim, signal.SIGKILL)
            wait_until(lambda: len(processes(tmp_path)[0]) == 2)
            assert "worker 0: was lost; Ray starts it again" in said(tmp_path, "ray")
            before = len(logged(tmp_path, WORKERS[0]))
            wait_until(lambda: len(logged(tmp_path, WORKERS[0])) > before + 10)
            wait_until(lambda: len(seen(tmp_path, WORKERS)) == SITES * (PAGES + 1))
            # Who was killed holds its slots until its lease ends, and then somebody takes them.
            wait_until(lambda: counts(place, ALIVE, LEFT) == (2, 0))
            os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does
            assert process.wait(HANGS_SECONDS) == 0, said(tmp_path, "ray")

        output = said(tmp_path, "ray")
        assert output.count(": Stopped after ") == 2, output
        assert counts(place, HELD, ALIVE) == (0, 0)
        assert_polite(sites)
        assert_each_visit_is_there_once(tmp_path, place)


def test_settings_and_secrets_reach_workers_on_a_cluster_that_runs_already(tmp_path, home):
    """Its processes have an environment of their own, in which there is no secret of ours."""
    with postgres.place() as place, running_sites() as sites, cluster(home) as address:
        login = 'user = "me"\npassword = "env:TEST_PASSWORD"\n'
        (tmp_path / "recrawl.toml").write_text(settings_text(place, sites) + login)
        run("init", cwd=tmp_path)
        with crawl_on_ray(tmp_path, home, RAY_ADDRESS=address, TEST_PASSWORD=SECRET) as process:
            wait_until(lambda: sites.logins)
            process.send_signal(signal.SIGTERM)
            assert process.wait(HANGS_SECONDS) == 0, said(tmp_path, "ray")

        assert counts(place, HELD, ALIVE) == (0, 0)
        assert sites.logins == {f"Basic {b64encode(f'me:{SECRET}'.encode()).decode()}"}
        kept = [each for each in home.rglob("*.log") if SECRET in each.read_text(errors="replace")]
        assert kept == []


def counts(place, *queries):
    """How many rows each query finds in the schema of a store."""
    import psycopg

    address, _, schema = place.rpartition("schema=")
    with psycopg.connect(address.rstrip("?&")) as connection:
        return tuple(
            (connection.execute(query.format(schema=schema).encode()).fetchone() or (None,))[0]
            for query in queries
        )


def assert_each_visit_is_there_once(folder, place):
    """What was acknowledged is in the store under its number, and nothing is there twice."""
    with postgres.reading(place) as reader:
        assert [each for each in reader.check() if each.found] == []
        visits = list(reader.visits())
        pages = [int(page) for some in visits for page in some.page]
        times = [int(at) for some in visits for at in some.at.astype("datetime64[ms]").astype(int)]
        named = dict(zip(sorted(set(pages)), reader.addresses(sorted(set(pages))), strict=True))
    assert max(Counter(zip(pages, times, strict=True)).values()) == 1
    by_number = {number: named[page] for number, page in enumerate(pages, start=1)}
    acknowledged = [each for name in WORKERS for each in logged(folder, name)]
    assert len({each["visit"] for each in acknowledged}) == len(acknowledged)
    for each in acknowledged:
        assert by_number[each["visit"]] == each["address"]


def test_a_store_in_a_file_is_refused_before_ray_is_started(tmp_path):
    run("init", "--agent", AGENT, cwd=tmp_path)

    ended = run("crawl", "--engine", "ray", "--workers", "2", cwd=tmp_path)

    assert "workers need a store in PostgreSQL (got recrawl.db)" in sentence(ended)


@pytest.fixture
def store(tmp_path):
    """Settings of a crawl without sites whose store is in PostgreSQL."""
    with postgres.place() as place:
        text = f'agent = "{AGENT}"\n[storage]\nstore = "{place}"\nslots = 4\n'
        (tmp_path / "recrawl.toml").write_text(text)
        run("init", cwd=tmp_path)
        yield tmp_path


def test_without_the_extra_it_says_how_to_install_it(store):
    line = (
        "import sys; sys.modules['ray'] = None; "
        "sys.argv = ['recrawl', 'crawl', '--engine', 'ray', '--workers', '1']; "
        "from recrawl.cli.main import main; main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", line], cwd=store, capture_output=True, text=True, check=False
    )

    needs = "--engine ray needs an optional package: pip install '.[ray]' in the clone of recrawl"
    assert ended.stderr == f"Error: {needs}\n"
    assert ended.returncode == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--engine", "spark", "--workers", "2"), "--engine must be ray (got 'spark')"),
        (
            ("--engine", "ray", "--workers", "5"),
            "--workers must be at most the 4 slots of the crawl (got 5)",
        ),
        (
            ("--engine", "ray", "--workers", "2", "--serve", "0"),
            "workers crawl this store and have no --serve; `recrawl serve` shows it beside them",
        ),
    ],
)
def test_what_cannot_be_is_one_sentence(store, words, said):
    assert sentence(run("crawl", *words, cwd=store)) == said


@pytest.mark.parametrize("words", [("--engine", "ray"), ("--workers", "2")])
def test_an_engine_needs_a_number_of_workers(store, words):
    ended = run("crawl", *words, cwd=store)

    assert ended.code == 2
    assert "--engine ray and --workers need each other" in ended.err
