"""Speed of the estimators, of reading a log and of starting up, as ratios measured in one run.

    .venv/bin/python benchmarks/rates.py                 # everything: a few minutes
    .venv/bin/python benchmarks/rates.py gamma           # or: kernels, npmle, likelihood, ingest
    .venv/bin/python benchmarks/rates.py start           # what starting takes
    .venv/bin/python benchmarks/rates.py --pages 250000  # instead of a million
    .venv/bin/python benchmarks/before_after.py v0.2.0 rates.py ingest

A million made pages with 21 visits each. The unit is one `numpy.sum` pass over gaps and flags;
other times are divided by it, because machines differ and are shared. Every figure is the best
of a few runs, by the clock and by processor time; what is asked is asked of the clock. Peers do the
same work in the same run: `scipy.optimize.brentq` and lifelines for the likelihood,
`pyarrow.parquet.read_table` for reading, `import` of what we build on for starting. lifelines is
left out where it is not installed (requirements-bench.lock has it).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from before_after import Cost, cost_of, record

from recrawl import Gamma, Histories, Likelihood, Priors, fit_prior
from recrawl.arrays.blocks import over_blocks
from recrawl.rates import METHODS, NPMLE, Bank, Grid, fit_npmle
from recrawl.rates.censored import Censored, most_likely
from recrawl.rates.gamma_state import gamma_states

VISITS, SITES = 21, 1_000
DATED = ("malcolm-age", "last-modified", "last-modified-raw")
UNLIMITED = ("gamma", "npmle", "likelihood", "likelihood-plain", "grid", "classes")


def main() -> None:
    parts = (gamma, kernels, npmle, likelihood, ingest, start)
    by_name = {part.__name__: part for part in parts}
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("parts", nargs="*")
    options.add_argument("--pages", type=int, default=1_000_000)
    given = options.parse_args()
    for name in given.parts or by_name:
        print(f"\n== {name}")
        by_name[name](given.pages)


def made(pages: int) -> Histories:
    """Pages with log-normal rates, visited at exponential gaps of a day on average."""
    random = np.random.default_rng(1)
    rates = random.lognormal(-0.7, 1, pages)
    gaps = random.exponential(1.0, (pages, VISITS - 1)) + 0.01
    changed = random.random(gaps.shape) < -np.expm1(-rates[:, None] * gaps)
    return Histories(gaps.ravel(), changed.ravel(), np.arange(pages + 1) * (VISITS - 1))


def dated(histories: Histories) -> Histories:
    """The same pages, with a date for every change and an age at the first visit."""
    random = np.random.default_rng(3)
    age = np.where(histories.changed, histories.gaps * random.random(len(histories.gaps)), np.nan)
    first_age = random.exponential(2.0, len(histories))
    gaps, changed, offsets = histories.gaps, histories.changed, histories.offsets
    return Histories(gaps, changed, offsets, age=age, first_age=first_age)


def unit(histories: Histories) -> Cost:
    return cost_of(lambda: (histories.gaps.sum(), histories.changed.sum()), 7)


def report(what: str, taken: Cost, base: Cost, limit: str) -> None:
    """Print how many times the base some work took, by the clock and by processor time."""
    wall, processor = taken.wall / base.wall, taken.processor / base.processor
    print(f"{what:<58} {wall:10.1f} {processor:10.1f} (processor)   asked: {limit}")
    record(f"{what}, by the clock", wall)
    record(f"{what}, seconds of processor", taken.processor)


def say(what: str, figure: float, limit: str) -> None:
    """Print a figure that is no time."""
    print(f"{what:<58} {figure:10.1f}   asked: {limit}")
    record(what, figure)


def gamma(pages: int) -> None:
    """The default estimator with its priors, and the bank."""
    histories, sites = made(pages), np.arange(pages) % SITES
    one = unit(histories)
    shape, exposure = np.full(pages, 0.5), np.full(pages, 15.0)
    kernel = cost_of(lambda: gamma_states(histories, shape, exposure))
    report("gamma kernel (units)", kernel, one, "at most 50")
    whole = cost_of(lambda: Gamma(fit_prior(histories, sites)).estimate(histories))
    report("gamma with priors of 1,000 sites and bands (units)", whole, one, "at most 40")
    report("bank alone (units)", cost_of(lambda: Bank().estimate(histories)), one, "at most 60")


def kernels(pages: int) -> None:
    """Every estimator without priors, as if all pages were of one site."""
    histories = made(pages)
    one = unit(histories)
    print(f"unit: {1000 * one.wall:.1f} ms for {pages:,} pages, {len(histories.gaps):,} gaps")
    told = dated(histories)
    for name, make in METHODS.items():
        seen = told if name in DATED else histories
        few = seen.take(np.arange(pages // 100)) if name == "grid" else seen  # the slow one
        taken = cost_of(lambda make=make, few=few: make(Priors.one(), 0.9).estimate(few))
        if few is not seen:
            taken = Cost(*(each * len(seen) / len(few) for each in taken))
        limit = {"bank": "at most 60"}.get(name, "-" if name in UNLIMITED else "at most 20")
        report(f"{name} with bands (units)", taken, one, limit)
    print(f"peak memory of a process: {_peak_memory(pages):.2f} times the input   asked: at most 4")


def npmle(pages: int) -> None:
    """What `npmle` costs beside `gamma`: reading pages, fitting priors, bytes of a state."""
    pages, sites = pages // 10, SITES // 10
    histories, site = made(pages), np.arange(pages) % sites
    one, masses = fit_prior(histories, site), fit_npmle(histories, site)
    reading = cost_of(lambda: Gamma(one).estimate(histories))
    fitting = cost_of(lambda: fit_prior(histories, site))
    finely = cost_of(lambda: NPMLE(masses).estimate(histories))
    fitting_masses = cost_of(lambda: fit_npmle(histories, site))
    few = np.arange(pages // 100)
    exact = cost_of(lambda: Grid(one.take(few)).estimate(histories.take(few)))
    report("npmle with bands (times gamma)", finely, reading, "-")
    report("grid with bands (times gamma)", Cost(*(100 * each for each in exact)), reading, "-")
    report(f"fit_npmle of {sites} sites (times fit_prior)", fitting_masses, fitting, "-")
    report(
        "npmle with its fit (times gamma with its own)",
        _sum(finely, fitting_masses),
        _sum(reading, fitting),
        "-",
    )
    for name, method in (("gamma", Gamma(one)), ("npmle", NPMLE(masses))):
        print(f"bytes per page of a state of {name}: {method.start(pages).nbytes / pages:.0f}")


def _sum(one: Cost, other: Cost) -> Cost:
    return Cost(one.wall + other.wall, one.processor + other.processor)


def _peak_memory(pages: int) -> float:
    """Growth of a process's memory while it estimates, over the bytes of its input."""
    script = (
        "import resource, numpy as np, sys; sys.path.insert(0, 'benchmarks');"
        "from rates import made; from recrawl import Gamma, fit_prior;"
        f"h = made({pages}); size = h.gaps.nbytes + h.changed.nbytes + h.offsets.nbytes;"
        "open('/proc/self/clear_refs', 'w').write('5');"
        "Gamma(fit_prior(h, np.arange(len(h)) % 1000)).estimate(h);"
        "peak = next(int(l.split()[1]) for l in open('/proc/self/status') if l[:5] == 'VmHWM');"
        "print(peak * 1024 / size)"
    )
    return float(subprocess.check_output([sys.executable, "-c", script], text=True))


