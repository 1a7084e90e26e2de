"""More hosts than files that the process may open."""

import asyncio
import json
import resource
import subprocess
import sys
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

from tests.preloaded import RECRAWL, environment

if TYPE_CHECKING:
    from collections.abc import Callable

HOSTS = 300
FILES = 96  # a crawl has some thirty of its own
ANSWER = b"HTTP/1.1 %s\r\nContent-Length: %d\r\nContent-Type: text/html\r\n\r\n%s"
PAGE = ANSWER % (b"200 OK", 13, b"<p>a page</p>")
MISSING = ANSWER % (b"404 Not Found", 0, b"")


async def answer(reader, writer):
    """Answer requests until the client hangs up."""
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            writer.write(PAGE if head.startswith(b"GET / ") else MISSING)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


@pytest.fixture
def hosts():
    """Addresses of hosts on this machine that all answer, at one port."""
    names = [f"127.0.{1 + number // 250}.{1 + number % 250}" for number in range(HOSTS)]
    ready = Event()
    port: list[int] = []
    ending: list[Callable[[], object]] = []

    async def serve():
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        ending.append(lambda: loop.call_soon_threadsafe(stop.set))
        first = await asyncio.start_server(answer, names[0], 0)
        port.append(first.sockets[0].getsockname()[1])
        others = await asyncio.start_server(answer, names[1:], port[0])
        ready.set()
        async with first, others:
            await stop.wait()

    thread = Thread(target=asyncio.run, args=[serve()])
    thread.start()
    assert ready.wait(30)
    yield [f"http://{name}:{port[0]}/" for name in names]
    ending[0]()
    thread.join()


def test_every_host_is_visited_however_few_files_may_be_open(tmp_path, hosts):
    """And no host is blamed for files that we lack."""
    blocks = "".join(f'[[page]]\naddress = "{each}"\nlocal = true\n' for each in hosts)
    top = 'agent = "bot (me@example.org)"\nbudget = "10000000/1d"\n[politeness]\ndelay = "0.1s"\n'
    (tmp_path / "recrawl.toml").write_text(top + blocks)
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))  # noqa: E731
    for words in (["init"], ["crawl", "--once", "--visit-log", "log.jsonl"]):
        ended = subprocess.run(
            [sys.executable, RECRAWL, *words],
            cwd=tmp_path,
            env=environment(),
            preexec_fn=limit,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr

    visits = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert {visit["address"] for visit in visits} == set(hosts)
    assert "open files" not in ended.stderr + (tmp_path / "log.jsonl").read_text()
