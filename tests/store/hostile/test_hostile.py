"""A store that is damaged, or that a stranger made, costs little and is told in one sentence.

`scripts/hostile_stores.py` runs every verb on each of them, and on as many damaged ones as wanted.
"""

import random
import shutil

import pytest

from recrawl.store import open_for_writing, open_store
from tests.store.hostile import stores
from tests.store.hostile.corpus import HOSTILE
from tests.store.hostile.verbs import LOOKING, WRITING, VerbRunner
from tests.store.made import visit

MOST_BYTES = 600 << 20
MOST_SECONDS = 8.0
FLIPPED = 16
# Verbs that meet what is wrong; for all others three in turn.
AIMED = {
    "a body": ("diff {url}", "diff {url} --list", "crawl --once"),
    "a robots.txt": ("why {url}", "crawl --once"),
    "a checkpoint": ("status", "plan recrawl.db --budget 50/1d --csv"),
    "attributes": ("listing objects recrawl.db --csv", "listing describe recrawl.db"),
    "an object of": ("listing objects recrawl.db --csv", "listing describe recrawl.db"),
    "an etag": ("crawl --once",),
}


@pytest.fixture(scope="module")
def runner():
    with VerbRunner() as runner:
        yield runner


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A folder with a small crawl."""
    folder = tmp_path_factory.mktemp("whole")
    stores.make(folder)
    return folder


@pytest.fixture
def folder(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "crawl")
    return tmp_path / "crawl"


@pytest.fixture
def run(runner):
    """Run verbs in a folder, and compare how they ended with what must hold for all."""

    def run(folder, verbs):
        runs = runner.run(folder, stores.URL, verbs)

        assert len(runs) == len(verbs), runs
        assert [(each.verb, each.trouble, each.err) for each in runs if each.trouble] == []
        assert max(each.rss for each in runs) < MOST_BYTES
        assert max(each.cpu for each in runs) < MOST_SECONDS
        return runs

    return run


def verbs_for(name):
    """A few verbs: all of them for every store would take minutes."""
    for words, verbs in AIMED.items():
        if name.startswith(words):
            return verbs
    every = (*LOOKING, *WRITING)
    first = 3 * list(HOSTILE).index(name)
    return ("status", *(every[(first + more) % len(every)] for more in range(3)))


def test_verbs_run_on_a_store_that_is_whole(run, folder):
    runs = run(folder, [*LOOKING, *WRITING])

    ended = {each.verb: each.code for each in runs}
    assert ended.pop("crawl --once") == 1  # nobody listens at the site
    assert set(ended.values()) == {0}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_stranger_s_store(run, folder, name):
    HOSTILE[name](folder / "recrawl.db")

    run(folder, verbs_for(name))


@pytest.mark.parametrize("seed", range(FLIPPED))
def test_flipped_bits(run, folder, seed):
    chance = random.Random(seed)  # noqa: S311 - no secrets
    if seed % 2:
        stores.flip(folder / "recrawl.db", chance, chance.choice([1, 3, 30]))
    else:
        stores.flip_values(folder / "recrawl.db", chance, chance.choice([1, 2, 5]))

    run(folder, chance.sample([*LOOKING, *WRITING], 3))


@pytest.mark.parametrize("pages", [1, 5, 20, 40])
def test_a_truncated_file(run, folder, pages):
    path = folder / "recrawl.db"
    path.write_bytes(path.read_bytes()[: pages * 4096 + 100])

    runs = run(folder, ["status", "check"])

    assert [each.code for each in runs] == [1, 1]


def test_a_view_of_somebody_else_is_named_with_what_to_do(run, folder):
    HOSTILE["one more view"](folder / "recrawl.db")

    (ended,) = run(folder, ["status"])

    assert ended.err == (
        "Error: recrawl.db has a view that recrawl did not make (mine); drop it to go on, and "
        "keep your own in another database that attaches this one\n"
    )


def test_a_trigger_does_not_fire(run, folder):
    path = folder / "recrawl.db"
    HOSTILE["a trigger"](path)

    (ended,) = run(folder, ["crawl --once"])

    assert "has a trigger that recrawl did not make (t)" in ended.err
    with stores.opened(path) as connection:
        assert connection.execute("select count(*) from visits").get == 5 * stores.PAGES


@pytest.mark.parametrize(
    "name",
    [
        "a checkpoint part of objects",
        "a checkpoint with another checksum",
        "sections that lead back to themselves",
    ],
)
def test_a_damaged_checkpoint_is_learned_again_from_the_visits(run, whole, folder, name):
    (before,) = run(whole, ["pages --csv"])
    HOSTILE[name](folder / "recrawl.db")

    looked, crawled = run(folder, ["status", "crawl --once"])

    told = "; its visits are replayed instead."
    assert before.code == looked.code == 0
    assert looked.err.count(told) == crawled.err.count(told) == 1
    assert "Replayed 300 visits." in crawled.err
    (mended,) = run(folder, ["status"])
    assert mended.err == ""


def test_damaged_latest_visits_are_found_again(folder):
    """They only spare the next crawl to read all visits."""
    path = folder / "recrawl.db"
    with open_store(path) as reader:
        before = [reader.history(page).visit.tolist() for page in range(stores.PAGES)]
    with stores.opened(path) as connection:
        connection.execute("update latest_visits set data = zeroblob(length(data))")
    with open_for_writing(path) as store:
        number = store.last_visit() + 1
        assert store.write([visit(7)]) == [number]

    with open_store(path) as reader:
        after = [reader.history(page).visit.tolist() for page in range(stores.PAGES)]
    before[7].append(number)
    assert after == before


def test_a_body_that_was_altered_is_not_given_out(run, folder):
    """A bit of a body's own, behind a digest that is another."""
    with stores.opened(folder / "recrawl.db") as connection:
        connection.execute(
            "update bodies set data = (select data from bodies where id = 2), "
            "size = (select size from bodies where id = 2) where id = 1"
        )

    diff, check = run(folder, ["diff {url} --list", "check"])

    assert diff.err == "Error: recrawl.db is damaged (a body is not the one that was stored)\n"
    assert "bodies: body 1: a body is not the one that was stored\n" in check.err
    assert check.code == 1
