"""Charts out: a Vega-Lite value drawn as SVG or PNG, to a file or into a notebook.

vl-convert draws without a browser and without a network: a chart that names data elsewhere is an
error. (It would still fetch the picture of an `image` mark to make a PNG; no chart has one.)

Touches: files.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recrawl.adapters.tables.outputs import check_output
from recrawl.report.charts.vega import VEGA_LITE, schema_of
from recrawl.store.scratch import whole_file

if TYPE_CHECKING:
    from recrawl.report.charts.vega import Chart

PICTURES = {".svg": "svg", ".png": "png"}

_NOTEBOOKS = "5"  # version of Vega-Lite that they draw; a chart of ours is the same in both
_SCALE = 2  # pixels of a PNG for each of the chart's: sharp on the screens of today
_CLIP = re.compile(r'(?<=<clipPath id="clip)\d+|(?<=clip-path="url\(#clip)\d+')


def check_picture(path: Path) -> str:
    """Format meant by a picture's name; refuse a place where no file can be."""
    return check_output(path, formats=PICTURES)


def write_picture(path: Path, chart: Chart) -> None:
    """Draw a chart by the suffix of its file, which appears whole or not at all."""
    drawn = _drawn(chart, check_picture(path))
    with whole_file(path) as raw:
        raw.write(drawn)


def _drawn(chart: Chart, kind: str) -> bytes:
    import vl_convert

    if kind == "png":
        return vl_convert.vegalite_to_png(
            chart, vl_version=VEGA_LITE, scale=_SCALE, allowed_base_urls=[]
        )
    svg = vl_convert.vegalite_to_svg(chart, vl_version=VEGA_LITE, allowed_base_urls=[])
    return f"{_renumbered(svg)}\n".encode()


def _renumbered(svg: str) -> str:
    """Count clip paths from 0: Vega counts on from one chart to the next."""
    numbers: dict[str, int] = {}
    return _CLIP.sub(lambda clip: str(numbers.setdefault(clip[0], len(numbers))), svg)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DrawnChart:
    """A chart that shows itself in a notebook, and can be saved.

    Args:
        spec: The chart as a Vega-Lite value: plain dictionaries and lists.
    """

    spec: Chart

    def save(self, path: str | Path) -> None:
        """Draw it to a file that ends in .svg or .png."""
        write_picture(Path(path), self.spec)

    def __repr__(self) -> str:
        """What it shows."""
        return f"<chart: {self.spec['title']['text']}>"

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> dict[str, Chart | str]:
        """What a notebook shows: the chart itself, or a picture where it cannot draw one."""
        del include, exclude  # a notebook drops what it was not asking for
        in_notebooks = {**self.spec, "$schema": schema_of(_NOTEBOOKS)}
        return {
            f"application/vnd.vegalite.v{_NOTEBOOKS}+json": in_notebooks,
            "image/svg+xml": _drawn(self.spec, "svg").decode(),
            "image/png": base64.b64encode(_drawn(self.spec, "png")).decode(),
            "text/plain": repr(self),
        }
