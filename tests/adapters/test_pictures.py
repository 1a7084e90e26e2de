"""Charts out: drawn the same every time, from nothing but the chart, whole or not at all."""

import re
import struct

import numpy as np
import pytest

from recrawl.adapters.pictures import check_picture, write_picture
from recrawl.errors import CannotWrite
from recrawl.report.charts.accuracy import Curve, accuracy_chart
from recrawl.report.charts.vega import DARK, LIGHT
from tests.disks import no_large_files
from tests.test_package import loaded_by

KINDS = ["svg", "png"]
ELSEWHERE = "http://127.0.0.1:9/figures.json"


def chart(numbers=(5, 10, 20, 50), colours=LIGHT):
    """Bias and standard deviation of changes seen / gaps."""
    r = np.geomspace(0.05, 6, 40)
    seen = -np.expm1(-r)
    curves = [Curve(n, r, seen / r - 1, np.sqrt(seen * (1 - seen) / n) / r) for n in numbers]
    return accuracy_chart(curves, title="Changes seen / gaps", colours=colours)


def draw(path, drawn=None):
    write_picture(path, chart() if drawn is None else drawn)
    return path


def lines(path):
    """Paths of the lines of a chart: `M` and what follows, once a stretch."""
    marks = re.findall(r'aria-roledescription="line mark"[^>]* d="([^"]*)"', path.read_text())
    assert marks
    return marks


def size(path):
    """Width and height of a PNG, which stand at the beginning of its first chunk."""
    width, height = struct.unpack(">II", path.read_bytes()[16:24])
    return width, height


# What is in a file.


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_a_vector_picture_has_text_lines_and_paper(tmp_path, colours):
    path = draw(tmp_path / "accuracy.svg", chart(colours=colours))

    text = path.read_text(encoding="utf-8")
    assert text.startswith("<svg ")
    assert text.endswith("</svg>\n")
    assert f'fill="{colours.paper}"' in text
    for words in ("Changes seen / gaps", "bias", "expected changes per gap, r", "0.05"):
        assert f">{words}</text>" in text
    assert ">\N{MINUS SIGN}100 %</text>" in text
    assert len(lines(path)) == 8


def test_a_vector_picture_is_as_wide_as_a_page(tmp_path):
    text = draw(tmp_path / "accuracy.svg").read_text(encoding="utf-8")

    (width,) = re.findall(r'<svg [^>]*\bwidth="(\d+)"', text)
    assert 650 < int(width) < 760


def test_a_raster_picture_has_two_pixels_for_each_of_the_chart(tmp_path):
    path = draw(tmp_path / "accuracy.png")

    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    width, height = size(path)
    assert 1300 < width < 1520
    assert 600 < height < 1000


def test_a_line_is_broken_where_a_figure_is_missing(tmp_path):
    r, flat = [1.0, 2.0, 3.0, 4.0, 5.0], [0.1, 0.1, 0.1, 0.1, 0.1]
    holed = Curve(10, r, [0.1, 0.1, np.nan, 0.1, 0.1], flat)
    path = draw(tmp_path / "holed.svg", accuracy_chart([holed], title="A hole"))

    assert len(lines(path)) == 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("numbers", [(), (1,), range(1, 13)], ids=["none", "one", "twelve"])
def test_any_number_of_curves_can_be_drawn(tmp_path, kind, numbers):
    assert draw(tmp_path / f"accuracy.{kind}", chart(numbers)).stat().st_size > 1000


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_chart_gives_the_same_picture(tmp_path, kind):
    """Also after another has been drawn: names within a picture do not count on."""
    first = draw(tmp_path / f"first.{kind}")
    other = draw(tmp_path / f"other.{kind}", chart(colours=DARK))
    second = draw(tmp_path / f"second.{kind}")

    assert first.read_bytes() == second.read_bytes() != other.read_bytes()


def test_a_title_is_text_whatever_it_holds(tmp_path):
    titled = accuracy_chart([], title="<a> & b")
    text = draw(tmp_path / "accuracy.svg", titled).read_text(encoding="utf-8")

    assert ">&lt;a&gt; &amp; b</text>" in text


