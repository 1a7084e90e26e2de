"""Commits of a git repository in the order in which a site was published, streamed from git itself.

The first parents of the current branch, oldest first: what was merged was published by the merge.
Nothing of a repository is run, whatever it says: its configuration cannot name programs, no hook,
filter, pager, signature check or transport takes part, and names are never read by a shell.

Touches: files, processes.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, NamedTuple

from recrawl.errors import InvalidTable, MissingProgram, reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_COMMIT = b"\x01"
_BLOCK = 1 << 18
_LONGEST_TOKEN = 1 << 16
_SHOWN = 200
_SUBMODULE = b"160000"
_RENAMED, _ADDED, _DELETED = b"RAD"
_COMMAND = (
    *("git", "--no-pager", "--no-replace-objects", "--literal-pathspecs"),
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.untrackedCache="),
    *("-c", "log.showSignature=false", "-c", "log.showRoot=true", "-c", "log.follow=false"),
    *("-c", "diff.renameLimit=1000", "-c", "diff.orderFile=/dev/null", "-c", "log.mailmap=false"),
)
_LOG = (
    *("log", "--first-parent", "--diff-merges=first-parent", "--reverse", "--format=%x01%ct"),
    *("--raw", "-z", "-M", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--no-color"),
    *("--no-notes", "--no-decorate", "--ignore-submodules=all", "HEAD"),
)
_COUNT = ("rev-list", "--first-parent", "--count", "HEAD")


class FileChange(NamedTuple):
    """What a commit did to a file.

    Attributes:
        kind: `A`, `D`, `M` or `R`, for added, deleted, modified and renamed.
        path: Path of the file, or its old one.
        new_path: Path afterwards.
        content: Name of the new content; empty where the file is gone.
        same: Whether the content is as before.
    """

    kind: str
    path: str
    new_path: str
    content: str
    same: bool


class Commit(NamedTuple):
    """A commit.

    Attributes:
        at_seconds: When it was committed, in epoch seconds.
        files: What it did.
    """

    at_seconds: int
    files: list[FileChange]


def read_commits(repository: Path, paths: Sequence[str] = ()) -> Iterator[Commit]:
    """Commits that touch any of some paths, oldest first.

    Args:
        repository: Folder of the repository.
        paths: Files and folders in it; none for all.
    """
    with _git(repository, [*_LOG, "--", *paths]) as output:
        yield from commits_in(_tokens(output))


def count_commits(repository: Path, paths: Sequence[str] = ()) -> int:
    """How many commits `read_commits` will give."""
    with _git(repository, [*_COUNT, "--", *paths]) as output:
        return _number(output.read(_LONGEST_TOKEN))


@contextmanager
def _git(repository: Path, arguments: Sequence[str]) -> Iterator[IO[bytes]]:
    """The output of git, which is ended with the block."""
    command = [*_COMMAND, "-C", str(repository), *arguments]
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(  # noqa: S603 - a fixed program, no shell
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=_environment(),
            )
        except FileNotFoundError:
            raise MissingProgram(
                "git is not installed; it is needed to read a repository"
            ) from None
        except OSError as error:
            raise MissingProgram(f"git could not be started ({reason(error)})") from None
        with process:
            try:
                assert process.stdout is not None  # noqa: S101 - a pipe
                yield process.stdout
            except BaseException:
                process.kill()
                raise
            if process.wait():
                errors.seek(0)
                said = errors.read(_SHOWN).decode("utf-8", "replace").strip()
                first = said.splitlines()[0] if said else f"git ended with {process.returncode}"
                raise InvalidTable(f"{repository} is not a git repository with commits ({first})")


def _environment() -> dict[str, str]:
    """Of ours only where programs are; nothing that tells git to do more than it is asked for."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C",
        "HOME": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",  # whatever is missing is not fetched
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }


def _tokens(output: IO[bytes]) -> Iterator[bytes]:
    left = b""
    while block := output.read(_BLOCK):
        *whole, left = (left + block).split(b"\0")
        yield from whole
        if len(left) > _LONGEST_TOKEN:
            raise InvalidTable("a path in the repository is too long")
    if left:
        yield left


def commits_in(tokens: Iterator[bytes]) -> Iterator[Commit]:
    r"""Commits in the parts of what git writes.

    >>> text = b"\x0186400\0:0 100644 0 a1 A\0index.md\0\x0186500\0:100644 0 a1 0 D\0index.md\0"
    >>> commits = commits_in(iter(text.split(b"\0")))
    >>> [(commit.at_seconds, commit.files[0].kind) for commit in commits]
    [(86400, 'A'), (86500, 'D')]
    """
    at: int | None = None
    files: list[FileChange] = []
    for token in tokens:
        part = token.lstrip(b"\n")
        if part.startswith(_COMMIT):
            if at is not None:
                yield Commit(at, files)
            at, files = _number(part[1:]), []
        elif part.startswith(b":"):
            change = _change(part, tokens)
            if change is not None:
                files.append(change)
    if at is not None:
        yield Commit(at, files)


def _number(text: bytes) -> int:
    """A number that is not negative; 0 for what is none, such as a time before 1970."""
    digits = text.strip()
    return int(digits) if digits.isdigit() and len(digits) < 13 else 0  # noqa: PLR2004


def _change(head: bytes, tokens: Iterator[bytes]) -> FileChange | None:
    """A change, whose paths are the next tokens; None for what is no file of the site."""
    fields = head[1:].split(b" ")
    if len(fields) != 5 or not fields[4]:  # noqa: PLR2004 - modes, contents, kind
        return None
    old_mode, new_mode, old, new, kind = fields
    path = new_path = next(tokens, b"")
    letter = kind[0]
    if letter == _RENAMED:
        new_path = next(tokens, b"")
    if _SUBMODULE in (old_mode, new_mode):
        return None
    told = chr(letter) if letter in (_RENAMED, _ADDED, _DELETED) else "M"
    content = "" if letter == _DELETED else new.decode("ascii", "replace")
    return FileChange(told, _text(path), _text(new_path), content, old == new)


def _text(path: bytes) -> str:
    """A path as text; bytes that are none are kept apart from each other."""
    return path.decode("utf-8", "surrogateescape").encode("utf-8", "backslashreplace").decode()
