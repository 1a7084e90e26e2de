"""Speed of windows, fits and forecasts, as ratios measured in one run.

    .venv/bin/python benchmarks/trends.py            # everything: a few minutes
    .venv/bin/python benchmarks/trends.py fits       # or: forecasts, memory

The size of the published synthetic set: 300,000 pages, 31 million change points. A page changes
on a day with a chance from Beta(1.94, 1.83), for 200 days; a point lies in the middle of its day.
The unit is one `numpy.sum` pass over the points; other times are divided by it, because machines
differ and are shared. Every figure is the best of a few runs.

`memory` asks the system for the most memory of `recrawl trends pages` (VmHWM), on a log of 21
million visits in order of time.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from recrawl.trends.fits import fit_windows
from recrawl.trends.points import Points
from recrawl.trends.prediction import FORECASTERS, Forecasting, follow
from recrawl.trends.prequential import forecast_errors
from recrawl.trends.windows import Windowing, consistent_windows

if TYPE_CHECKING:
    from collections.abc import Callable

PAGES, DAYS = 300_000, 200
PUBLISHED_WINDOWS = Windowing(3.0, "count")
PUBLISHED = ("weibull", "duane", "cho", "matloff")


def main() -> None:
    points = made()
    one = best(points.times.sum, 7)
    print(f"unit: {1000 * one:.1f} ms for {len(points):,} pages, {len(points.times):,} points")
    for name in sys.argv[1:] or ["fits", "forecasts", "memory"]:
        print(f"\n== {name}")
        {"fits": fits, "forecasts": forecasts, "memory": memory}[name](points, one)


def best(work: Callable[[], object], runs: int = 3) -> float:
    """Seconds of the fastest of a few runs."""
    times = []
    for _ in range(runs):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def made(pages: int = PAGES) -> Points:
    """Pages that change on a day by chance, each with its own."""
    random = np.random.default_rng(1)
    chance = random.beta(1.94, 1.83, pages).astype(np.float32)
    changed = np.empty((pages, DAYS), np.bool_)
    for day in range(DAYS):
        changed[:, day] = random.random(pages, np.float32) < chance
    offsets = np.concatenate([[0], np.cumsum(changed.sum(axis=1))])
    times = np.broadcast_to(np.arange(DAYS) + 0.5, changed.shape)[changed]
    return Points(times, offsets, np.full(pages, float(DAYS)))


def report(what: str, ratio: float, limit: str) -> None:
    print(f"{what:<58} {ratio:10.1f}   asked: {limit}")


def fits(points: Points, one: float) -> None:
    """Windows, and every estimator with its in-sample error."""
    alone = best(lambda: consistent_windows(points, PUBLISHED_WINDOWS))
    both = best(lambda: fit_windows(points, consistent_windows(points, PUBLISHED_WINDOWS)))
    report("windows alone (units)", alone / one, "-")
    report("windows, all estimators, in-sample errors, bands (units)", both / one, "at most 200")
    print(f"growth of a process's memory: {_peak_memory():.2f} GB   asked: at most 1.5")

    windows = consistent_windows(points, PUBLISHED_WINDOWS)
    errors = fit_windows(points, windows).errors
    found = np.array([errors[name] for name in PUBLISHED])
    shares = np.bincount(found.argmin(axis=0), minlength=len(PUBLISHED)) / len(windows)
    best_in = ", ".join(
        f"{name} {100 * share:.1f} %" for name, share in zip(PUBLISHED, shares, strict=True)
    )
    print(f"{len(windows):,} windows; best in: {best_in}   asked: weibull 92 %")


def _peak_memory() -> float:
    """Growth of a process's memory while it cuts and fits windows, in GB."""
    script = (
        "import sys; sys.path.insert(0, 'benchmarks'); from trends import *; p = made(1000);"
        "fit_windows(p, consistent_windows(p, PUBLISHED_WINDOWS)); points = made();"
        "status = lambda key: next(int(line.split()[1]) for line in open('/proc/self/status')"
        " if line.startswith(key));"
        "open('/proc/self/clear_refs', 'w').write('5'); before = status('VmRSS');"
        "fit_windows(points, consistent_windows(points, PUBLISHED_WINDOWS));"
        "print((status('VmHWM') - before) * 1024 / 1e9)"
    )
    return float(subprocess.check_output([sys.executable, "-c", script], text=True))


def forecasts(points: Points, one: float) -> None:
    """The same with prequential errors, and visits that follow every forecaster."""
    windows = consistent_windows(points, PUBLISHED_WINDOWS)
    fitted = best(lambda: fit_windows(points, consistent_windows(points, PUBLISHED_WINDOWS)))
    judged = best(lambda: forecast_errors(points, windows))
    report("prequential errors (units)", judged / one, "-")
    total = fitted + judged
    for forecaster in FORECASTERS:
        followed = best(partial(follow, points, Forecasting(forecaster)))
        report(f"visits that follow {forecaster} (units)", followed / one, "-")
        total += followed
    report("windows, fits, bands, forecasts, visits of all (units)", total / one, "at most 1000")


def memory(_: Points, __: float) -> None:
    """Most memory of the command, with little and with the usual memory for visits."""
    with tempfile.TemporaryDirectory() as folder:
        make = f"import sys; sys.path[0] = 'benchmarks'; import rates; rates.make_logs({folder!r})"
        subprocess.check_call([sys.executable, "-c", make])
        for size in ("256M", "2G"):
            words = ["pages", f"{folder}/time.parquet", "--memory", size, "-o", f"{folder}/out.csv"]
            script = (
                "import sys; from recrawl.cli.main import main;"
                f"sys.argv = {['recrawl', 'trends', *words]};"
                "import atexit; status = lambda: open('/proc/self/status').read();"
                "atexit.register(lambda: print(status().partition('VmHWM:')[2].split()[0])); main()"
            )
            said = subprocess.check_output([sys.executable, "-c", script], text=True)
            print(f"most memory of trends pages with --memory {size}: {int(said) / 1e6:.2f} GB")


if __name__ == "__main__":
    main()
