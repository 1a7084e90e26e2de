"""What charts are made of, for tests that look into them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recrawl.report.charts.vega import DARK, LIGHT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl.report.charts.vega import Chart, Colours


def everything_in(value: Any) -> Iterator[Any]:
    """Every key and every plain value of a chart."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from everything_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from everything_in(inner)
    else:
        yield value


def sources_in(chart: Chart) -> set[str]:
    """What in a chart would have something fetched."""
    return {"url", "image", "href", "geoshape"} & set(everything_in(chart))


def foreign_colours_in(chart: Chart, colours: Colours) -> set[str]:
    """Colours in a chart that are of the other kind of paper."""
    other = DARK if colours is LIGHT else LIGHT
    foreign = {other.paper, other.ink, other.pale, other.line, other.orange, other.blue}
    return foreign & set(everything_in(chart))
