"""A crawl under faults, for as long as wanted: python -m tests.soak [--minutes 120] [-o FILE].

The real command crawls a site of many hosts on loopback, on a clock that runs fast, while hosts
misbehave, the process is killed, its clock is set wrong and its disk fills up. What must hold
through all of it is checked in the end, and shown in one page with charts. Where the system allows
it everything runs in a network of its own that has nothing but loopback.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.soak.checks import Archive, all_checks, memory
from tests.soak.crawl import Crawl
from tests.soak.plan import FAULTS, make_plan
from tests.soak.report import Outcome, write_report
from tests.soak.site import HOSTS, SoakSite

if TYPE_CHECKING:
    from tests.soak.plan import Episode, Plan

_TICK_SECONDS = 0.25
_LAST_VISIT_SECONDS = 300.0
_INSIDE = "RECRAWL_SOAK_INSIDE"


def soak(plan: Plan, folder: Path) -> Outcome:
    """Run a soak in an empty folder."""
    began = time.monotonic()
    disk, control = folder / "disk", folder / "control"
    disk.mkdir()
    control.mkdir()
    with SoakSite(plan, began).in_thread() as site:
        crawl = Crawl(plan, site, disk, control, began)
        archive = Archive(crawl.warc)
        crawl.prepare()
        try:
            _run(crawl, archive)
            ended = crawl.now()
            crawl.stop()
            archive.take()
            checks = all_checks(crawl, site, archive, ended)
            return Outcome(plan, checks, crawl, site, ended)
        finally:
            crawl.close()


def _run(crawl: Crawl, archive: Archive) -> None:
    """Harm the process as planned, and start it again; Ctrl-C ends it early."""
    stopped: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: stopped.append(number))
    due = list(crawl.plan.process)
    begun: list[Episode] = []
    shown = 0.0
    while not stopped and (crawl.now() < crawl.plan.seconds or _still_starting(crawl)):
        if not crawl.running:
            archive.take()
            crawl.start()
        now = crawl.now()
        while begun and begun[0].end <= now:
            crawl.mend(begun.pop(0))
        if due and due[0].start <= now and not begun:
            begun.append(due.pop(0))
            crawl.harm_by(begun[0])
        crawl.watch()
        shown = _show(crawl, shown)
        time.sleep(_TICK_SECONDS)
    for fault in begun:
        crawl.mend(fault)


def _still_starting(crawl: Crawl) -> bool:
    """Whether the last process has visited nothing yet: on a busy machine that takes a while."""
    waited = crawl.now() - crawl.plan.seconds
    return crawl.lives[-1].first_visit is None and waited < _LAST_VISIT_SECONDS


def _show(crawl: Crawl, shown: float) -> float:
    """Show progress: a line on a terminal, else one a minute; returns when it last did."""
    now, terminal = crawl.now(), sys.stderr.isatty()
    if now < shown + (1.0 if terminal else 60.0) or not crawl.samples:
        return shown
    last = crawl.samples[-1]
    text = (
        f"{now / 60:.1f} of {crawl.plan.seconds / 60:.1f} min · {last.visits:,} visits · "
        f"{len(crawl.site.log):,} requests · {len(crawl.lives)} processes · "
        f"{last.megabytes:.0f} MB · {last.files} files · {last.threads} threads"
    )
    sys.stderr.write(f"\r\x1b[K{text}" if terminal else f"{text}\n")
    sys.stderr.flush()
    return now


def summary(outcome: Outcome) -> dict[str, object]:
    """Figures for scripts."""
    crawl = outcome.crawl
    return {
        "seconds": round(outcome.ended, 1),
        "visits": crawl.visits,
        "requests": len(outcome.site.log),
        "faults": dict(outcome.faults),
        "processes": len(crawl.lives),
        "memory": [round(each) for each in memory(crawl)],
        "mounted": crawl.mounted,
        "checks": {each.name: [each.holds, each.figure] for each in outcome.checks},
    }


def _enter(arguments: list[str]) -> None:
    """Begin again in namespaces of our own, for the network and for mounts, where allowed."""
    command = shutil.which("unshare")
    for options in (["--net", "--mount"], ["--map-root-user", "--net", "--mount"]):
        tried = [command or "", *options]
        if (
            command
            and not subprocess.run([*tried, "true"], capture_output=True, check=False).returncode
        ):
            os.environ[_INSIDE] = "1"
            os.execv(command, [*tried, sys.executable, "-m", "tests.soak", *arguments])  # noqa: S606


def _loopback_up() -> None:
    """Bring up the loopback of a new network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        up = struct.pack("16sh14x", b"lo", 1)  # IFF_UP
        fcntl.ioctl(any_socket, 0x8914, up)  # SIOCSIFFLAGS


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", default=",".join(FAULTS), help="which, with commas between")
    parser.add_argument("-o", "--output", type=Path, help="report, one HTML page")
    parser.add_argument("--json", type=Path, help="figures, for scripts")
    asked = parser.parse_args(arguments)
    faults = frozenset(filter(None, asked.faults.split(",")))
    if unknown := faults - set(FAULTS):
        parser.error(f"--faults must be some of {','.join(FAULTS)} (got {','.join(unknown)})")
    if os.environ.pop(_INSIDE, ""):
        _loopback_up()
    else:
        _enter(arguments)
    plan = make_plan(asked.minutes * 60, asked.seed, faults, list(HOSTS))
    with tempfile.TemporaryDirectory(prefix="recrawl-soak-") as name:
        outcome = soak(plan, Path(name))
        figures = summary(outcome)
        if asked.json:
            asked.json.write_text(json.dumps(figures, indent=1))
        if asked.output:
            write_report(asked.output, outcome)
    for check in outcome.checks:
        print(f"{'ok  ' if check.holds else 'FAIL'}  {check.name}: {check.figure} ({check.bound})")  # noqa: T201
    return 0 if all(check.holds for check in outcome.checks) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
