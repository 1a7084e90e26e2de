import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import recrawl


def loaded_by(statement, *modules):
    """Which of `modules` a fresh interpreter has loaded after a statement."""
    answer = subprocess.run(
        [sys.executable, "-c", f"{statement}\nimport sys\nprint(*sys.modules)"],
        capture_output=True,
        check=True,
        text=True,
    )
    return set(modules) & set(answer.stdout.split())


@pytest.mark.parametrize("name", recrawl.__all__)
def test_every_public_name_is_there_and_documented(name):
    found = getattr(recrawl, name)

    assert found.__doc__
    assert found.__name__.removeprefix("recrawl.") == name


def test_each_public_name_belongs_to_one_room():
    rooms = [name for names in recrawl._ROOMS.values() for name in names]

    assert sorted([*rooms, *recrawl._CALLABLE]) == sorted(recrawl.__all__)


@pytest.mark.parametrize("room", recrawl._ROOMS)
def test_a_room_has_what_the_package_takes_from_it(room):
    home = importlib.import_module(f"recrawl.{room}")

    for name in recrawl._ROOMS[room]:
        assert getattr(recrawl, name) is getattr(home, name)


@pytest.mark.parametrize("room", recrawl._CALLABLE)
def test_a_room_that_is_called_is_the_function_of_its_name(room):
    """However the room was loaded: with the package, or by somebody who needs a part of it."""
    function = getattr(importlib.import_module(f"recrawl.analysis.{room}"), room)

    assert inspect.signature(getattr(recrawl, room)) == inspect.signature(function)
    with pytest.raises(TypeError, match=rf"{room}\(\)"):
        getattr(recrawl, room)()


@pytest.mark.parametrize("room", recrawl._CALLABLE)
def test_a_room_that_is_called_still_is_a_package(room):
    part = {"plan": "Budget", "simulate": "World", "trends": "Windowing"}[room]
    statement = (
        f"from recrawl.{room} import {part}; import recrawl; assert callable(recrawl.{room})"
    )

    assert loaded_by(statement, "recrawl.analysis") == set()


def test_type_checkers_see_the_same_names():
    """They read the imports that never run."""
    source = ast.parse(inspect.getsource(recrawl))
    (never_run,) = (node for node in source.body if isinstance(node, ast.If))
    imports = [
        node
        for node in never_run.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("recrawl.")
    ]

    assert {alias.name for node in imports for alias in node.names} == set(recrawl.__all__)


def test_dir_lists_what_people_may_use():
    assert set(dir(recrawl)) == {*recrawl.__all__, "__version__"}


def test_an_unknown_name_is_an_attribute_error():
    """Not a KeyError or an ImportError: `hasattr` and `from recrawl import x` rely on it."""
    assert not hasattr(recrawl, "Estimate")


def test_importing_the_package_does_not_import_numpy():
    heavy = ("numpy", "scipy", "pyarrow", "pandas", "polars", "inspect", "recrawl.visits")

    assert loaded_by("import recrawl", *heavy) == set()


def test_frames_are_loaded_only_where_they_are_used(tmp_path):
    """Rates of a file, and their text, need none of the libraries of others."""
    visits = tmp_path / "visits.csv"
    visits.write_text("page,visited_at,changed\n/a,2026-01-01,\n/a,2026-01-02,true\n")
    statement = f"import recrawl; repr(recrawl.estimate({str(visits)!r}))"

    assert loaded_by(statement, "pyarrow", "pandas", "polars", "vl_convert") == set()


def test_numpy_is_imported_when_a_name_needs_it():
    assert loaded_by("import recrawl; recrawl.Histories", "numpy") == {"numpy"}


def test_the_command_line_starts_without_heavy_libraries():
    heavy = ("numpy", "scipy", "pyarrow", "rich", "publicsuffixlist")

    assert loaded_by("import recrawl.cli.main", *heavy) == set()


def test_a_verb_that_reads_texts_loads_no_pydantic(tmp_path):
    """Typer would, to read what is a text already; it takes longer than loading numpy."""
    words = ["history", "/a", "--settings", str(tmp_path / "none.toml")]
    statement = f"""
from recrawl.cli.main import app
from recrawl.errors import InvalidSettings
try:
    app({words!r})
except InvalidSettings:
    pass
else:
    raise AssertionError
"""

    assert loaded_by(statement, "pydantic", "typer") == {"typer"}


def test_estimating_loads_no_trends():
    """`recrawl estimate` of a small file takes as long as what it loads."""
    heavy = ("recrawl.trends", "pyarrow", "scipy", "pandas")

    assert loaded_by("import recrawl.analysis.estimate", *heavy) == set()


def test_a_class_name_stands_for_one_thing_in_the_whole_package():
    homes: dict[str, list[str]] = {}
    for file in sorted(Path(recrawl.__path__[0]).rglob("*.py")):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(file.name)

    assert len(homes) > 500  # they were found
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}
