"""A command that was forked is a process like any other."""

import os
import pty
import signal
import subprocess

import pytest

from tests.cli.running import names_in, run, run_afresh, start
from tests.preloaded import RECRAWL, Forked, environment

PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}


@pytest.mark.parametrize(
    "words",
    [["--version"], ["--help"], ["plan", "--help"], ["plan"], ["estimate", "missing.csv"], ["no"]],
    ids=" ".join,
)
def test_it_writes_and_ends_as_one_that_loads_everything(words):
    assert run(*words) == run_afresh(*words)


def test_it_is_a_child_of_this_process():
    with start("demo", "--for", "1m", "--pages", "20", **PIPES) as process:
        assert isinstance(process, Forked)
        assert process.stderr is not None
        process.stderr.readline()
        with open(f"/proc/{process.pid}/stat") as file:  # noqa: PTH123 - no file
            parent = int(file.read().rpartition(")")[2].split()[1])
        process.kill()

    assert parent == os.getpid()
    assert process.returncode == -signal.SIGKILL


def test_it_is_not_over_before_it_ends():
    """Who asks for a process that is not its child is told that it has ended well."""
    with start("demo", "--for", "1m", "--pages", "20", **PIPES) as process:
        assert process.poll() is None
        process.kill()


def test_it_has_a_folder_of_its_own(tmp_path):
    here = os.getcwd()  # noqa: PTH109 - text

    assert run("init", cwd=tmp_path).code == 0
    assert "recrawl.toml" in names_in(tmp_path)
    assert os.getcwd() == here  # noqa: PTH109


def test_it_has_an_environment_of_its_own():
    wide, narrow = (
        start("plan", "--help", env=environment(COLUMNS=columns), **PIPES).communicate()[0]
        for columns in ("100", "50")
    )

    assert len(narrow.splitlines()) > len(wide.splitlines()) > 10


def test_it_writes_to_a_terminal_line_by_line():
    ours, theirs = pty.openpty()
    with start("--version", stdout=theirs):
        os.close(theirs)
    shown = os.read(ours, 100)
    os.close(ours)

    assert shown.startswith(b"recrawl ")


def test_one_does_not_see_what_another_did(tmp_path):
    """Each is forked from the process that has only loaded."""
    first, second = (
        run("init", tmp_path / name, "--agent", f"test-bot ({name}@example.org)")
        for name in ("one", "two")
    )

    assert (first.code, second.code) == (0, 0)
    assert "two@" not in (tmp_path / "one" / "recrawl.toml").read_text()
    assert "one@" not in (tmp_path / "two" / "recrawl.toml").read_text()


@pytest.mark.parametrize(
    "more",
    [{"env": environment(PYTHONIOENCODING="latin-1")}, {"preexec_fn": os.getpid}],
    ids=["environment", "preexec_fn"],
)
def test_what_counts_when_python_starts_is_not_forked(more):
    process = start("--version", **PIPES, **more)
    out, _ = process.communicate()

    assert not isinstance(process, Forked)
    assert process.args == [RECRAWL, "--version"]
    assert out.startswith("recrawl ")
