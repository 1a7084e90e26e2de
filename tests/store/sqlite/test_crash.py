"""A crawl killed at any instant leaves a store with every acknowledged visit in it, once."""

import os
import random
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from recrawl.store import open_for_writing, open_store
from tests.store.made import numbered, store_with
from tests.store.sqlite.crashing import PAGES
from tests.waiting import HANGS_SECONDS, started

KILLS = 25


@pytest.fixture
def launcher():
    """A process that starts a crawl for every line it is given."""
    root = Path(__file__).parents[3]
    command, pipe = [sys.executable, "-m", "tests.store.sqlite.crashing"], subprocess.PIPE
    with started(command, stdin=pipe, stdout=pipe, cwd=root) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None  # `communicate` would flush it
        assert process.wait(HANGS_SECONDS) == 0


def crash(launcher, path, lives_seconds, least_visits=0):
    """Lines that a crawl told before it was killed, after a while and some visits."""
    told = b""
    launcher.stdin.write(f"{path}\n".encode())
    launcher.stdin.flush()
    while b"child" not in told or not told.endswith(b"\n"):
        told += os.read(launcher.stdout.fileno(), 1 << 16)
    end = time.monotonic() + lives_seconds
    while (left := end - time.monotonic()) > 0:
        if select.select([launcher.stdout], [], [], left)[0]:
            told += os.read(launcher.stdout.fileno(), 1 << 16)
    while told.count(b"visit") < least_visits or not told.endswith(b"\n"):
        told += os.read(launcher.stdout.fileno(), 1 << 16)
    (child,) = (int(line.split()[1]) for line in told.splitlines() if line.startswith(b"child"))
    os.kill(child, signal.SIGKILL)
    while not told.endswith(b"dead\n"):
        told += os.read(launcher.stdout.fileno(), 1 << 16)
    return [line.split() for line in told.decode().splitlines()]


def check(path, told):
    """Compare a store with what was told of it."""
    with open_for_writing(path) as store:
        assert store.check() == []
    with open_store(path) as reader:
        saved = reader.checkpoint()
        visits = [
            row
            for batch in reader.visits()
            for row in zip(
                batch.visit.tolist(), batch.page.tolist(), batch.size.tolist(), strict=True
            )
        ]
    acknowledged = {int(line[1]): int(line[2]) for line in told if line[0] == "visit"}
    assert [number for number, _, _ in visits] == list(range(1, len(visits) + 1))
    assert [size for _, _, size in visits] == list(range(1, len(visits) + 1))
    assert all(visits[number - 1][2] == size for number, size in acknowledged.items())

    last_saved = max([int(line[1]) for line in told if line[0] == "checkpoint"], default=0)
    if saved is not None:
        parts, visit = saved
        assert visit >= last_saved
        assert (parts["a"] == visit).all()
        assert (parts["b"] == visit).all()
        assert parts["number"] == visit
    assert saved is not None or not last_saved

    with open_store(path) as reader:
        for page in range(PAGES):
            chain = reader.history(page).visit.tolist()
            assert chain == [number for number, of, _ in visits if of == page]
        days = reader.daily_visits()
    assert sum(count for _, _, count in days) == len(visits)


def test_no_acknowledged_visit_is_lost_or_doubled(launcher, tmp_path):
    path = tmp_path / "pages.db"
    store_with(path, *numbered(PAGES)).close()
    chance = random.Random(4)  # noqa: S311 - when to kill

    for _ in range(KILLS):
        told = crash(launcher, path, chance.choice([0.003, 0.03, 0.3]) * chance.random())
        check(path, told)


def test_a_reader_of_a_store_whose_crawl_was_killed_sees_it_whole(launcher, tmp_path):
    """The log that was left behind is read without anybody writing."""
    path = tmp_path / "pages.db"
    store_with(path, *numbered(PAGES)).close()
    told = crash(launcher, path, 0.2, least_visits=20)

    with open_store(path) as reader:
        sizes = np.concatenate([batch.size for batch in reader.visits()])
    acknowledged = [int(line[2]) for line in told if line[0] == "visit"]
    assert sizes.tolist() == list(range(1, len(sizes) + 1))
    assert len(sizes) >= max(acknowledged) > 0
