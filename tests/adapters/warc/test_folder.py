"""A folder of WARC files: begun, filled, rotated, killed, gone on with."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from itertools import pairwise

import pytest

from recrawl import __version__
from recrawl.adapters.warc.fetches import RecordedFetch
from recrawl.adapters.warc.folder import WarcFolder
from recrawl.errors import CannotWrite, InvalidParameter, StoreLocked
from recrawl.parse.messages import Request, Response
from tests.adapters.warc import killed
from tests.adapters.warc.warcs import files_in, indexed, left_open, of_kind, read, read_folder
from tests.noise import noise

AGENT = "test-bot (me@example.org)"
STANDARD = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
A, B = "http://a.org/", "http://b.org/"


def fetched(body, address=A, at=0, **request):
    return RecordedFetch(
        Request(address, **request), Response(address, 200, {"etag": '"1"'}, body), at=at
    )


def test_a_folder_is_made_with_its_first_record(tmp_path):
    folder = tmp_path / "new" / "folder"
    with WarcFolder(folder, AGENT) as files:
        assert files_in(folder) == left_open(folder) == []
        files.write(fetched(b"hello"))
        assert len(left_open(folder)) == 1

    (path,) = files_in(folder)
    assert re.fullmatch(rf"recrawl-\d{{14}}-00000-{os.getpid()}\.warc\.gz", path.name)
    assert left_open(folder) == []


def test_a_file_begins_with_who_wrote_it(tmp_path):
    before = time.time()
    with WarcFolder(tmp_path, AGENT) as files:
        files.write(fetched(b"hello"))

    (path,) = files_in(tmp_path)
    first = read_folder(tmp_path)[0]
    assert first.kind == "warcinfo"
    assert first.fields["warc-filename"] == path.name
    assert first.body.decode().split("\r\n") == [
        f"software: recrawl/{__version__}",
        "format: WARC File Format 1.1",
        f"conformsTo: {STANDARD}",
        "robots: obey",
        f"http-header-user-agent: {AGENT}",
        "",
    ]
    written = first.fields["warc-date"]
    assert written[:10] in {
        time.strftime("%Y-%m-%d", time.gmtime(t)) for t in (before, time.time())
    }


def test_nothing_written_leaves_no_file(tmp_path):
    WarcFolder(tmp_path, AGENT).close()

    assert files_in(tmp_path) == left_open(tmp_path) == []


def test_a_file_that_is_large_is_followed_by_another(tmp_path):
    with WarcFolder(tmp_path, AGENT, largest_bytes=20_000) as files:
        for number in range(10):
            files.write(fetched(noise(8000, number), at=number))

    sizes = [path.stat().st_size for path in files_in(tmp_path)]
    assert len(sizes) == 4
    assert all(20_000 <= size < 31_000 for size in sizes[:-1])
    kinds = [record.kind for record in read_folder(tmp_path)]
    assert kinds.count("warcinfo") == 4
    assert kinds.count("response") == kinds.count("request") == 10


def test_what_is_held_is_known_after_a_restart(tmp_path):
    with WarcFolder(tmp_path, AGENT) as files:
        files.write(fetched(b"hello"))
    with WarcFolder(tmp_path, AGENT) as files:
        files.write(fetched(b"hello", B, at=1))
        files.write(RecordedFetch(Request(A, '"1"'), Response(A, 304), at=2))

    first, *again = of_kind(read_folder(tmp_path), "response", "revisit")
    assert [record.kind for record in again] == ["revisit", "revisit"]
    name = first.fields["warc-record-id"]
    assert [record.fields["warc-refers-to"] for record in again] == [name, name]


def test_where_the_list_is_removed_records_are_written_again(tmp_path):
    with WarcFolder(tmp_path, AGENT) as files:
        files.write(fetched(b"hello"))
    (tmp_path / "index.db").unlink()
    with WarcFolder(tmp_path, AGENT) as files:
        files.write(fetched(b"hello"))

    assert len(of_kind(read_folder(tmp_path), "response")) == 2


def test_a_folder_has_one_crawl_at_a_time(tmp_path):
    with (
        WarcFolder(tmp_path, AGENT),
        pytest.raises(StoreLocked, match=f"in use by another crawl .process {os.getpid()}"),
    ):
        WarcFolder(tmp_path, AGENT)
    WarcFolder(tmp_path, AGENT).close()


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(CannotWrite, match="file cannot be written to"):
        WarcFolder(tmp_path / "file", AGENT)


def test_a_folder_whose_list_is_damaged_can_be_had_again(tmp_path):
    """The lock goes with the failure."""
    (tmp_path / "index.db").write_bytes(b"no list" * 100)
    with pytest.raises(CannotWrite, match="damaged; delete it to go on"):
        WarcFolder(tmp_path, AGENT)
    (tmp_path / "index.db").unlink()

    WarcFolder(tmp_path, AGENT).close()


def test_a_size_must_be_one():
    with pytest.raises(InvalidParameter, match=r"largest_bytes must be positive \(got 0\)"):
        WarcFolder(None, AGENT, largest_bytes=0)  # type: ignore[arg-type] # never looked at


def test_a_closed_folder_takes_nothing(tmp_path):
    files = WarcFolder(tmp_path, AGENT)
    files.close()
    files.close()

    with pytest.raises(CannotWrite, match="closed already"):
        files.write(fetched(b"hello"))


def test_an_index_finds_every_page(tmp_path):
    with WarcFolder(tmp_path, AGENT) as files:
        files.write(fetched(b"hello", at=1_700_000_000_000))
        files.write(fetched(b"hello", B, at=1_700_000_001_000))
        files.write(RecordedFetch(Request(A, '"1"'), Response(A, 304), at=1_700_000_002_000))
        files.write(RecordedFetch(Request(A), Response(A, problem="dns", detail="no"), at=1))

    lines = indexed(tmp_path)
    assert [line["warc-target-uri"] for line in lines] == [A, B, A]
    assert [line["warc-date"][:19] for line in lines] == [
        "2023-11-14T22:13:20",
        "2023-11-14T22:13:21",
        "2023-11-14T22:13:22",
    ]
    assert [line["warc-type"] for line in lines] == ["response", "revisit", "revisit"]
    digests = {line["warc-payload-digest"] for line in lines}
    assert digests == {"sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N"}
    assert [line["http:status"] for line in lines] == ["200", "200", "304"]
    raw = files_in(tmp_path)[0].read_bytes()
    for line in lines:
        start = int(line["offset"])
        (record,) = read(raw[start : start + int(line["length"])])
        assert record.address == line["warc-target-uri"]


def test_a_folder_with_a_limit_keeps_the_newest_files(tmp_path):
    """What is deleted is referred to no more: its body is written again when it comes again."""
    limit, sizes = 200_000, []
    with WarcFolder(tmp_path, AGENT, total_bytes=limit) as files:
        for number in range(100):
            files.write(fetched(noise(7_000, number % 60), f"{A}{number}", at=number))
            sizes.append(sum(path.stat().st_size for path in tmp_path.glob("recrawl-*")))
            files.sync()

    records = of_kind(read_folder(tmp_path), "response", "revisit")
    kept = [int(each.address.rpartition("/")[2]) for each in records]
    assert max(sizes) <= limit + 10_000
    assert kept == list(range(kept[0], 100))
    ids = {each.fields["warc-record-id"] for each in records}
    referred = [each.fields["warc-refers-to"] for each in records if each.kind == "revisit"]
    assert set(referred) <= ids
    assert 10 < len(kept) < 60


def full_files(folder):
    return [each for each in files_in(folder) if each.stat().st_size >= killed.LARGEST_BYTES]


@pytest.mark.parametrize(
    ("event", "full", "being_written"),
    [
        ("open", 1, 0),  # of the second file: it is not there yet, and the first has its name
        ("os.rename", 1, 1),  # of the second file, which is full
    ],
)
def test_a_kill_between_two_files_leaves_none_open(tmp_path, event, full, being_written):
    command = [sys.executable, killed.__file__, str(tmp_path), "0", event]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)

    assert ended.returncode == -signal.SIGKILL
    assert len(full_files(tmp_path)) == len(files_in(tmp_path)) == full
    assert len(left_open(tmp_path)) == being_written
    WarcFolder(tmp_path, AGENT).close()
    assert left_open(tmp_path) == []
    assert len(full_files(tmp_path)) == len(files_in(tmp_path)) == full + being_written
    records = of_kind(read_folder(tmp_path), "response", "revisit")
    kept = [int(record.address.rpartition("/")[2]) for record in records]
    assert kept == [int(line) for line in ended.stdout.split()]


def test_kills_leave_every_record_that_was_acknowledged(tmp_path):
    """And every record, acknowledged or not, is whole and leads to what it refers to."""
    chance = random.Random(5)  # noqa: S311 - instants, no secrets
    first, acknowledged = 0, set()
    for _ in range(12):
        command = [sys.executable, killed.__file__, str(tmp_path), str(first)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        said = [process.stdout.readline()]
        time.sleep(chance.random() * 0.3)
        process.kill()
        said += process.stdout.read().splitlines()
        process.wait()
        process.stdout.close()
        numbers = [int(line) for line in said if line.strip()]
        acknowledged.update(numbers)
        first = max(numbers) + 2  # the next may have been written, and not told
        newest = max(tmp_path.glob(f"*-{process.pid}.warc.gz*"))
        # Its last file is open, or full: then it was killed before it began the next.
        if newest in full_files(tmp_path):
            assert left_open(tmp_path) == []
        else:
            assert left_open(tmp_path) == [newest]
    WarcFolder(tmp_path, AGENT).close()

    assert left_open(tmp_path) == []
    records = of_kind(read_folder(tmp_path), "response", "revisit")
    bodies = {r.fields["warc-record-id"]: r.body for r in records if r.kind == "response"}
    kept = {}
    for record in records:
        number = int(record.address.rpartition("/")[2])
        kept[number] = bodies[record.fields.get("warc-refers-to", record.fields["warc-record-id"])]
        assert kept[number] == killed.body_of(number)
    assert acknowledged <= kept.keys()
    assert any(record.kind == "revisit" for record in records)
    assert any(b - a > 1 for a, b in pairwise(sorted(kept)))
