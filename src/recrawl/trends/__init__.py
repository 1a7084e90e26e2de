"""Rates that move: change points in time, windows, fits, tests, seasons, the next change.

Pure.
"""

from recrawl import make_callable
from recrawl.trends.change_points import all_change_points, change_points
from recrawl.trends.clock import SiteClock
from recrawl.trends.clock_fit import fit_clock
from recrawl.trends.duane import Duane
from recrawl.trends.fits import fit_windows
from recrawl.trends.local_rates import local_rates, rates_between
from recrawl.trends.next_change import next_changes
from recrawl.trends.points import Points, points_at, points_of
from recrawl.trends.power_law import power_law
from recrawl.trends.prediction import Forecasting, at_equal_visits, follow
from recrawl.trends.prequential import forecast_errors
from recrawl.trends.regularity import regularity
from recrawl.trends.seasons import seasonal_forecast
from recrawl.trends.trend_test import laplace, military_handbook, trend_test
from recrawl.trends.weibull import Weibull
from recrawl.trends.windows import Windowing, WindowTimes, consistent_windows

__all__ = [
    "Duane",
    "Forecasting",
    "Points",
    "SiteClock",
    "Weibull",
    "WindowTimes",
    "Windowing",
    "all_change_points",
    "at_equal_visits",
    "change_points",
    "consistent_windows",
    "fit_clock",
    "fit_windows",
    "follow",
    "forecast_errors",
    "laplace",
    "local_rates",
    "military_handbook",
    "next_changes",
    "points_at",
    "points_of",
    "power_law",
    "rates_between",
    "regularity",
    "seasonal_forecast",
    "trend_test",
]

make_callable(__name__)
