"""Every verb where of ours only the command line is loaded: it loads what it needs.

Other tests fork `recrawl` from a process that has loaded everything (`tests.preloaded`), where a
verb that forgot to import what it uses would find it all the same.
"""

import pytest
from typer.core import TyperGroup
from typer.main import get_group

from recrawl.cli.main import app
from tests.cli.crawls import crawl_in
from tests.cli.listing.sources import made
from tests.cli.running import run, write_log
from tests.inspect.looked import made as crawled
from tests.listings.live.listing_stores import store_of_jobs
from tests.preloaded import BEFORE_VERBS
from tests.servers import answers
from tests.servers.faults import FaultServer

# Their tests load them: what they do where there is no room, or with another encoding.
ELSEWHERE = {"crawl", "demo", "diff", "estimate", "init", "mcp", "serve", "worker"}
# In this order: a verb reads what those before it wrote.
WORDS = {
    "add": ["SITE/more", "--page-only", "--local"],
    "set": ["discover=1h"],
    "find": [],
    "hint": ["SITE/"],
    "status": [],
    "pages": [],
    "why": ["SITE/"],
    "history": ["SITE/"],
    "changes": ["--with", "chunks"],
    "get": ["SITE/", "--as", "markdown"],
    "export": ["visits", "-o", "visits.jsonl"],
    "import": ["visits.jsonl", "-o", "imported.csv"],
    "check": ["old/recrawl.db"],
    "backup": ["old/recrawl.db", "copy.db"],
    "compact": ["copy.db"],
    "remove": ["SITE/more", "--yes"],
    "prune": ["--yes"],
    "plan": ["rates.csv", "--budget", "2/1d"],
    "trends pages": ["log.csv"],
    "trends windows": ["log.csv"],
    "trends test": ["log.csv"],
    "trends next": ["log.csv"],
    "trends counts": ["log.csv"],
    "trends change-points": ["log.csv"],
    "trends power-law": ["log.csv"],
    "trends gaps": ["log.csv"],
    "trends errors": ["log.csv"],
    "trends follow": ["log.csv"],
    "trends rates": ["log.csv"],
    "trends season": ["log.csv", "--month", "2027-01"],
    "design": ["--every", "7d", "--visits", "10", "--method", "ratio"],
    "simulate world": ["poisson", "--pages", "20", "--for", "30d"],
    "simulate history": ["known.csv", "changes.csv", "--policy", "uniform"],
    "simulate store": ["old/recrawl.db", "--policy", "uniform", "--step", "1d"],
    "simulate intervals": ["--every", "10d", "--objects", "20"],
    "listing describe": ["cars"],
    "listing forecast": ["cars", "--horizon", "3d"],
    "listing schedule": ["cars", "--keep", "recall >= 0.8"],
    "listing partition": ["cars", "--by", "make"],
    "listing decay": ["cars"],
    "listing backtest": ["cars", "--train", "30d", "--cycle", "7d", "--method", "static"],
    "move": ["old/recrawl.db", "moved.db"],
    "listing objects": ["board.db"],
    "listing changes": ["board.db"],
    "listing syncs": ["board.db"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where a crawl of a site begins, beside a log and a listing; and the site."""
    folder = tmp_path_factory.mktemp("afresh")
    made(folder / "cars")
    store_of_jobs(folder / "board.db", days=5.0)
    (folder / "old").mkdir()
    crawled(folder / "old" / "recrawl.db")
    days = range(1, 20)
    write_log(folder / "log.csv", [("/a", f"2026-01-{day:02}", day % 3 == 0) for day in days])
    (folder / "known.csv").write_text("page,first_seen\n/a,2026-01-01\n/b,2026-01-01\n")
    changes = "".join(f"/a,2026-01-{day:02}\n" for day in days)
    (folder / "changes.csv").write_text("page,changed_at\n" + changes)
    pages = {"/": answers.page(b"home"), "/more": answers.page(b"more")}
    with FaultServer(pages).in_thread() as server:
        crawl_in(folder, server)
        run("crawl", "--once", cwd=folder)
        run("estimate", "log.csv", "-o", "rates.csv", cwd=folder)
        yield folder, server.address("/").removesuffix("/")


@pytest.mark.parametrize("verb", WORDS)
def test_a_verb_loads_what_it_needs(folder, verb):
    there, site = folder
    words = [word.replace("SITE", site) for word in WORDS[verb]]

    ended = run(*verb.split(), *words, cwd=there, server=BEFORE_VERBS)

    assert ended.code == 0, ended
    assert "Traceback" not in ended.err
    assert ended.out + ended.err


def test_no_verb_is_forgotten():
    verbs = set()
    for name, command in get_group(app).commands.items():
        below = command.commands if isinstance(command, TyperGroup) else {}
        verbs |= {f"{name} {each}" for each in below} or {name}

    assert verbs == ELSEWHERE | {*WORDS}
