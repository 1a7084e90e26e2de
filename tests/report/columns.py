"""Columns of the tables that verbs write, in order."""

from recrawl.listings.forecast.forecast import METRICS, QUALITIES

WINDOW_COLUMNS = (
    "page",
    "window",
    "start",
    "end",
    "points",
    "state",
    "beta",
    "beta_low",
    "beta_high",
    "eta",
    "rate_per_day",
    "mtbu_days",
    "mse",
    "error_sum",
)
LOCAL_COLUMNS = (
    "page",
    "period",
    "start",
    "end",
    "changes",
    "exposure_days",
    "rate_per_day",
    "low",
    "high",
    "status",
)
NEXT_COLUMNS = ("page", "method", "next_at", "low", "high")
TEST_COLUMNS = ("page", "statistic", "p", "direction", "status")
TREND_COLUMNS = (
    "page",
    "changes",
    "state",
    "beta",
    "beta_low",
    "beta_high",
    "rate_per_day",
    "trend_p",
    "trend",
    "kind",
    "next_at",
    "low",
    "high",
    "status",
)
PLAN_COLUMNS = ("page", "visits_per_day", "interval_days", "freshness", "value")
CURVE_COLUMNS = ("budget", "visits_per_day", "freshness", "uniform", "price", "starved")
SIMULATION_COLUMNS = (
    "policy",
    "freshness",
    "staleness",
    "staleness_low",
    "staleness_high",
    "age_days",
    "harmonic",
    "found",
    "changes",
    "visits",
    "premature",
    "precision",
    "never_visited",
    "seconds",
)
DESCRIBE_COLUMNS = (
    "source",
    "attribute",
    "value",
    "objects",
    "listed",
    "arrivals_per_day",
    "dispersion",
    "removals",
    "exposure_days",
    "rate_per_day",
    "low",
    "high",
    "mean_lifetime_days",
    "median_lifetime_days",
    "aging",
    "aging_limit",
    "status",
)
UPDATE_COLUMNS = (
    "source",
    "attribute",
    "updates",
    "updates_per_day",
    "low",
    "high",
    "stale_1d",
    "stale_7d",
    "stale_30d",
    "status",
)
DAY_COLUMNS = ("source", "day", "listed", "inserted", "deleted", "mark")
FORECAST_COLUMNS = (
    "source",
    "after_days",
    "at",
    *(f"{metric}{end}" for metric in METRICS for end in ("", "_low", "_high")),
    "status",
)
SCHEDULE_COLUMNS = (
    "source",
    "group",
    "sync",
    "at",
    "after_days",
    "precision",
    "precision_floor",
    "recall",
    "recall_floor",
    "reason",
    "status",
)
SYNC_COLUMNS = (
    "source",
    "at",
    "outcome",
    "pages",
    "items",
    "listed",
    *(f"{name}{end}" for name in QUALITIES for end in ("", "_expected", "_low", "_high")),
    "next_at",
    "reason",
    "detail",
)
PARTITION_COLUMNS = (
    "source",
    "attribute",
    "group",
    "values",
    "objects",
    "removals",
    "exposure_days",
    "rate_per_day",
    "low",
    "high",
    "mean_lifetime_days",
    "median_lifetime_days",
    "gain",
    "false_finds",
    "status",
)
