"""The report of a soak: one page with charts that runs and loads nothing."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass
from html import escape
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from recrawl.adapters.pictures import write_picture
from recrawl.report.charts.vega import LIGHT, chart_title, panel_title, themed
from tests.soak.plan import PROCESS, WIRE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.report.charts.vega import Chart
    from tests.soak.checks import Check
    from tests.soak.crawl import Crawl, Sample
    from tests.soak.plan import Episode, Plan
    from tests.soak.site import SoakSite

    Row: TypeAlias = dict[str, Any]

_WIDTH = 740
_POINTS = 400  # of a line
_BINS = 120  # of visits
_LONGEST_GAP, _GAP_BIN = 4.0, 0.05  # delays
_STYLE = """
body { font: 15px/1.5 Helvetica, Arial, sans-serif; color: #1f2328; background: #fff;
  max-width: 860px; margin: 2.5rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin: 0 0 .3rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
p { color: #59636e; margin: .2rem 0; } svg { max-width: 100%; height: auto; margin-left: -14px; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top;
  padding: .3rem .9rem .3rem 0; border-bottom: 1px solid #e3e7eb; overflow-wrap: anywhere; }
th { font-weight: normal; color: #59636e; } .ok { color: #1a7f37; } .no { color: #bc4c00; }
td.ok, td.no { font-weight: 600; white-space: nowrap; }
"""


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What came of a soak.

    Attributes:
        plan: What was to happen.
        checks: What must hold.
        crawl: The crawl's processes, as they were watched.
        site: What was asked of the site.
        ended: Seconds after which it ended.
    """

    plan: Plan
    checks: list[Check]
    crawl: Crawl
    site: SoakSite
    ended: float

    @property
    def harms(self) -> list[Episode]:
        """Faults of the process that really came."""
        return [fault for fault in self.plan.process if fault.start < self.ended]

    @property
    def faults(self) -> Counter[str]:
        """Requests that went wrong and harms of the process, by kind; dns by its episodes."""
        wire = Counter(asked.answer for asked in self.site.log if asked.answer != "ok")
        dns = Counter(each.kind for each in self.plan.wire if each.is_dns)
        return wire + dns + Counter(fault.kind for fault in self.harms)


def write_report(path: Path, outcome: Outcome) -> None:
    """Write the page."""
    failed = sum(not check.holds for check in outcome.checks)
    verdict = f"{failed} of {len(outcome.checks)} checks fail" if failed else "every check holds"
    crawl, plan = outcome.crawl, outcome.plan
    room = "a real file system without room" if crawl.mounted else "a limit on the size of files"
    about = (
        f"{outcome.ended / 60:.3g} minutes, {outcome.ended / plan.seconds_a_day:.0f} days on the "
        f"clock of the crawl: {crawl.visits:,} visits, {len(outcome.site.log):,} requests, "
        f"{len(crawl.lives)} processes, {sum(outcome.faults.values()):,} faults. "
        f"A full disk was {room}. Seed {plan.seed}."
    )
    rows = [
        f"<tr><td class={'ok' if check.holds else 'no'}>{'holds' if check.holds else 'fails'}</td>"
        f"<td>{escape(check.name)}</td><td>{escape(check.figure)}</td>"
        f"<td>{escape(check.bound)}</td></tr>"
        for check in outcome.checks
    ]
    kinds = [
        f"<tr><td>{kind}</td><td>{outcome.faults[kind]:,}</td></tr>"
        for kind in (*WIRE, *PROCESS)
        if kind in outcome.faults
    ]
    path.write_text(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Soak</title>"
        f"<style>{_STYLE}</style>"
        f"<h1>Soak: <span class={'no' if failed else 'ok'}>{verdict}</span></h1>"
        f"<p>{about}</p>"
        "<h2>Checks</h2><table><tr><th></th><th>what</th><th>figure</th><th>bound</th></tr>"
        + "".join(rows)
        + "</table><h2>Over time</h2>"
        + _svg(_timeline(outcome))
        + "<h2>Politeness</h2>"
        + _svg(_gaps(outcome))
        + "<h2>Faults</h2><p>Requests that were answered so; of dns, times at which a host had no "
        "address; of the process, how often.</p><table>" + "".join(kinds) + "</table></html>\n",
        encoding="utf-8",
    )


def _svg(chart: Chart) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chart.svg"
        write_picture(path, chart)
        return path.read_text(encoding="utf-8")


def _timeline(outcome: Outcome) -> Chart:
    """Panels below each other, on one axis of time."""
    samples = outcome.crawl.samples
    thin = samples[:: max(len(samples) // _POINTS, 1)]
    wire = [each for each in outcome.plan.wire if each.start < outcome.ended]
    waits = [
        {"at": life.began / 60, "y": life.first_visit - life.began}
        for life in outcome.crawl.lives
        if life.first_visit
    ]

    def over_time(field: str) -> list[Row]:
        """A line that breaks where a process ends."""
        return [
            {"at": each.at / 60, "y": getattr(each, field), "process": each.process}
            for each in thin
        ]

    line, point = {"type": "line", "strokeWidth": 1.5}, {"type": "point", "filled": True}
    bar = {"type": "bar", "width": _WIDTH / _BINS - 1}
    panels = [
        _panel("memory, MB", over_time("megabytes"), line),
        _panel("open files", over_time("files"), line),
        _panel("threads", over_time("threads"), line),
        _panel("visits a second", _rates(samples, outcome.ended), bar),
        _lanes("faults of hosts; darker where several have them", wire, 0.35),
        _lanes("faults of the process", outcome.harms, 0.9),
        _panel("seconds from the start of a process to its first visit", waits, point),
    ]
    scale = {"domain": [0, outcome.ended / 60], "nice": False}
    for panel in panels:
        axis = {"title": "minutes" if panel is panels[-1] else None, "tickCount": 8}
        x = {"field": "at", "type": "quantitative", "scale": scale, "axis": axis}
        panel["encoding"]["x"] = x
    return themed({"vconcat": panels, "spacing": 14}, LIGHT)


def _panel(title: str, rows: list[Row], mark: Chart) -> Chart:
    axis = {"title": None, "tickCount": 4}
    return {
        "title": {**panel_title(title), "frame": "group"},
        "width": _WIDTH,
        "height": 80,
        "data": {"values": rows},
        "mark": {"color": LIGHT.blue, **mark},
        "encoding": {
            "y": {"field": "y", "type": "quantitative", "axis": axis},
            "detail": {"field": "process", "type": "nominal"},
        },
    }


def _rates(samples: Sequence[Sample], ended: float) -> list[Row]:
    """Visits a second, in equal bins."""
    width, counts = ended / _BINS, Counter[int]()
    for before, after in pairwise(samples):
        counts[int(after.at / width)] += after.visits - before.visits
    return [{"at": (place + 0.5) * width / 60, "y": counts[place] / width} for place in counts]


def _lanes(title: str, faults: Sequence[Episode], opacity: float) -> Chart:
    """One lane for each kind of fault."""
    rows = [
        {"at": each.start / 60, "end": max(each.end, each.start + 0.5) / 60, "kind": each.kind}
        for each in faults
    ]
    kinds = [kind for kind in (*WIRE, *PROCESS) if any(row["kind"] == kind for row in rows)]
    lane = {"title": None, "labelColor": LIGHT.ink, "grid": False}
    return {
        "title": {**panel_title(title), "frame": "group"},
        "width": _WIDTH,
        "height": max(16 * len(kinds), 16),
        "data": {"values": rows},
        "mark": {"type": "bar", "height": 10, "color": LIGHT.orange, "opacity": opacity},
        "encoding": {
            "x2": {"field": "end"},
            "y": {"field": "kind", "type": "nominal", "scale": {"domain": kinds}, "axis": lane},
        },
    }


def _gaps(outcome: Outcome) -> Chart:
    """How long hosts were left alone between two requests, in delays."""
    counts = Counter[int]()
    log = sorted(outcome.site.log, key=lambda asked: (asked.host, asked.at))
    for host, group in groupby(log, key=lambda asked: asked.host):
        for before, after in pairwise(group):
            gap = (after.at - before.at) / outcome.site.delay(host)
            counts[int(min(gap, _LONGEST_GAP) / _GAP_BIN)] += 1
    rows = [
        {"at": place * _GAP_BIN, "end": (place + 1) * _GAP_BIN, "y": count}
        for place, count in sorted(counts.items())
    ]
    x = {"field": "at", "type": "quantitative", "axis": {"title": "gap, in delays of the host"}}
    bars = {
        "data": {"values": rows},
        "mark": {"type": "bar", "color": LIGHT.blue, "binSpacing": 1},
        "encoding": {
            "x": {
                **x,
                "bin": "binned",
                "scale": {"domain": [0, _LONGEST_GAP + _GAP_BIN], "nice": False},
            },
            "x2": {"field": "end"},
            "y": {
                "field": "y",
                "type": "quantitative",
                "axis": {"title": "requests", "tickCount": 5},
            },
        },
    }
    rule = {
        "data": {"values": [{"at": 1}]},
        "mark": {"type": "rule", "color": LIGHT.orange, "strokeWidth": 1.5},
        "encoding": {"x": {"field": "at", "type": "quantitative"}},
    }
    subtitle = f"The line is the delay. The last bar is {_LONGEST_GAP:.0f} delays and more."
    title = chart_title("Time between two requests to a host", subtitle)
    return themed({"title": title, "width": _WIDTH, "height": 200, "layer": [bars, rule]}, LIGHT)
