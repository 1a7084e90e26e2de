"""Memory of `recrawl pages`: so much for each page, and no more."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from recrawl.entries.entries import Checkpoint, Copy, PageChange, PagesFound, VisitMade
from recrawl.settings.settings import read_settings
from recrawl.state.opening import open_crawl
from recrawl.store import create_store, open_for_writing, open_store
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import PageStatus, VisitOutcome

STATUS = Path("/proc/self/status")
FEW, MANY = 4_000, 20_000
PAGES_OF_A_HOST = 10
# Of a million pages each takes 1.6 kB, most of it for the clocks of four sections for ten pages
# (benchmarks/memory.py). Of so few, what is worked on in blocks counts in full: 2.9 kB.
MOST_BYTES_A_PAGE = 3_600
RUN = """
import sys
from pathlib import Path
from recrawl.cli.main import main
sys.argv = ["recrawl", "pages", "-o", "pages.csv"]
try:
    main()
except SystemExit as ended:
    assert not ended.code
print(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
"""


def made(folder, pages):
    """A store of pages that were visited twice, ten on each host, and its checkpoint."""
    hosts = [f"www.host-{page % (pages // PAGES_OF_A_HOST)}.org" for page in range(pages)]
    addresses = [
        f"https://{host}/section-{page % 7}/{page}.html" for page, host in enumerate(hosts)
    ]
    sites = "".join(f'[[site]]\naddress = "https://{host}/"\n' for host in dict.fromkeys(hosts))
    text = f'agent = "bot (me@example.org)"\nbudget = "{pages}/1d"\n{sites}'
    (folder / "recrawl.toml").write_text(text)
    settings, path = read_settings(text), folder / "recrawl.db"
    start = time.time() - 20 * SECONDS_A_DAY
    with create_store(path) as store:
        store.write([PagesFound(addresses, hosts, settings.rules_of(addresses), start)])
        store.write([first_visit(page, start + page) for page in range(pages)])
        again = start + 10 * SECONDS_A_DAY
        store.write(
            [VisitMade(page, again + page, VisitOutcome.SAME, 200) for page in range(pages)]
        )
    now = time.time() / SECONDS_A_DAY
    with open_for_writing(path) as store, open_store(path) as reader:
        crawl = open_crawl(settings, store, reader, now, random=np.random.default_rng(0))
        store.write([Checkpoint(crawl.dump())])


def first_visit(page, at):
    copy = Copy(page.to_bytes(8, "big"), bytes(8), None, None)
    change = PageChange(PageStatus.COPIED)
    return VisitMade(page, at, VisitOutcome.FIRST, 200, copy=copy, change=change)


def most_bytes(folder):
    """Most memory that the verb had in a process of its own."""
    ended = subprocess.run(
        [sys.executable, "-c", RUN], cwd=folder, check=True, capture_output=True, text=True
    )
    return 1024 * int(ended.stdout)


@pytest.mark.skipif(not STATUS.exists(), reason="asks Linux for the memory of a process")
def test_a_page_takes_so_many_bytes(tmp_path):
    """Measured at two sizes, so that what a process has anyway does not count."""
    most = []
    for pages in (FEW, MANY):
        folder = tmp_path / str(pages)
        folder.mkdir()
        made(folder, pages)
        most.append(most_bytes(folder))
        assert len((folder / "pages.csv").read_text().splitlines()) == pages + 1

    assert (most[1] - most[0]) / (MANY - FEW) < MOST_BYTES_A_PAGE, most