def test_lines_are_kept_within_their_panel(tmp_path):
    """Each by a clip path of its own that is there."""
    path = draw(tmp_path / "accuracy.svg")
    text = path.read_text(encoding="utf-8")

    used = re.findall(r'clip-path="url\(#(\w+)\)"', text)
    assert re.findall(r'<clipPath id="(\w+)"', text) == used
    assert len(used) == len(set(used)) == len(lines(path))


# Whole or not at all.


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("old", [None, b"old content"])
@pytest.mark.parametrize(
    "wrong",
    [
        {"mark": "no such mark", "data": {"values": [{}]}},
        {"mark": "point", "data": {"url": ELSEWHERE}},
        {"mark": "point", "data": {"values": [{"x": object()}]}},
    ],
    ids=["no chart", "data elsewhere", "no JSON"],
)
def test_what_cannot_be_drawn_leaves_what_was_there(tmp_path, kind, old, wrong):
    path = tmp_path / f"accuracy.{kind}"
    if old is not None:
        path.write_bytes(old)

    with pytest.raises((TypeError, ValueError)):
        draw(path, wrong)

    assert [found.name for found in tmp_path.iterdir()] == ([] if old is None else [path.name])
    assert old is None or path.read_bytes() == old


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_fetched(tmp_path, kind):
    """A chart that names data elsewhere is refused before anybody asks for them."""
    elsewhere = {"mark": "point", "data": {"url": ELSEWHERE}}

    with pytest.raises(ValueError, match="not allowed"):
        draw(tmp_path / f"accuracy.{kind}", elsewhere)


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_takes_the_place_of_an_older_one(tmp_path, kind):
    path = tmp_path / f"accuracy.{kind}"
    path.write_bytes(b"old content")
    draw(path)

    assert path.read_bytes() == draw(tmp_path / f"new.{kind}").read_bytes()


@pytest.fixture
def _no_large_files():
    with no_large_files(2000):
        yield


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("_no_large_files")
def test_a_disk_that_is_full_is_an_error_of_ours(tmp_path, kind):
    path = tmp_path / f"accuracy.{kind}"
    with pytest.raises(CannotWrite) as refusal:
        draw(path)

    assert str(refusal.value) == f"{path} could not be written (file too large)"
    assert list(tmp_path.iterdir()) == []


# Where a picture may be.


def test_a_format_is_known_by_its_suffix(tmp_path):
    kinds = {"a.svg": "svg", "a.SVG": "svg", "a.b.png": "png"}

    assert {name: check_picture(tmp_path / name) for name in kinds} == kinds


def refusal_of(path):
    """What is said of a place, which is the same before drawing and when drawing."""
    with pytest.raises(CannotWrite) as checked:
        check_picture(path)
    with pytest.raises(CannotWrite) as written:
        draw(path)
    assert str(checked.value) == str(written.value)
    return str(checked.value)


@pytest.mark.parametrize("name", ["accuracy", "accuracy.csv", "accuracy.svg.gz", ".svg", "a.jpeg"])
def test_another_suffix_is_refused(tmp_path, name):
    path = tmp_path / name

    assert refusal_of(path) == f"{path}: output must end in .svg, .png (got {name!r})"


def test_a_folder_is_no_picture(tmp_path):
    path = tmp_path / "accuracy.svg"
    path.mkdir()

    assert refusal_of(path) == f"{path} is a folder; the output must be a file"


@pytest.mark.parametrize("folder", ["missing", "file"])
def test_the_folder_of_a_picture_must_be_there(tmp_path, folder):
    (tmp_path / "file").touch()
    path = tmp_path / folder / "accuracy.png"

    sentence = f"{path} cannot be written: {path.parent} is not a folder that can be written to"
    assert refusal_of(path) == sentence


def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path, monkeypatch):
    """Asked of the system: the mode of a folder does not keep root out."""
    monkeypatch.setattr("os.access", lambda path, mode: False)
    path = tmp_path / "accuracy.png"

    sentence = f"{path} cannot be written: {tmp_path} is not a folder that can be written to"
    assert refusal_of(path) == sentence


def test_what_draws_is_loaded_when_something_is_drawn():
    """It is as large as a browser's engine."""
    assert loaded_by("import recrawl.adapters.pictures", "vl_convert") == set()
