"""A file that is cut anywhere keeps the records before the cut."""

import gzip
import io
import subprocess
import sys
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.adapters.warc.folder import WarcFile, recover, whole_bytes
from recrawl.adapters.warc.records import FIELDS_TYPE, Record
from recrawl.errors import CannotWrite
from tests.adapters.warc.warcs import files_in, left_open, read
from tests.noise import noise

MEMBERS = [
    Record("metadata", n, FIELDS_TYPE, noise(n), number=UUID(int=n)).packed()
    for n in (1, 500, 70_000, 3)
]
FILE = b"".join(MEMBERS)
ENDS = [0, *(len(b"".join(MEMBERS[: n + 1])) for n in range(len(MEMBERS)))]


def test_a_file_has_its_name_when_it_is_closed(tmp_path):
    file = WarcFile(tmp_path / "a.warc.gz")
    file.write(FILE)
    assert [path.name for path in left_open(tmp_path)] == ["a.warc.gz.open"]
    assert left_open(tmp_path)[0].read_bytes() == FILE  # at once, for others too
    file.close()

    assert [path.read_bytes() for path in files_in(tmp_path)] == [FILE]
    assert left_open(tmp_path) == []
    assert file.size == len(FILE)


def test_a_file_without_records_is_none(tmp_path):
    WarcFile(tmp_path / "a.warc.gz").close()

    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_not_written_over(tmp_path):
    first = WarcFile(tmp_path / "a.warc.gz")

    with pytest.raises(CannotWrite, match="file exists"):
        WarcFile(tmp_path / "a.warc.gz")
    first.close()


def test_a_write_that_fails_leaves_whole_records(tmp_path):
    """The system takes no file of more than 100,000 bytes from this process."""
    program = f"""
import resource
from pathlib import Path
from recrawl.adapters.warc.folder import WarcFile
from recrawl.errors import CannotWrite
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
file = WarcFile(Path({str(tmp_path / "a.warc.gz")!r}))
raw = Path({str(tmp_path / "raw")!r}).read_bytes()
try:
    while True:
        file.write(raw)
except CannotWrite as error:
    print(error)
file.close()
"""
    (tmp_path / "raw").write_bytes(MEMBERS[1] * 3)
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    path = tmp_path / "a.warc.gz"
    assert ended.stdout == f"{path} cannot be written (file too large)\n"
    size = len(MEMBERS[1]) * 3
    assert path.stat().st_size == 100_000 // size * size
    assert len(read(path.read_bytes())) == 100_000 // size * 3


@given(st.integers(0, len(FILE)))
def test_of_a_cut_file_the_whole_records_count(cut):
    assert whole_bytes(io.BytesIO(FILE[:cut])) == max(end for end in ENDS if end <= cut)


@given(st.integers(0, len(FILE) - 1), st.binary(min_size=1, max_size=3000))
def test_what_is_behind_the_cut_may_be_anything(cut, rest):
    """After a power cut a disk may hold zeros, or what was there before."""
    found = whole_bytes(io.BytesIO(FILE[:cut] + rest))
    whole = max(end for end in ENDS if end <= cut)

    assert found == whole or gzip.decompress((FILE[:cut] + rest)[whole:found])


def test_a_record_that_unpacks_to_much_is_whole():
    """Its last bytes come out long after its last bytes went in."""
    member = gzip.compress(bytes(30_000_000))

    assert whole_bytes(io.BytesIO(member + member)) == 2 * len(member)


@pytest.mark.parametrize(
    "cut",
    [ENDS[2], ENDS[2] + 1, ENDS[3] - 1, len(FILE)],
    ids=["end", "after", "before", "whole"],
)
def test_what_was_left_open_is_cut_and_named(tmp_path, cut):
    scratch = tmp_path / "a.warc.gz.open"
    scratch.write_bytes(FILE[:cut])
    recover(scratch)

    (path,) = tmp_path.iterdir()
    assert path.name == "a.warc.gz"
    assert path.read_bytes() == FILE[: max(end for end in ENDS if end <= cut)]


@pytest.mark.parametrize(
    "content",
    [b"", FILE[:50], b"no record at all", bytes(5000)],
    ids=["empty", "cut", "text", "zeros"],
)
def test_what_was_left_open_without_a_whole_record_is_removed(tmp_path, content):
    scratch = tmp_path / "a.warc.gz.open"
    scratch.write_bytes(content)
    recover(scratch)

    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_twice_is_not_written_over(tmp_path):
    (tmp_path / "a.warc.gz.open").write_bytes(FILE)
    (tmp_path / "a.warc.gz").write_bytes(b"before")

    with pytest.raises(
        CannotWrite, match=r"a.warc.gz and a.warc.gz.open both exist; move one of them away"
    ):
        recover(tmp_path / "a.warc.gz.open")
    assert (tmp_path / "a.warc.gz").read_bytes() == b"before"
