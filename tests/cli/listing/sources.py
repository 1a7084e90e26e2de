"""Small sources for the tests of `recrawl listing`."""

from __future__ import annotations

import json

import numpy as np

from tests.cli.running import run_here

DAYS = 60
START = np.datetime64("2026-01-01")
KEEP = "recall >= 0.8 and precision >= 0.8"


def day(number):
    return str(START + int(number))


def made(folder, *, seed=0, objects=400):
    """Cars that come evenly and vanish by their make: Fiats after 5 days, BMWs after 20."""
    random = np.random.default_rng(seed)
    folder.mkdir()
    rows = ["key,appeared_at,removed_at,make,year"]
    for number in range(objects):
        fiat = number % 2
        arrived = max(int(random.integers(-20, DAYS)), 0)
        gone = arrived + 1 + int(random.exponential(5 if fiat else 20))
        removed = day(gone) if gone <= DAYS else ""
        year = "" if number % 10 == 0 else str(2000 + number % 8)
        rows.append(f"car {number},{day(arrived)},{removed},{'Fiat' if fiat else 'BMW'},{year}")
    (folder / "objects.csv").write_text("\n".join(rows) + "\n")
    crawls = ["crawl_at", *(day(number) for number in range(DAYS + 1))]
    (folder / "crawls.csv").write_text("\n".join(crawls) + "\n")
    return folder


def rows(*words):
    ended = run_here("listing", *words, "--json")
    assert ended.code == 0, ended
    return [json.loads(line) for line in ended.out.splitlines()]


def source(folder, objects, crawls=()):
    folder.mkdir()
    (folder / "objects.csv").write_text(objects)
    if crawls:
        (folder / "crawls.csv").write_text("\n".join(["crawl_at", *crawls]) + "\n")
    return folder
