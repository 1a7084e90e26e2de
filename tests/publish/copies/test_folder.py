"""Folders of copies: only what changed is written, only what was ours is deleted, killed or not."""

import json
import os
import random
import signal
from pathlib import Path

import pytest

from recrawl.entries.entries import PagesFound
from recrawl.errors import CannotWrite
from recrawl.publish.copies import folder as folders
from recrawl.publish.copies.file_names import LOG, MANIFEST
from recrawl.publish.copies.folder import CopyFolder
from recrawl.store import open_for_writing, open_store
from recrawl.visits.status import FeedKind
from tests.kills.killing import entering, instants, leave, run
from tests.publish import fed
from tests.publish.fed import page
from tests.store.made import NOON


@pytest.fixture
def crawl(tmp_path):
    path = fed.make(tmp_path / "crawl")
    fed.usual(path)
    return path


def export(crawl, folder, form="html"):
    with open_store(crawl) as reader:
        return CopyFolder(folder, form).export(reader, lambda copy: reader.body(copy.digest))


def files_in(folder):
    """All files but what a kill left of a manifest a moment ago, which a later export removes."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".manifest")
    }


def check(crawl: Path, folder: Path) -> None:
    """The folder holds what the store has, and nothing else; the manifest says which is which."""
    files = files_in(folder)
    rows = [json.loads(line) for line in files.pop(MANIFEST).splitlines()]
    with open_store(crawl) as reader:
        copies = {copy.address: copy for batch in reader.snapshot() for copy in batch}
        versions = {address: copy.version or b"" for address, copy in copies.items()}
        bodies = {row["file"]: reader.body(versions[row["page"]]) for row in rows}
    assert {row["page"] for row in rows} == set(copies)
    assert all(row["version"] == versions[row["page"]].hex() for row in rows)
    assert files == bodies


def test_files_lie_by_host_and_path(crawl, tmp_path):
    done = export(crawl, tmp_path / "out")

    assert (done.files, done.written, done.deleted) == (2, 2, 0)
    files = files_in(tmp_path / "out")
    assert files["a.org/tea.html"] == page("Tea", 6)
    assert sum("a.org/_/tea-sort-price~" in name for name in files) == 1
    check(crawl, tmp_path / "out")


def test_a_second_export_writes_only_what_changed_and_deletes_what_is_gone(crawl, tmp_path):
    out = tmp_path / "out"
    export(crawl, out)
    (out / "a.org" / "mine.txt").write_text("not yours")
    before = (out / "a.org" / "tea.html").stat().st_mtime_ns

    again = export(crawl, out)
    assert (again.written, again.deleted) == (0, 0)
    fed.tell(crawl, (FeedKind.BACK, 0, page("Home")), (FeedKind.REMOVED, 2, None), start=9)
    done = export(crawl, out)

    assert (done.files, done.written, done.deleted) == (2, 1, 1)
    assert (out / "a.org" / "tea.html").stat().st_mtime_ns == before
    assert not (out / "a.org" / "_").exists()
    assert (out / "a.org" / "mine.txt").read_text() == "not yours"
    (out / "a.org" / "mine.txt").unlink()
    check(crawl, out)


def test_a_file_that_was_lost_is_written_again(crawl, tmp_path):
    export(crawl, tmp_path)
    (tmp_path / "a.org" / "tea.html").write_bytes(b"cut")

    assert export(crawl, tmp_path).written == 1


def test_another_form_replaces_the_files(crawl, tmp_path):
    out = tmp_path / "out"
    export(crawl, out)
    done = export(crawl, out, "markdown")

    assert (done.written, done.deleted) == (2, 2)
    assert {name.rpartition(".")[2] for name in files_in(out)} == {"md", "jsonl"}


def test_a_file_of_somebody_else_is_not_written_over(crawl, tmp_path):
    (tmp_path / "a.org").mkdir()
    (tmp_path / "a.org" / "tea.html").write_text("mine")

    with pytest.raises(CannotWrite, match="exists and was not written by an export; move it away"):
        export(crawl, tmp_path)
    assert (tmp_path / "a.org" / "tea.html").read_text() == "mine"


@pytest.mark.parametrize("name", ["../x.html", "/etc/x.html", "a.org/../../x.html"])
def test_a_manifest_of_a_stranger_deletes_nothing_outside(crawl, tmp_path, name):
    out, victim = tmp_path / "out", tmp_path / "x.html"
    victim.write_text("mine")
    export(crawl, out)
    with (out / LOG).open("a") as log:
        log.write(f"{name}\n")
    export(crawl, out)
    assert victim.exists()
    row = {"page": "https://a.org/", "page_id": 7, "file": name}
    (out / MANIFEST).write_text(json.dumps(row) + "\n")

    with pytest.raises(CannotWrite, match="is damaged"):
        export(crawl, out)
    assert victim.exists()


def test_links_are_not_followed(crawl, tmp_path):
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    out.mkdir()
    elsewhere.mkdir()
    (out / "a.org").symlink_to(elsewhere)

    with pytest.raises(CannotWrite, match="is a symbolic link; an export does not follow links"):
        export(crawl, out)
    assert list(elsewhere.iterdir()) == []


def test_an_export_that_is_killed_at_any_instant_is_finished_by_the_next(crawl, tmp_path):
    """Twenty kills, each followed by changes and then by another export that is killed, too."""
    chance, out = random.Random(5), tmp_path / "out"  # noqa: S311 - instants, no secrets
    inside = 0
    for number in range(20):
        kind = FeedKind.REMOVED if number % 3 == 2 else FeedKind.BACK
        body = None if kind.ends else page("Home", number) * 50
        fed.tell(crawl, (kind, number % 4, body), start=10 + number)

        def work():
            with entering(folders, "_note"):  # twice: before files are written, and before the end
                export(crawl, out)
            leave()
            leave()
            signal.pause()

        inside += run(work, chance.randrange(1, 3), instants(chance, 0.003)).inside
    export(crawl, out)

    assert inside >= 1
    check(crawl, out)


def test_a_full_disk_is_told_and_the_next_export_goes_on(crawl, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(CopyFolder, "_write", full)
    with pytest.raises(CannotWrite, match="no space left"):
        export(crawl, tmp_path / "out")
    monkeypatch.undo()
    export(crawl, tmp_path / "out")

    check(crawl, tmp_path / "out")
    assert not os.path.lexists(tmp_path / "out" / LOG)


def test_of_two_schemes_the_older_page_has_the_plain_name(tmp_path):
    """And the other one gets it when the first is gone."""
    path, out = fed.make(tmp_path / "crawl"), tmp_path / "out"
    with open_for_writing(path) as store:
        store.write([PagesFound(["http://a.org/tea"], ["a.org"], [0], NOON)])
    fed.tell(path, (FeedKind.NEW, 1, page("Tea")), (FeedKind.NEW, 4, page("Plain")))
    export(path, out)
    assert files_in(out)["a.org/tea.html"] == page("Tea")
    check(path, out)

    fed.tell(path, (FeedKind.REMOVED, 1, None), start=9)
    done = export(path, out)

    assert (done.files, done.written, done.deleted) == (1, 1, 1)
    assert files_in(out)["a.org/tea.html"] == page("Plain")
    check(path, out)


def test_a_folder_of_an_older_export_is_continued(crawl, tmp_path):
    """Its manifest calls the number of a page `page`, and the address `address`."""
    out = tmp_path / "out"
    export(crawl, out)
    rows = [json.loads(line) for line in (out / MANIFEST).read_text().splitlines()]
    for row in rows:
        row["address"], row["page"] = row["page"], row.pop("page_id")
    (out / MANIFEST).write_text("".join(json.dumps(row) + "\n" for row in rows))

    done = export(crawl, out)

    assert (done.files, done.written, done.deleted) == (2, 0, 0)
    check(crawl, out)
