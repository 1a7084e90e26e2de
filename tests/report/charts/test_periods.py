"""The rate of a page in each month, drawn."""

from dataclasses import replace

import numpy as np
import pytest

from recrawl import Histories
from recrawl.report.charts.periods import period_chart
from recrawl.trends.local_rates import local_rates


def rates_of(by, *, days, first="2026-01-01"):
    """A page that is visited daily and changes on every tenth day."""
    gaps = [1.0] * days
    seen = Histories.from_lists([(gaps, [day % 10 == 9 for day in range(days)])])
    return local_rates(replace(seen, first_visit=np.array([first], "M8[us]")), by)


def drawn(rates, by):
    return period_chart(rates, by=by, title="/a", level=0.9)


def test_months_are_drawn_one_point_each():
    """Ninety days from the first of January are three months."""
    rates = rates_of("month", days=90)
    chart = drawn(rates, "month")
    values = chart["data"]["values"]

    assert [row["period"] for row in values] == ["2026-01", "2026-02", "2026-03"]
    assert [row["rate"] for row in values] == pytest.approx(rates.rate.tolist(), rel=1e-3)
    assert all(row["low"] < row["rate"] < row["high"] for row in values)


def test_the_axis_is_labelled_by_the_periods():
    months = drawn(rates_of("month", days=90), "month")["encoding"]["x"]
    weekdays = drawn(rates_of("weekday", days=90), "weekday")["encoding"]["x"]

    assert months["scale"]["domain"] == ["2026-01", "2026-02", "2026-03"]
    assert months["axis"]["title"] == "month"
    assert weekdays["scale"]["domain"] == ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


def test_thirty_years_of_months_are_months_still():
    """A timeline changes to years where months are many; whoever asks for months gets them."""
    chart = drawn(rates_of("month", days=30 * 365), "month")

    assert len(chart["data"]["values"]) == 360
    assert chart["width"] <= 660
