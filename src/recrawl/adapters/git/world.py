"""The history of a site that is kept in git, as pages and changes that `simulate` reads.

    pages      page, url, first_seen, removed_at
    changes    page, changed_at, bulk, revert

A page is a file, whatever its name becomes. That it is made, renamed or deleted is no change of it.
A commit that changes more than a fifth of the site is a sweep (`bulk`), and content that the page
had before is a `revert`.

Touches: files, processes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import numpy as np

from recrawl.adapters.git.commits import count_commits, read_commits
from recrawl.adapters.tables.outputs import to_file
from recrawl.arrays.texts import Texts
from recrawl.errors import CannotWrite, InvalidParameter, InvalidTable, reason
from recrawl.parse.addresses import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from recrawl.adapters.git.commits import Commit, FileChange

_SWEEP_SHARE = 0.2
_FEWEST_OF_SWEEP = 5  # changes: on a site of four pages every commit would be one
_UNKNOWN = np.iinfo(np.int64).min
_SECOND = 1_000_000
_SAFE = "/-._~!$&'()*+,;=:@"


class WorldCounts(NamedTuple):
    """How much was found.

    Attributes:
        commits: Commits read.
        pages: Pages there were.
        changes: Changes of them.
        bulk: How many of the changes belong to sweeps.
        reverts: How many bring back content that the page had before.
    """

    commits: int
    pages: int
    changes: int
    bulk: int
    reverts: int


@dataclass(slots=True)
class GitWorld:
    """Pages and changes of the commits so far.

    Attributes:
        path: Last path of each page.
        first_seen: Epoch seconds at which each was made.
        removed_at: Epoch seconds at which it was deleted; the smallest integer while it is there.
        page: Page of each change.
        changed_at: Epoch seconds of each.
        bulk: Whether it belongs to a sweep.
        revert: Whether the page had the content before.
        commits: How many commits there were.
    """

    path: list[str] = field(default_factory=list)
    first_seen: list[int] = field(default_factory=list)
    removed_at: list[int] = field(default_factory=list)
    page: list[int] = field(default_factory=list)
    changed_at: list[int] = field(default_factory=list)
    bulk: list[bool] = field(default_factory=list)
    revert: list[bool] = field(default_factory=list)
    commits: int = 0
    _live: dict[str, int] = field(default_factory=dict)
    _contents: list[set[str]] = field(default_factory=list)
    _now: int = 0

    def add(self, commit: Commit) -> None:
        """Take in the next commit."""
        self.commits += 1
        self._now = max(self._now, commit.at_seconds)  # clocks of committers differ
        live = len(self._live)
        # Old names first: a commit may give one file the name of another.
        pages = [self._live.pop(change.path, None) for change in commit.files]
        changed: list[tuple[int, bool]] = []
        for change, page in zip(commit.files, pages, strict=True):
            found = self._apply(change, page)
            if found is not None:
                changed.append(found)
        sweep = len(changed) >= _FEWEST_OF_SWEEP and len(changed) > _SWEEP_SHARE * live
        for number, revert in changed:
            self.page.append(number)
            self.changed_at.append(self._now)
            self.bulk.append(sweep)
            self.revert.append(revert)

    def _apply(self, change: FileChange, page: int | None) -> tuple[int, bool] | None:
        """Do what a commit did to a file; the page and whether it is a revert, if it changed."""
        if change.kind == "D":
            if page is not None:
                self.removed_at[page] = self._now
            return None
        if page is None:
            self._live[change.new_path] = len(self.path)
            self.path.append(change.new_path)
            self.first_seen.append(self._now)
            self.removed_at.append(_UNKNOWN)
            self._contents.append({change.content})
            return None
        self._live[change.new_path] = page
        self.path[page] = change.new_path
        if change.same:
            return None
        contents = self._contents[page]
        revert = change.content in contents
        contents.add(change.content)
        return page, revert


def import_world(
    repository: Path,
    folder: Path,
    *,
    paths: Sequence[str] = (),
    base: str = "",
    progress: Callable[[float], None] | None = None,
) -> WorldCounts:
    """Write the pages and changes of a repository to a folder, both files or none.

    Args:
        repository: Folder of the repository.
        folder: Where to; made if it is not there.
        paths: Only what lies below these.
        base: Address that paths are appended to; without it they stand for themselves. Of a single
            path in `paths`, what lies below it is appended.
        progress: Called with the share that is read, from 0 to 1.
    """
    address_of = _addresses(paths, base)
    world = GitWorld()
    count = count_commits(repository, paths) if progress is not None else 0
    for commit in read_commits(repository, paths):
        world.add(commit)
        if progress is not None:
            progress(min(world.commits / max(count, 1), 1.0))
    if not world.path:
        where = f" below {' or '.join(paths)}" if paths else ""
        raise InvalidTable(f"{repository}: no file was ever published{where}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(f"{folder} cannot be created ({reason(error)})") from None
    _write(world, folder, [address_of(path) for path in world.path])
    return WorldCounts(
        world.commits, len(world.path), len(world.page), sum(world.bulk), sum(world.revert)
    )


def _addresses(paths: Sequence[str], base: str) -> Callable[[str], str]:
    """What a page of a path is called."""
    if not base:
        return lambda path: path
    start = canonical(base if base.endswith("/") else f"{base}/")
    if start is None:
        message = f"base must be an address such as https://example.org/ (got {base!r})"
        raise InvalidParameter(message)
    below = f"{paths[0].strip('/')}/" if len(paths) == 1 else ""
    return lambda path: start + quote(path.removeprefix(below), safe=_SAFE)


def _write(world: GitWorld, folder: Path, addresses: Sequence[str]) -> None:
    ending = ".parquet" if find_spec("pyarrow") else ".csv"
    pages, changes = folder / f"pages{ending}", folder / f"changes{ending}"
    with (
        to_file(pages, ("page", "url", "first_seen", "removed_at")) as pages_out,
        to_file(changes, ("page", "changed_at", "bulk", "revert")) as changes_out,
    ):
        pages_out.write(
            _names(range(len(addresses))),
            {
                "url": Texts.of(addresses),
                "first_seen": _instants(world.first_seen),
                "removed_at": _instants(world.removed_at),
            },
        )
        changes_out.write(
            _names(world.page),
            {
                "changed_at": _instants(world.changed_at),
                "bulk": np.array(world.bulk, np.bool_),
                "revert": np.array(world.revert, np.bool_),
            },
        )


def _names(numbers: Iterable[int]) -> Texts:
    return Texts.of([str(number) for number in numbers])


def _instants(seconds: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.datetime64]]:
    known = np.array(seconds, np.int64)
    return np.where(known == _UNKNOWN, _UNKNOWN, known * _SECOND).view("datetime64[us]")
