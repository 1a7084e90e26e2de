"""Records of some addresses taken out of the WARC files of a folder.

Each record is a gzip member of its own, so a file is written anew by copying the members that stay,
byte for byte. A body that an address shares with others moves on: the first record that refers to
it becomes the one that has it.

    A response (body)  B revisit of A  B revisit of A      before
                       B response      B revisit of B      after A was erased

A file is written beside the old one, put on disk and renamed, and those that bodies move into come
first. So whenever the process is killed each file is whole, no body is lost that stays, and the
same call does the rest.

Touches: files.
"""

from __future__ import annotations

import os
import zlib
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, TYPE_CHECKING
from uuid import UUID

from recrawl.adapters.warc.fetches import SAME_BODY, OriginalRecord, body_key, reference_fields
from recrawl.adapters.warc.folder import GZIP, PIECE, WarcFolder, sync_folder
from recrawl.adapters.warc.records import Record, escaped_uri
from recrawl.errors import CannotWrite, reason
from recrawl.parse.addresses import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

SCRATCH = ".new"

_LONGEST_HEAD = 1 << 17
_END = b"\r\n\r\n"
_URN = "<urn:uuid:"


@dataclass(frozen=True, slots=True)
class ErasedRecords:
    """What was taken out.

    Args:
        records: How many records, by address as they write it.
        bytes: What they took on disk.
        targets: Where redirects led that were taken out; what was fetched there stays.
    """

    records: Mapping[str, int] = field(default_factory=dict)
    bytes: int = 0
    targets: frozenset[str] = frozenset()


def erase_records(
    folder: Path,
    agent: str,
    wanted: Callable[[str], bool],
    on_progress: Callable[[float], object] = bool,
) -> ErasedRecords:
    """Take all records of some addresses out of the files of a folder, which nobody writes to.

    Args:
        folder: The folder.
        agent: `User-Agent` of the crawl.
        wanted: Whether the records of an address, as they write it, are to be taken out.
        on_progress: Called now and then with the share of the files that was looked through.
    """
    if not folder.is_dir():
        raise CannotWrite(f"{folder}: folder of WARC files not found")
    with WarcFolder(folder, agent) as held:  # cuts what a killed crawl has left to whole records
        try:
            for scratch in folder.glob(f"*{SCRATCH}"):
                scratch.unlink()
            erased, referring = _look_through(folder, wanted, on_progress)
            targets = frozenset(_targets(erased, wanted))
            held.forget(wanted)  # first: nothing may refer to what is going to be lost
            instead, moved = _moved_bodies(erased, referring)
            if instead:
                _rewrite_all(instead)
                erased, _ = _look_through(folder, wanted, on_progress)  # they stand elsewhere now
            _rewrite_all([(member, b"") for member in erased])
            held.remember(moved)
        except OSError as error:
            raise CannotWrite(f"{folder} cannot be rewritten ({reason(error)})") from None
    counts = Counter(member.address for member in erased)
    return ErasedRecords(counts, sum(member.end - member.begin for member in erased), targets)


@dataclass(frozen=True, slots=True)
class _Member:
    """A record in a file.

    Args:
        path: The file.
        begin: Where in the file it begins.
        end: Where it ends.
        fields: Its fields by lower-case name.
    """

    path: Path
    begin: int
    end: int
    fields: Mapping[str, str]

    @property
    def address(self) -> str:
        return self.fields.get("warc-target-uri", "")

    @property
    def name(self) -> str:
        return self.fields.get("warc-record-id", "")

    def block(self) -> bytes:
        with self.path.open("rb") as file:
            file.seek(self.begin)
            raw = zlib.decompress(file.read(self.end - self.begin), GZIP)
        return raw.partition(_END)[2][: int(self.fields["content-length"])]

    def original(self) -> OriginalRecord:
        """What others refer to it by."""
        at = datetime.fromisoformat(self.fields["warc-date"])
        number = UUID(self.name.removeprefix(_URN).rstrip(">"))
        digest = self.fields.get("warc-payload-digest", "")
        return OriginalRecord(number, self.address, round(at.timestamp() * 1000), digest)

    def rewritten(self, kind: str, block: bytes, fields: Mapping[str, str]) -> bytes:
        """The same record with another kind, block and fields, as it stands in a file."""
        itself = self.original()
        content_type = self.fields["content-type"]
        return Record(
            kind, itself.at, content_type, block, fields, itself.address, itself.number
        ).packed()


# Looking.


