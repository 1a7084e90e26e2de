"""Histories of real repositories, made by the real git, as worlds."""

import os
import subprocess
import sys
from typing import Any

import pyarrow.parquet as pq
import pytest

from recrawl.adapters.git.commits import read_commits
from recrawl.adapters.git.world import import_world
from recrawl.adapters.tables.worlds import read_world_and_count
from recrawl.errors import InvalidParameter, InvalidTable, MissingProgram

DAY = 86_400
BEGAN = 1_767_225_600  # 2026-01-01


class Repository:
    """A repository that commits a day apart."""

    def __init__(self, folder):
        self.folder = folder
        self.day = 0
        self.git("init", "-q", "-b", "main", ".")

    def git(self, *words, **environment):
        day = f"{BEGAN + self.day * DAY} +0000"
        who = {"NAME": "a", "EMAIL": "a@b.c", "DATE": day}
        roles = ("AUTHOR", "COMMITTER")
        person = {f"GIT_{role}_{what}": who[what] for role in roles for what in who}
        alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        self.folder.mkdir(exist_ok=True)
        subprocess.run(
            ["git", *words],
            cwd=self.folder,
            check=True,
            capture_output=True,
            env={**os.environ, **alone, **person, **environment},
        )

    def write(self, **files):
        for name, text in files.items():
            path = self.folder / f"content/{name}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n" + "a long text that stays as it is\n" * 20)

    def commit(self, days=1):
        self.day += days
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path / "site")


def world_of(repository, tmp_path, **options):
    """Pages and changes, with days after the first commit's eve for times."""
    counts = import_world(repository.folder, tmp_path / "world", **options)
    pages, changes = (
        pq.read_table(tmp_path / "world" / f"{name}.parquet").to_pylist()
        for name in ("pages", "changes")
    )

    def day(moment):
        return None if moment is None else (moment.timestamp() - BEGAN) / DAY

    return (
        [(page["url"], day(page["first_seen"]), day(page["removed_at"])) for page in pages],
        [(row["page"], day(row["changed_at"]), row["bulk"], row["revert"]) for row in changes],
        counts,
    )


def test_pages_are_made_changed_and_deleted(repository, tmp_path):
    repository.write(a=1, b=1)
    repository.commit()
    repository.write(a=2)
    repository.commit()
    (repository.folder / "content/b.md").unlink()
    repository.commit()

    pages, changes, counts = world_of(repository, tmp_path)

    assert pages == [("content/a.md", 1, None), ("content/b.md", 1, 3)]
    assert changes == [("0", 2, False, False)]
    assert counts == (3, 2, 1, 0, 0)


def test_a_page_keeps_its_history_under_a_new_name(repository, tmp_path):
    repository.write(a=1, b=1)
    repository.commit()
    repository.git("mv", "content/a.md", "content/c.md")
    repository.commit()
    repository.write(c=2)
    repository.commit()
    repository.git("mv", "content/c.md", "content/d.md")
    repository.write(d=3)
    repository.commit()

    pages, changes, _ = world_of(repository, tmp_path)

    assert pages == [("content/d.md", 1, None), ("content/b.md", 1, None)]
    assert changes == [("0", 3, False, False), ("0", 4, False, False)]


def test_two_pages_change_their_names_with_each_other(repository, tmp_path):
    repository.write(a="first", b="second")
    repository.commit()
    for old, new in (("a", "x"), ("b", "a"), ("x", "b")):
        repository.git("mv", f"content/{old}.md", f"content/{new}.md")
    repository.commit()

    pages, changes, _ = world_of(repository, tmp_path)

    assert len(pages) == 2
    assert {row[0] for row in changes} <= {"0", "1"}


def test_content_that_was_there_before_is_a_revert(repository, tmp_path):
    for version in (1, 2, 1, 3):
        repository.write(a=version)
        repository.commit()

    _, changes, counts = world_of(repository, tmp_path)

    assert [row[3] for row in changes] == [False, True, False]
    assert counts.reverts == 1


def test_a_commit_to_more_than_a_fifth_is_a_sweep(repository, tmp_path):
    names = [f"p{number}" for number in range(25)]
    repository.write(**dict.fromkeys(names, 1))
    repository.commit()
    repository.write(**dict.fromkeys(names[:5], 2))
    repository.commit()
    repository.write(**dict.fromkeys(names[:6], 3))
    repository.commit()

    _, changes, counts = world_of(repository, tmp_path)

    assert [row[2] for row in changes] == [False] * 5 + [True] * 6
    assert counts.bulk == 6


def test_a_branch_is_published_when_it_is_merged(repository, tmp_path):
    """And a clock that runs back does not bring time back."""
    repository.write(a=1, b=1)
    repository.commit()
    repository.git("checkout", "-q", "-b", "draft")
    repository.write(a=2)
    repository.commit(9)
    repository.git("checkout", "-q", "main")
    repository.day = 3
    repository.write(b=2)
    repository.commit()
    repository.day = 6
    repository.git("merge", "-q", "--no-ff", "-m", "x", "draft")
    repository.write(b=3)
    repository.commit(-4)

    _, changes, _ = world_of(repository, tmp_path)

    assert changes == [("1", 4, False, False), ("0", 6, False, False), ("1", 6, False, False)]


def test_paths_become_addresses(repository, tmp_path):
    repository.write(**{"a": 1, "ü b": 1})
    (repository.folder / "other.txt").write_text("not a page")
    repository.commit()

    pages, _, _ = world_of(repository, tmp_path, paths=["content/"], base="https://example.org")

    found = sorted(page[0] for page in pages)
    assert found == ["https://example.org/%C3%BC%20b.md", "https://example.org/a.md"]


