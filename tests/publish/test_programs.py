"""`crawl --on-change`: a program for each event, in order, bounded."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time

import pytest

from recrawl.clock import RealClock
from recrawl.entries.deliveries import DestinationsNamed
from recrawl.publish.programs import DESTINATION, NAME
from recrawl.publish.tasks import Hooks, at_work, open_programs
from recrawl.settings.settings import read_settings
from recrawl.store import open_for_writing, open_store
from recrawl.store.writer import Writer
from tests.publish import fed

APPEND = "import sys; open({path!r}, 'a').write(sys.stdin.read())"
EVENTS = 5


@pytest.fixture
def store(tmp_path):
    path = fed.make(tmp_path)
    with open_for_writing(path) as opened:
        opened.write([DestinationsNamed([DESTINATION])])
    fed.usual(path)
    return path


def tell(path, code, *, seconds=20.0):
    """Run a program for what there is; what was said, and how far it is."""
    said: list[str] = []
    hooks = Hooks(command=(sys.executable, "-c", code), command_seconds=seconds)

    async def work():
        with open_for_writing(path) as opened, open_store(path) as reader:
            writer = Writer(opened, longest_wait_seconds=0.005)
            given = (hooks, reader, read_settings(fed.SETTINGS), writer.put, RealClock())
            try:
                async with open_programs(*given, said.append) as (program,):
                    program.end()
                    await program.run()
            finally:
                await writer.close()

    asyncio.run(work())
    with open_store(path) as reader:
        (at,) = reader.destinations()
    return said, at.cursor


def test_it_gets_every_event_once_in_order(store, tmp_path):
    out = tmp_path / "out.jsonl"
    said, at = tell(store, APPEND.format(path=str(out)))
    again, _ = tell(store, APPEND.format(path=str(out)))

    events = [json.loads(line) for line in out.read_text().splitlines()]
    assert [int(each["id"].rpartition("-")[2]) for each in events] == [1, 2, 3, 4, 5]
    assert events[2]["type"] == "recrawl.page.changed"
    assert (said, again, at) == ([], [], EVENTS)


def test_one_that_fails_is_told_once_and_the_next_event_follows(store):
    said, at = tell(store, "import sys; sys.exit('no room\\x1b[2J left')")

    assert len(said) == 1
    assert said[0].startswith(f"{NAME} {sys.executable}: exit code 1: no room")
    assert "\x1b" not in said[0]
    assert at == EVENTS


def test_one_that_works_again_is_told(store):
    said, _ = tell(store, "import sys; sys.exit('changed' not in sys.stdin.read())")

    assert [each for each in said if "works again after 2 failures" in each]


def test_one_that_hangs_is_killed_with_its_children(store):
    code = "import subprocess; subprocess.run(['sleep', '1000'])"
    began = time.monotonic()
    said, at = tell(store, code, seconds=0.3)

    assert "took more than 0.3 s and was killed" in said[0]
    assert at == EVENTS
    assert time.monotonic() - began < 60


def test_what_it_writes_is_not_kept(store):
    code = "import os\nfor _ in range(300): os.write(1, bytes(1 << 16)); os.write(2, b'x' * 65536)"
    said, at = tell(store, code)

    assert (said, at) == ([], EVENTS)


def test_one_that_leaves_another_behind_is_not_waited_for(store, tmp_path):
    """What a program begins and leaves may hold its streams open."""
    left = tmp_path / "left"
    code = "import subprocess; child = subprocess.Popen(['sleep', '1000']); "
    said, at = tell(store, code + f"open({str(left)!r}, 'a').write(f'{{child.pid}} ')", seconds=60)

    pids = [int(each) for each in left.read_text().split()]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    assert (said, at, len(pids)) == ([], EVENTS, EVENTS)


def test_one_that_cannot_be_run_is_told(store):
    said: list[str] = []
    hooks = Hooks(command=("/no/such/program",))

    async def work():
        with open_for_writing(store) as opened, open_store(store) as reader:
            writer = Writer(opened)
            given = (hooks, reader, read_settings(fed.SETTINGS), writer.put, RealClock())
            try:
                async with (
                    open_programs(*given, said.append) as programs,
                    at_work(programs, said.append),
                ):
                    pass
            finally:
                await writer.close()

    asyncio.run(work())
    assert said == [
        f"{NAME} /no/such/program: cannot be run (No such file or directory); the crawl goes on."
    ]
