"""Pushes to workers: one of them listens for all, and another when that one is gone."""

import asyncio
import hmac
import re
from contextlib import ExitStack

from recrawl.settings.slots import slot_of
from tests.cli.running import run
from tests.crawl.test_push import HOME, LATER, until
from tests.crawl.test_worker_records import free_port
from tests.crawl.test_workers import running_sites, said, settings_text, slots_of, worker
from tests.servers import postgres
from tests.servers.hub import Hub

SLOTS = 8
NAMES = ("one", "two")


def with_pushes(text, hub):
    """Settings that also have the hub's site, and where hubs reach the crawl."""
    port = free_port()
    push = f'[push]\nlisten = "127.0.0.1:{port}"\naddress = "http://127.0.0.1:{port}/in"\n'
    return f'{text}[[site]]\naddress = "{hub.address("/")}"\nlocal = true\n{push}'


async def push_only(hub, path):
    """Push an entry that no feed has."""
    hub.pages[path] = b"<p>a page that only a push names"
    body, to = hub.feed(path, date=LATER), hub.confirmed[-1]
    signature = hmac.new(to.secret.encode(), body, "sha256").hexdigest()
    assert await hub.push(to, body, f"sha256={signature}") == 202
    await until(lambda: path in hub.asked)


def test_a_push_reaches_the_page_whoever_crawls_it(tmp_path):
    with postgres.place() as place, running_sites() as sites, ExitStack() as stack:

        async def crawl():
            async with Hub() as hub:
                hub.pages |= {"/": HOME, "/feed": hub.feed("/a"), "/a": b"<p>as it was"}
                first = min(slot_of(f"{each}/", SLOTS) for each in sites.addresses)
                assert slot_of(hub.address("/"), SLOTS) > first
                text = with_pushes(settings_text(place, sites), hub)
                (tmp_path / "recrawl.toml").write_text(text)
                made = await asyncio.to_thread(run, "init", cwd=tmp_path)
                assert made.code == 0, made.err
                workers = {name: stack.enter_context(worker(tmp_path, name)) for name in NAMES}
                await until(lambda: all(slots_of(tmp_path, name) for name in NAMES))
                await until(lambda: hub.confirmed)
                await push_only(hub, "/pushed")

                await until(lambda: any(first in slots_of(tmp_path, name) for name in NAMES))
                holder = next(name for name in NAMES if first in slots_of(tmp_path, name))
                workers[holder].kill()
                await until(lambda: len(hub.confirmed) == 2)
                await push_only(hub, "/pushed-later")
                (other,) = set(NAMES) - {holder}
                workers[other].terminate()
                assert await asyncio.to_thread(workers[other].wait, 60) == 0, said(tmp_path, other)

        asyncio.run(crawl())
        with postgres.reading(place) as reader:
            (known,) = reader.subscriptions()
            assert known.pushes == 2
    assert not any(re.search("cannot|failed", said(tmp_path, name)) for name in NAMES)
