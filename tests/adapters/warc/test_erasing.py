"""Records of addresses are taken out of WARC files, and all others stay as they are."""

import gzip
import zlib

import pytest

from recrawl.adapters.warc.erasing import SCRATCH, erase_records
from recrawl.adapters.warc.fetches import RecordedFetch, WarcIndex, body_key
from recrawl.adapters.warc.folder import WarcFolder
from recrawl.errors import CannotWrite, StoreLocked
from recrawl.parse.messages import Request, Response
from tests.adapters.warc.warcs import files_in, indexed, of_kind, read_folder

AGENT = "test-bot (me@example.org)"
A, B, C = "http://a.org/secret", "http://b.org/", "http://c.org/"
SECRET = b"<p>kept-from-nobody-7261</p>"


def fetch(address, body, at, status=200, etag=""):
    headers = {"etag": etag} if etag else {}
    response = Response(address, status, headers, body if status != 304 else b"")
    return RecordedFetch(Request(address, etag=etag), response, at=at * 1000)


def written(folder, *fetches, largest=10**9):
    with WarcFolder(folder, AGENT, largest_bytes=largest) as files:
        for each in fetches:
            files.write(each)


def members(folder):
    """Bytes of each record as they lie in the files."""
    found = []
    for path in files_in(folder):
        raw = path.read_bytes()
        while raw:
            stream = zlib.decompressobj(31)
            stream.decompress(raw)
            found.append(raw[: len(raw) - len(stream.unused_data)])
            raw = stream.unused_data
    return found


def left_of(folder, *marks):
    """Marks that are found in a file of a folder, packed or not."""
    raw = [path.read_bytes() for path in folder.iterdir()]
    raw += [gzip.decompress(path.read_bytes()) for path in folder.glob("*.gz*")]
    return [mark for mark in marks if any(mark in each for each in raw)]


def erase(folder, *addresses):
    return erase_records(folder, AGENT, lambda address: address in addresses)


@pytest.mark.parametrize("largest", [10**9, 1])
def test_all_other_records_stay_byte_for_byte(tmp_path, largest):
    written(
        tmp_path,
        fetch(B, b"one", 1),
        fetch(A, SECRET, 2, etag='"1"'),
        fetch(A, SECRET, 3),
        fetch(A, b"", 4, 304, etag='"1"'),
        fetch(C, b"two", 5),
        RecordedFetch(Request(A), Response(A, problem="dns", detail="no"), at=6),
        largest=largest,
    )
    before = members(tmp_path)
    assert left_of(tmp_path, SECRET, A.encode()) == [SECRET, A.encode()]

    found = erase(tmp_path, A)

    after = members(tmp_path)
    assert found.records == {A: 7}  # four answers, three requests
    assert found.bytes == sum(map(len, before)) - sum(map(len, after))
    assert after == [each for each in before if A.encode() not in gzip.decompress(each)]
    assert left_of(tmp_path, SECRET, A.encode()) == []
    assert {record.address for record in of_kind(read_folder(tmp_path), "response")} == {B, C}
    assert len(indexed(tmp_path)) == 2
    assert found.targets == frozenset()


def test_a_second_call_finds_nothing_and_changes_nothing(tmp_path):
    written(tmp_path, fetch(A, SECRET, 1), fetch(B, b"one", 2))
    erase(tmp_path, A)
    before = members(tmp_path)

    assert erase(tmp_path, A).records == {}
    assert members(tmp_path) == before


@pytest.mark.parametrize("largest", [10**9, 1])
def test_a_body_that_others_share_moves_on(tmp_path, largest):
    """The first record that refers to it has it then, and the others refer to that one."""
    written(
        tmp_path,
        fetch(A, b"shared", 1, etag='"a"'),
        fetch(B, b"shared", 2, etag='"b"'),
        fetch(C, b"shared", 3),
        fetch(B, b"", 4, 304, etag='"b"'),
        largest=largest,
    )

    assert erase(tmp_path, A).records == {A: 2}

    assert left_of(tmp_path, A.encode()) == []
    records = read_folder(tmp_path)  # two readers find all digests right
    (heir,) = of_kind(records, "response")
    assert (heir.address, heir.body) == (B, b"shared")
    revisits = of_kind(records, "revisit")
    assert [record.address for record in revisits] == [C, B]
    for record in revisits:
        assert record.fields["warc-refers-to"] == heir.fields["warc-record-id"]
        assert record.fields["warc-refers-to-target-uri"] == B
        assert record.fields["warc-refers-to-date"] == heir.fields["warc-date"]
    # What comes next refers to it, too.
    written(tmp_path, fetch(C, b"shared", 9))
    newest = of_kind(read_folder(tmp_path), "revisit")[-1]
    assert newest.fields["warc-refers-to"] == heir.fields["warc-record-id"]


def test_what_was_called_unchanged_alone_refers_to_nothing(tmp_path):
    """Of a page whose body was in another's record, which is gone, only the answers are left."""
    written(tmp_path, fetch(A, b"shared", 1), fetch(B, b"shared", 2, etag='"b"'))
    erase(tmp_path, B)
    index = WarcIndex(tmp_path / "index.db")
    kept = index.find(body_key(b"shared"))
    assert kept is not None
    assert kept.address == A
    index.close()

    assert erase(tmp_path, A).records == {A: 2}
    assert [record.kind for record in read_folder(tmp_path)] == ["warcinfo"]


def test_where_redirects_led_is_told(tmp_path):
    written(
        tmp_path,
        RecordedFetch(Request(A), Response(A, 302, {"location": "/elsewhere"}, b"moved"), at=1),
        fetch("http://a.org/elsewhere", b"there", 2),
    )

    assert erase(tmp_path, A).targets == {"http://a.org/elsewhere"}
    assert [each.address for each in of_kind(read_folder(tmp_path), "response")] == [
        "http://a.org/elsewhere"
    ]


def test_what_a_killed_crawl_and_a_killed_erasure_left_is_erased_too(tmp_path):
    written(tmp_path, fetch(A, SECRET, 1), fetch(B, b"one", 2))
    (path,) = files_in(tmp_path)
    raw = path.read_bytes()
    path.with_name(path.name + SCRATCH).write_bytes(raw)
    path.with_name("recrawl-20260101000000-00000-1.warc.gz.open").write_bytes(raw + raw[:50])

    assert erase(tmp_path, A).records == {A: 4}
    assert left_of(tmp_path, SECRET, A.encode()) == []
    assert len(of_kind(read_folder(tmp_path), "response")) == 2


def test_a_damaged_file_is_told_before_anything_is_changed(tmp_path):
    written(tmp_path, fetch(A, SECRET, 1), fetch(B, b"one", 2), largest=1)
    path = files_in(tmp_path)[-1]
    path.write_bytes(path.read_bytes()[:-5])
    before = {each: each.read_bytes() for each in files_in(tmp_path)}

    with pytest.raises(CannotWrite, match=r"damaged after byte .* within a record"):
        erase(tmp_path, A)
    assert {each: each.read_bytes() for each in files_in(tmp_path)} == before


def test_a_folder_that_is_not_there_or_in_use_is_told(tmp_path):
    with pytest.raises(CannotWrite, match="none: folder of WARC files not found"):
        erase(tmp_path / "none", A)
    assert not (tmp_path / "none").exists()
    with WarcFolder(tmp_path, AGENT), pytest.raises(StoreLocked):
        erase(tmp_path, A)
