"""The look that all charts share: legible, and added without touching the chart."""

import numpy as np
import pytest

from recrawl.report.charts.vega import DARK, LIGHT, panel_title, themed


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_shades_pass_through_the_four_colours(colours):
    assert colours.shades(0) == []
    assert colours.shades(1) == [colours.orange]
    assert colours.shades(4) == [colours.orange, colours.pink, colours.purple, colours.blue]
    assert len(set(colours.shades(12))) == 12


def brightness(colour):
    """Relative luminance as WCAG 2 defines it."""
    parts = np.frombuffer(bytes.fromhex(colour[1:]), np.uint8) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_text_and_lines_stand_out_from_the_paper(colours):
    """A contrast of 4.5 for text and of 3 for lines, which is WCAG's AA."""
    paper = brightness(colours.paper)

    def contrast(colour):
        low, high = sorted([paper, brightness(colour)])
        return (high + 0.05) / (low + 0.05)

    assert min(contrast(colour) for colour in (colours.ink, colours.pale)) > 4.5
    assert min(contrast(colour) for colour in colours.shades(9)) > 3


def test_a_theme_leaves_the_chart_as_it_was():
    plain = {"mark": "bar", "padding": 3}
    chart = themed(plain, LIGHT)

    assert plain == {"mark": "bar", "padding": 3}
    assert (chart["mark"], chart["padding"]) == ("bar", 3)
    assert chart["$schema"].endswith("/vega-lite/v6.json")


def test_a_panel_has_a_subtitle_where_one_is_given():
    assert "subtitle" not in panel_title("bias")
    assert panel_title("bias", "of the mean")["subtitle"] == "of the mean"
