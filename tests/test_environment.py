"""The environment of the scripts: made anew where it must be, and never out of somebody else's.

The script runs in a folder of its own, with a `venv` that writes one file and a `uv` that does
nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "_environment"
VENV = """
import sys
from pathlib import Path

commands = Path(sys.argv[1], "bin")
commands.mkdir(exist_ok=True)
(commands / "python").write_text("#!/bin/sh\\n")
(commands / "python").chmod(0o755)
"""


@pytest.fixture
def clone(tmp_path):
    """A clone that holds nothing but what an environment depends on."""
    for name in ("scripts", "venv", "bin"):
        (tmp_path / name).mkdir()
    shutil.copy(SCRIPT, tmp_path / "scripts")
    for name in ("requirements-dev.lock", "pyproject.toml", "venv/__init__.py"):
        (tmp_path / name).write_text("")
    (tmp_path / "venv" / "__main__.py").write_text(VENV)
    uv = tmp_path / "bin" / "uv"
    uv.write_text("#!/bin/sh\n")
    uv.chmod(0o755)
    return tmp_path


def set_up(clone):
    """Source the script as others do; the environment they go on with, and what was said."""
    own = {"PYTHON": sys.executable, "PYTHONPATH": str(clone)}
    ended = subprocess.run(
        ["bash", "-c", 'set -euo pipefail; source scripts/_environment; echo "$venv"'],
        capture_output=True,
        check=True,
        cwd=clone,
        env=os.environ | own | {"PATH": f"{clone / 'bin'}:{os.environ['PATH']}"},
        text=True,
    )
    return ended.stdout.strip(), ended.stderr


def test_a_fresh_clone_gets_an_environment_once(clone):
    first, second = set_up(clone), set_up(clone)

    assert first == (".venv", "recrawl: setting up .venv (once, about a minute)\n")
    assert second == (".venv", "")
    assert not (clone / ".venv-dev").exists()


def test_an_environment_of_somebody_else_is_left_alone(clone):
    """README's first command makes one, which people have installed recrawl in."""
    theirs = clone / ".venv" / "bin" / "recrawl"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("mine")

    first, second = set_up(clone), set_up(clone)

    assert theirs.read_text() == "mine"
    assert sorted((clone / ".venv").rglob("*")) == [theirs.parent, theirs]
    assert first == (".venv-dev", "recrawl: setting up .venv-dev (once, about a minute)\n")
    assert second == (".venv-dev", "")


def test_an_environment_that_older_scripts_made_is_made_anew(clone):
    """It has stamps, and no other mark."""
    (clone / ".venv").mkdir()
    (clone / ".venv" / "locked").write_text("another lock")
    (clone / ".venv" / "stale").write_text("")

    venv, _ = set_up(clone)

    assert venv == ".venv"
    assert not (clone / ".venv" / "stale").exists()


def test_an_environment_whose_making_was_interrupted_is_made_anew(clone):
    """Stamps are written last, so it has none, but is the scripts' own."""
    set_up(clone)
    for stamp in ("locked", "project"):
        (clone / ".venv" / stamp).unlink()
    (clone / ".venv" / "half").write_text("")

    venv, said = set_up(clone)

    assert venv == ".venv"
    assert "setting up .venv " in said
    assert not (clone / ".venv" / "half").exists()


def test_nothing_is_cleared_where_both_names_are_taken(clone):
    for name in (".venv", ".venv-dev"):
        (clone / name).mkdir()
        (clone / name / "theirs").write_text("")

    with pytest.raises(subprocess.CalledProcessError) as refused:
        set_up(clone)

    assert "recrawl: .venv-dev was not made by these scripts" in refused.value.stderr
    assert (clone / ".venv-dev" / "theirs").exists()