def test_simulate_reads_what_is_written(repository, tmp_path):
    repository.write(a=1, b=1)
    repository.commit()
    repository.write(a=2)
    repository.commit(5)
    import_world(repository.folder, tmp_path / "world")

    folder = tmp_path / "world"
    world, outside = read_world_and_count(
        folder / "pages.parquet", folder / "changes.parquet", ignore=["bulk", "revert"]
    )

    assert (len(world), len(world.changes), outside) == (2, 1, 0)


def test_without_pyarrow_the_files_are_csv(repository, tmp_path, monkeypatch):
    repository.write(a=1)
    repository.commit()
    repository.write(a=2)
    repository.commit()
    monkeypatch.setattr("recrawl.adapters.git.world.find_spec", lambda name: None)

    import_world(repository.folder, tmp_path / "world")

    assert (tmp_path / "world/changes.csv").read_text() == (
        "page,changed_at,bulk,revert\n0,2026-01-03T00:00:00Z,false,false\n"
    )
    world, _ = read_world_and_count(tmp_path / "world/pages.csv", tmp_path / "world/changes.csv")
    assert len(world.changes) == 1


def test_a_hostile_repository_runs_nothing(repository, tmp_path):
    """Everything in a configuration that names a program, an odd name, and a hook."""
    marked = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f'#!{sys.executable}\nopen("{marked}", "w")\n')
    program.chmod(0o755)
    repository.write(a=1)
    (repository.folder / ".gitattributes").write_text("*.md diff=evil filter=evil\n")
    (repository.folder / "content/--output=x").write_text("an option?")
    (repository.folder / "content/new\nline; touch x").write_text("a command?")
    repository.commit()
    repository.write(a=2)
    repository.commit()
    for key in (
        *("core.fsmonitor", "core.pager", "pager.log", "diff.external", "gpg.program"),
        *("diff.evil.command", "diff.evil.textconv", "filter.evil.smudge", "filter.evil.clean"),
        *("core.sshCommand", "core.editor", "core.askPass", "credential.helper"),
        *("filter.evil.process", "core.alternateRefsCommand", "gpg.ssh.program"),
    ):
        repository.git("config", key, str(program))
    for key, value in (
        *(("log.showSignature", "true"), ("core.hooksPath", str(tmp_path))),
        *(("remote.evil.url", f"ext::{program}"), ("remote.evil.promisor", "true")),
        *(("extensions.partialClone", "evil"), ("protocol.ext.allow", "always")),
        *(("log.showRoot", "false"), ("alias.log", f"!{program}")),
    ):
        repository.git("config", key, value)
    for hook in ("post-checkout", "reference-transaction", "post-index-change"):
        (tmp_path / hook).symlink_to(program)

    pages, changes, _ = world_of(repository, tmp_path, paths=["content"])

    assert not marked.exists()
    assert sorted(page[0] for page in pages) == [
        *("content/--output=x", "content/a.md", "content/new\nline; touch x"),
    ]
    assert len(changes) == 1


def test_what_is_missing_of_a_repository_is_not_fetched(repository, tmp_path):
    """A clone without contents would fetch them by whatever program its settings name."""
    marked = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f'#!{sys.executable}\nopen("{marked}", "w")\n')
    program.chmod(0o755)
    repository.write(a=1)
    repository.commit()
    repository.git("mv", "content/a.md", "content/b.md")
    repository.write(b=2)
    repository.commit()
    repository.git("config", "remote.evil.url", f"ext::{program}")
    repository.git("config", "remote.evil.promisor", "true")
    repository.git("config", "extensions.partialClone", "evil")
    repository.git("config", "protocol.ext.allow", "always")
    objects = repository.folder / ".git/objects"
    blobs = [path for path in objects.glob("??/*") if _is_blob(repository.folder, path)]
    for blob in blobs:
        blob.unlink()

    with pytest.raises(InvalidTable, match="is not a git repository with commits"):
        list(read_commits(repository.folder))

    assert len(blobs) >= 2
    assert not marked.exists()


def _is_blob(folder, path):
    name = path.parent.name + path.name
    said = subprocess.run(["git", "cat-file", "-t", name], cwd=folder, capture_output=True)  # noqa: PLW1510
    return said.stdout.strip() == b"blob"


def test_a_reader_that_stops_ends_git(repository):
    """`tests/leftovers.py` would find the process."""
    for number in range(5):
        repository.write(a=number)
        repository.commit()

    commits: Any = read_commits(repository.folder)
    next(commits)
    commits.close()


def test_what_is_no_repository_is_refused(tmp_path):
    with pytest.raises(InvalidTable, match="is not a git repository with commits"):
        import_world(tmp_path, tmp_path / "world")
    assert not (tmp_path / "world").exists()


def test_a_repository_without_such_files_is_refused(repository, tmp_path):
    repository.write(a=1)
    repository.commit()

    with pytest.raises(InvalidTable, match="no file was ever published below nowhere"):
        import_world(repository.folder, tmp_path / "world", paths=["nowhere"])


def test_a_base_must_be_an_address(repository, tmp_path):
    with pytest.raises(InvalidParameter, match="base must be an address such as"):
        import_world(repository.folder, tmp_path / "world", base="example")


def test_git_must_be_there(repository, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(
        MissingProgram, match="git is not installed; it is needed to read a repository"
    ):
        import_world(repository.folder, tmp_path / "world")