def likelihood(pages: int) -> None:
    """Seconds a page against a bracketed root-finder, and against lifelines."""
    from scipy.optimize import brentq

    histories = made(pages)
    tolerance = Likelihood().tolerance

    def rates_alone(pages: slice) -> None:
        seen = Censored.of(histories, pages)
        most_likely(seen, seen.quiet + np.where(seen.hidden > 0, seen.mean_gap / 2, 0), tolerance)

    ours = cost_of(lambda: over_blocks(rates_alone, pages)).wall / pages
    with_bands = cost_of(lambda: Likelihood().estimate(histories)).wall / pages

    def by_brentq(page: int) -> float:
        rows = slice(page * (VISITS - 1), (page + 1) * (VISITS - 1))
        gaps, flags = histories.gaps[rows], histories.changed[rows]
        hidden = gaps[flags]
        if not len(hidden):
            return 0.0
        quiet = gaps[~flags].sum() + gaps.mean() / 2
        low, high = len(hidden) / (quiet + hidden.sum() / 2), len(hidden) / quiet
        return float(
            brentq(
                lambda r: (hidden / np.expm1(r * hidden)).sum() - quiet, low, high, rtol=tolerance
            )
        )

    sample = range(3000)
    peer = cost_of(lambda: [by_brentq(page) for page in sample]).wall / len(sample)
    expected = np.array([by_brentq(page) for page in sample])
    found = Likelihood().estimate(histories.take(np.arange(len(sample)))).rate
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    say("likelihood, rates: times faster a page than brentq", peer / ours, "at least 60 (80)")
    say("likelihood, rates and bands: times faster than brentq", peer / with_bands, "-")
    lifelines_page = _lifelines(histories)
    if lifelines_page is None:
        print("lifelines is not installed: pip install -r requirements-bench.lock")
    else:
        say("likelihood: times faster a page than lifelines", lifelines_page / ours, "10,000")
        say("likelihood with bands: times faster than lifelines", lifelines_page / with_bands, "-")