def _look_through(
    folder: Path, wanted: Callable[[str], bool], on_progress: Callable[[float], object]
) -> tuple[list[_Member], list[_Member]]:
    """Records to take out, and records that stay and refer to others."""
    paths = sorted(folder.glob("*.warc.gz"))
    total, done = sum(path.stat().st_size for path in paths), 0
    erased, referring = [], []
    for path in paths:
        with path.open("rb") as file:
            for member in _members(path, file):
                if wanted(member.address):
                    erased.append(member)
                elif "warc-refers-to" in member.fields:
                    referring.append(member)
                on_progress((done + member.end) / total)
        done += path.stat().st_size
    gone = {member.name for member in erased}
    return erased, [member for member in referring if member.fields["warc-refers-to"] in gone]


def _members(path: Path, file: IO[bytes]) -> Iterator[_Member]:
    """All records of a file."""
    begin = read = 0
    stream, head = zlib.decompressobj(GZIP), b""
    while piece := file.read(PIECE):
        read += len(piece)
        while piece:
            try:
                plain = stream.decompress(piece, PIECE)
            except zlib.error as error:
                raise CannotWrite(f"{path}: damaged after byte {begin:,} ({error})") from None
            head += plain if len(head) < _LONGEST_HEAD else b""
            if not stream.eof:
                piece = stream.unconsumed_tail
                continue
            piece = stream.unused_data
            yield _Member(path, begin, read - len(piece), _fields(head.partition(_END)[0]))
            begin, stream, head = read - len(piece), zlib.decompressobj(GZIP), b""
    if head:
        raise CannotWrite(f"{path}: damaged after byte {begin:,} (it ends within a record)")


def _fields(head: bytes) -> dict[str, str]:
    """Fields of a record or headers of a message, by lower-case name."""
    lines = (line.partition(":") for line in head.decode(errors="replace").split("\r\n")[1:])
    return {name.lower(): value.strip() for name, _, value in lines}


def _targets(erased: Iterable[_Member], wanted: Callable[[str], bool]) -> Iterator[str]:
    """Where redirects led that are taken out."""
    for member in erased:
        if member.fields.get("warc-type") == "response":
            location = _fields(member.block().partition(_END)[0]).get("location", "")
            target = canonical(location, member.address) if location else None
            if target and not wanted(escaped_uri(target)):
                yield target


# Writing.


def _moved_bodies(
    erased: Iterable[_Member], referring: Sequence[_Member]
) -> tuple[list[tuple[_Member, bytes]], dict[bytes, OriginalRecord]]:
    """What to write in place of records that refer to erased ones, and where bodies are then."""
    followers: dict[str, list[_Member]] = {}
    for member in referring:
        followers.setdefault(member.fields["warc-refers-to"], []).append(member)
    instead: list[tuple[_Member, bytes]] = []
    moved: dict[bytes, OriginalRecord] = {}
    for lost in erased:
        ours = followers.get(lost.name, [])
        heir = next((each for each in ours if each.fields["warc-profile"] == SAME_BODY), None)
        if heir is not None:
            body = lost.block().partition(_END)[2]
            fields = {"WARC-Payload-Digest": lost.fields["warc-payload-digest"]}
            instead.append((heir, heir.rewritten("response", heir.block() + body, fields)))
            moved[body_key(body)] = heir.original()
        for each in ours:
            if each is not heir:
                fields = {"WARC-Profile": each.fields["warc-profile"]}
                fields |= reference_fields(heir.original()) if heir else {}
                instead.append((each, each.rewritten("revisit", each.block(), fields)))
    return instead, moved


def _rewrite_all(instead: Iterable[tuple[_Member, bytes]]) -> None:
    """Write files anew with other bytes in place of some records."""
    files: dict[Path, dict[int, tuple[int, bytes]]] = {}
    for member, raw in instead:
        files.setdefault(member.path, {})[member.begin] = member.end, raw
    for path, replaced in files.items():
        scratch = path.with_name(path.name + SCRATCH)
        with path.open("rb") as old, scratch.open("xb") as new:
            for begin, (end, raw) in sorted(replaced.items()):
                _copy(old, new, begin - old.tell())
                new.write(raw)
                old.seek(end)
            _copy(old, new, os.fstat(old.fileno()).st_size - old.tell())
            new.flush()
            os.fsync(new.fileno())
        scratch.rename(path)
        sync_folder(path.parent)


def _copy(old: IO[bytes], new: IO[bytes], count: int) -> None:
    while count > 0 and (piece := old.read(min(count, PIECE))):
        new.write(piece)
        count -= len(piece)
