"""What is erased is gone, byte by byte, whenever the erasure is killed."""

import gzip
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest
import zstandard

from recrawl.adapters.warc.fetches import RecordedFetch
from recrawl.adapters.warc.folder import WarcFolder
from recrawl.entries.entries import Copy, HostBelieved, PageChange
from recrawl.parse.messages import Request, Response
from recrawl.store import create_store, open_for_writing, open_store
from recrawl.store.retention import Retention
from recrawl.visits.status import PageStatus, VisitOutcome
from tests.adapters.warc.warcs import of_kind, read_folder
from tests.cli.running import run
from tests.crawl import killed_removal
from tests.noise import noise
from tests.store.made import found, visit
from tests.waiting import started

AGENT = "test-bot (me@example.org)"
SETTINGS = f'agent = "{AGENT}"\n[[site]]\naddress = "https://a.org/"\n'
ERASED = killed_removal.ERASED
OTHER = "https://a.org/other"
MARK = b"marked-8d1f27"
SHARED = b"<p>both pages say this</p>"
SMALL = b"<p>small and %s</p>" % MARK
# Noise does not shrink: wherever it is kept, the mark before it can be read.
LARGE = b"<p>large and %s</p>" % MARK + noise(20_000, 3)


@pytest.fixture
def crawl(tmp_path):
    """A crawl with a page whose text, address, ETag and masks are all marked."""
    (tmp_path / "recrawl.toml").write_text(SETTINGS)
    with create_store(tmp_path / "recrawl.db") as store:
        store.write([found(OTHER, ERASED)])
        copied = PageChange(PageStatus.COPIED)
        for row, body in enumerate([SHARED, SMALL, LARGE, SMALL + LARGE]):
            made = visit(1, row, outcome=VisitOutcome.CHANGED if row else VisitOutcome.FIRST)
            masks, etag = f'["{MARK.decode()}"]', f'"{MARK.decode()}{row}"'
            copy = Copy(b"a%d" % row, etag=etag)
            store.write([replace(made, body=body, masks=masks, copy=copy, change=copied)])
        store.write([visit(0, 9, outcome=VisitOutcome.FIRST, body=SHARED, change=copied)])
        store.write([HostBelieved("a.org", {}, masks=f'["{MARK.decode()}"]')])
    with WarcFolder(tmp_path / "archive", AGENT, largest_bytes=3000) as files:
        for at, (address, body) in enumerate(
            [(ERASED, SMALL), (ERASED, SHARED), (OTHER, SHARED), (ERASED, LARGE), (OTHER, b"x")]
        ):
            response = Response(address, 200, {"etag": f'"{at}"'}, body)
            files.write(RecordedFetch(Request(address), response, at))
    return tmp_path


def files_of(folder):
    return [path for path in folder.rglob("*") if path.is_file() and path.name != "recrawl.toml"]


def left_of(folder, *marks):
    """Marks that a file of a crawl holds, in plain bytes, in a frame of zstd or a gzip member."""
    texts = []
    for path in files_of(folder):
        raw = path.read_bytes()
        texts.append(raw)
        if path.name.endswith(".gz"):
            texts.append(gzip.decompress(raw))
        place = -1
        while (place := raw.find(b"\x28\xb5\x2f\xfd", place + 1)) >= 0:
            texts.append(_unpacked(raw[place:]))
    return {mark for mark in marks if any(mark in text for text in texts)}


def _unpacked(raw):
    """What a frame of zstd holds, or its beginning; SQLite may have it in pieces."""
    stream, found = zstandard.ZstdDecompressor().decompressobj(), b""
    try:
        for place in range(0, len(raw), 64):
            found += stream.decompress(raw[place : place + 64])
            if stream.eof:
                break
    except zstandard.ZstdError:
        pass
    return found


def erase(folder, *more):
    return run("remove", "--erase", "--yes", "--warc", "archive", ERASED, *more, cwd=folder)


def check_erased(folder, visits=4):
    """Nothing is left of the page, and nothing was lost of the other."""
    assert left_of(folder, MARK, b"private/x") == set()
    with open_for_writing(folder / "recrawl.db") as store:
        assert store.check() == []
    with open_store(folder / "recrawl.db") as reader:
        assert reader.newest_body(0) == SHARED
        assert reader.addresses([0]) == [OTHER]
        assert reader.find_pages([ERASED]) == [1]
        assert reader.pages().status.tolist() == [PageStatus.COPIED, PageStatus.ERASED]
        assert [len(reader.history(page).visit) for page in (0, 1)] == [1, visits]
    bodies = {
        (each.address, each.body) for each in of_kind(read_folder(folder / "archive"), "response")
    }
    assert bodies == {(OTHER, SHARED), (OTHER, b"x")}


def test_no_byte_is_left_of_an_erased_page(crawl):
    """Not in free pages of the store either, where a version lies that was dropped long ago."""
    with open_for_writing(crawl / "recrawl.db", Retention(versions=1)) as store:
        store.write([visit(1, 20, body=b"<p>nothing to see</p>", copy=Copy(b"z"))])
    assert left_of(crawl, MARK, b"private/x") == {MARK, b"private/x"}

    ended = erase(crawl, "--json")

    assert ended.code == 0, ended.err
    check_erased(crawl, visits=5)
    again = erase(crawl, "--json")
    assert (again.code, '"versions": 0' in again.out) == (0, True)


@pytest.mark.slow
def test_an_erasure_that_is_killed_at_any_step_is_done_by_the_next(crawl, tmp_path_factory):
    command, pipe = [sys.executable, killed_removal.__file__], subprocess.PIPE
    codes: list[int] = []
    step = 0
    with started(command, stdin=pipe, stdout=pipe, text=True) as killer:
        while not codes or codes[-1]:
            step += 1
            folder = tmp_path_factory.mktemp("killed")
            for name in ("recrawl.toml", "recrawl.db"):
                shutil.copy(crawl / name, folder)
            shutil.copytree(crawl / "archive", folder / "archive")
            killer.stdin.write(f"{folder} {step}\n")
            killer.stdin.flush()
            codes.append(int(killer.stdout.readline()))
            with open_store(folder / "recrawl.db") as reader:  # as it was left
                assert reader.newest_body(0) == SHARED
                assert reader.find_pages([OTHER, ERASED]) == [0, 1]
            kept = {
                (each.address, each.body)
                for each in of_kind(read_folder(folder / "archive"), "response")
            }
            assert {(OTHER, b"x")} <= kept
            assert any(body == SHARED for _, body in kept)
            killer.stdin.write(f"{folder} 1000000\n")
            killer.stdin.flush()
            assert killer.stdout.readline() == "0\n"
            check_erased(folder)
            shutil.rmtree(folder)
    assert set(codes[:-1]) == {-9}
    assert len(codes) > 50
