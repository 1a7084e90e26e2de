"""A page costs at most 300 bytes and a visit at most 50."""

import random
from typing import Any

import numpy as np
import pytest

from recrawl.entries.entries import Checkpoint, Copy, PagesFound
from recrawl.store import create_store
from recrawl.visits.status import VisitOutcome
from tests.store.made import NOON, numbered, visit
from tests.store.sqlite.connection import connection_of

PAGES = 20_000
VISITS = 200_000


@pytest.fixture(scope="module")
def sizes(tmp_path_factory):
    """Bytes of each table and index, and of the file, after a crawl in the worst order."""
    path = tmp_path_factory.mktemp("size") / "pages.db"
    chance = random.Random(1)  # noqa: S311 - sizes and orders
    addresses = numbered(PAGES)
    hosts = [f"host{number // 100}.example.org" for number in range(PAGES)]
    order = list(range(PAGES))
    chance.shuffle(order)
    with create_store(path) as store:
        for start in range(0, PAGES, 1000):
            part = slice(start, start + 1000)
            store.write([PagesFound(addresses[part], hosts[part], [1] * 1000, NOON)])
        for start in range(0, PAGES, 100):
            pages = order[start : start + 100]
            store.write([made(page, chance, copied=True) for page in pages])
        for _ in range(0, VISITS - PAGES, 100):
            store.write([made(chance.randrange(PAGES), chance) for _ in range(100)])
        learned = {f"{number}": np.zeros(PAGES, np.float32) for number in range(25)}
        store.write([Checkpoint(learned, visit=VISITS)])
        query = "select name, sum(pgsize) from dbstat group by name"
        rows: list[Any] = connection_of(store).execute(query).fetchall()
    return dict(rows), path.stat().st_size


def made(page, chance, *, copied=False):
    """A visit with everything known about it, of a crawl with millions of them."""
    copy = Copy(chance.randbytes(8), chance.randbytes(8), '"5f3a1b-5d9b2c1e4f680"', 1_767_000_000)
    return visit(
        page,
        chance.uniform(0, 1e7),
        outcome=VisitOutcome.CHANGED,
        age=chance.uniform(0, 300),
        size=chance.randint(70_000, 200_000),
        took_seconds=chance.uniform(0.2, 20),
        copy=copy if copied else None,
    )


def test_a_page_costs_at_most_300_bytes(sizes):
    """With its address of 60 letters, its copy, 100 bytes learned: everything but the visits."""
    tables, whole = sizes

    assert (whole - tables["visits"]) / PAGES < 300


def test_a_visit_costs_at_most_50_bytes(sizes):
    tables, _ = sizes

    assert tables["visits"] / VISITS < 50
