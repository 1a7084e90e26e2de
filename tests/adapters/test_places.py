"""Files of this machine, and what fsspec reaches: here, a file system in memory."""

import fsspec
import pytest

from recrawl.adapters import places
from recrawl.adapters.places import copied, files_at, is_there, version_of, written
from recrawl.errors import InvalidTable


@pytest.fixture
def memory():
    """An empty file system in memory."""
    files = fsspec.filesystem("memory")
    files.store.clear()
    files.pseudo_dirs[:] = [""]
    yield files
    files.store.clear()
    files.pseudo_dirs[:] = [""]


@pytest.fixture(params=["here", "memory", "file"])
def folder(request, tmp_path, memory):
    """A folder, in each kind of place."""
    return {"here": str(tmp_path), "memory": "memory://logs", "file": tmp_path.as_uri()}[
        request.param
    ]


def test_what_is_written_is_read_again(folder):
    place = places.inside(folder, "a.txt")
    with written(place) as path:
        path.write_text("one")

        assert not is_there(place)

    with copied(place) as path:
        assert path.name == "a.txt"
        assert path.read_text() == "one"


def test_nothing_is_written_by_who_fails(folder):
    place = places.inside(folder, "a.txt")
    with pytest.raises(ZeroDivisionError):
        write_half(place)

    assert not is_there(place)


def write_half(place):
    with written(place) as path:
        path.write_text("half")
        raise ZeroDivisionError


def test_a_pattern_stands_for_its_files_in_order(folder):
    for name in ("part-1.csv", "part-0.csv", "other.csv"):
        places.write_text(places.inside(folder, name), "page\n")
    found = files_at([places.inside(folder, "part-*.csv"), places.inside(folder, "part-1.csv")])

    assert [places.name_of(place) for place in found] == ["part-0.csv", "part-1.csv"]
    for place in found:
        with copied(place) as path:
            assert path.read_text() == "page\n"


def test_a_pattern_without_files_is_refused(folder):
    with pytest.raises(InvalidTable, match="no file matches"):
        files_at([places.inside(folder, "part-*.csv")])


def test_a_missing_file_is_named(folder):
    with pytest.raises(InvalidTable, match=r"none.csv cannot be read"):
        version_of(places.inside(folder, "none.csv"))


def test_a_file_written_anew_has_another_version(folder):
    place = places.inside(folder, "a.txt")
    places.write_text(place, "one")
    before = version_of(place)
    places.write_text(place, "three")

    assert version_of(place) != before


def test_a_folder_is_removed_with_all_in_it(folder):
    inner = places.inside(folder, "inner")
    places.make_folder(inner)
    places.write_text(places.inside(inner, "a.txt"), "one")
    places.remove_folder(inner)
    places.remove_folder(inner)  # that it is not there is no error

    assert not is_there(places.inside(inner, "a.txt"))


def test_an_address_nobody_knows_is_refused():
    with pytest.raises(InvalidTable, match="nonsense://a cannot be reached"):
        version_of("nonsense://a")
