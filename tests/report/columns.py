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
SEASON_COLUMNS = (
    "page",
    "month",
    "rate_per_day",
    "low",
    "high",
    "season_per_day",
    "recent_per_day",
    "season_weight",
    "status",
)
NEXT_COLUMNS = ("page", "method", "next_at", "low", "high")
COUNT_COLUMNS = ("page", "method", "mean", "chance")
SEGMENT_COLUMNS = (
    *("page", "stretch", "start", "end", "changes"),
    *("rate_per_day", "low", "high", "status"),
)
POWER_COLUMNS = ("page", "beta", "beta_low", "beta_high", "eta", "rate_per_day", "gain", "status")
GAP_COLUMNS = ("gap", "gaps", "share", "random")
ERROR_COLUMNS = ("state", "estimator", "windows", "mse", "best", "beats")
FOLLOW_COLUMNS = (
    *("method", "wait", "wait_decreasing", "changes", "observed"),
    *("recall", "visits", "premature", "precision"),
)
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
    "gamma_shape",
    "gamma_scale",
    "removals",
    "exposure_days",
    "rate_per_day",
    "low",
    "high",
    "mean_lifetime_days",
    "median_lifetime_days",
    "median_low_days",
    "median_high_days",
    "median_from_days",
    "weibull_rate_per_day",
    "weibull_shape",
    "weibull_gain",
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
STEP_COLUMNS = ("source", "attribute", "step", "groups", "rates_per_day", "gain", "verdict")
DECAY_COLUMNS = ("source", "group", "copied_on", "after_days", "copies", "precision", "recall")
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
    "median_low_days",
    "median_high_days",
    "median_from_days",
    "gain",
    "false_finds",
    "status",
)