def _lifelines(histories: Histories) -> float | None:
    """Seconds that lifelines takes for one page as interval-censored exponential lifetimes."""
    try:
        from lifelines import ExponentialFitter
    except ImportError:
        return None
    import warnings

    rows = slice(0, VISITS - 1)
    gaps, flags = histories.gaps[rows], histories.changed[rows]

    def fit() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ExponentialFitter().fit_interval_censoring(
                np.where(flags, 0.0, gaps), np.where(flags, gaps, np.inf)
            )

    return cost_of(fit, 5).wall


def ingest(pages: int) -> None:
    """`recrawl estimate` as a whole, and its reading alone, against reading the table."""
    with tempfile.TemporaryDirectory() as folder:
        # In a process of its own: the memory of a process counts that of the one it came from.
        code = f"rates.make_logs({folder!r}, {pages})"
        make = f"import sys; sys.path[0] = 'benchmarks'; import rates; {code}"
        subprocess.check_call([sys.executable, "-c", make])
        for what, name, limit in (
            ("grouped by page", "grouped", 1),
            ("in order of time", "time", 3),
        ):
            path = f"{folder}/{name}.parquet"
            read = f"import pyarrow.parquet as pq; pq.read_table({path!r})"
            only = (
                "from pathlib import Path; from recrawl.adapters.tables.logs import Log;"
                "from recrawl.adapters.tables.columns import TableInput;"
                "from recrawl.adapters.tables.visits import VisitReading;"
                f"log = Log(VisitReading(TableInput(Path({path!r}))), 2**31, Path({folder!r}));"
                "log.__enter__(); print(len(next(log.pieces()).names))"
            )
            command = str(Path(sys.executable).parent / "recrawl")
            base, _ = _process([sys.executable, "-c", read])
            alone, _ = _process([sys.executable, "-c", only])
            whole, memory = _process([command, "estimate", path, "-o", f"{folder}/out.parquet"])
            report(f"{what}: recrawl estimate / read_table", whole, base, f"at most {limit}")
            report(f"{what}: visits to histories alone / read_table", alone, base, "-")
            say(f"{what}: peak memory of recrawl estimate (GB)", memory / 1e9, "at most 2.5")


def make_logs(folder: str, pages: int = 1_000_000) -> None:
    """Write the same visits, 21 for each page, twice: grouped by page, and in order of time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    histories = made(pages)
    start = np.random.default_rng(2).random(pages) * 5
    steps = np.concatenate([start[:, None], histories.gaps.reshape(pages, -1)], axis=1)
    at = (1.7e15 + np.cumsum(steps, axis=1).ravel() * 86400e6).astype(np.int64)
    first = np.zeros((pages, VISITS), bool)
    first[:, 0] = True
    changed = np.concatenate([first[:, :1], histories.changed.reshape(pages, -1)], axis=1)
    names = pa.array(
        [f"https://www.site{i % SITES}.org/section{i % 37}/page-{i}.html" for i in range(pages)]
    )
    table = pa.table(
        {
            "page": names.take(pa.array(np.repeat(np.arange(pages), VISITS))),
            "visited_at": pa.array(at).cast(pa.timestamp("us", "UTC")),
            "changed": pa.array(changed.ravel(), mask=first.ravel()),
        }
    )
    pq.write_table(table, f"{folder}/grouped.parquet")
    pq.write_table(table.take(pa.array(np.argsort(at, kind="stable"))), f"{folder}/time.parquet")


def _process(command: list[str], runs: int = 3) -> tuple[Cost, float]:
    """Least cost of a command, of a few runs, and its peak memory in bytes."""
    least, memory = Cost(np.inf, np.inf), 0.0
    for _ in range(runs):
        begun = time.perf_counter()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begun
        assert status == 0, command
        least = least.least(Cost(wall, usage.ru_utime + usage.ru_stime))
        memory = max(memory, usage.ru_maxrss * 1024)
    return least, memory


def start(_pages: int) -> None:
    recrawl = str(Path(sys.executable).parent / "recrawl")

    def python(code: str) -> Cost:
        return _process([sys.executable, "-c", code], 15)[0]

    helped = _process([recrawl, "--help"], 15)[0]
    numpy = python("import numpy")
    report("recrawl --help / import typer", helped, python("import typer"), "at most 2")
    report("import recrawl / import numpy", python("import recrawl"), numpy, "1.5")
    report("every public name / import numpy", python("from recrawl import *"), numpy, "-")


if __name__ == "__main__":
    main()
