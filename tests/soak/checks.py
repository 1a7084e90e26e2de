"""What must hold after a soak, from the logs of the site and the crawl, its store and files."""

from __future__ import annotations

import json
import warnings
from bisect import bisect
from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from recrawl.inspect.status.copies import all_copies
from recrawl.settings.settings import read_settings
from recrawl.store import open_for_writing, open_store
from tests.soak.crawl import FIRST_DAY
from tests.soak.site import HOSTS, PRIVATE

with warnings.catch_warnings(action="ignore"):  # it warns of itself
    from fastwarc.warc import ArchiveIterator

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from tests.soak.crawl import Crawl, Life
    from tests.soak.site import Asked, SoakSite

EARLY_SECONDS = 0.001  # a timer may fire early by the step of its clock
_MOST_FILES, _MOST_THREADS = 200, 120
_READ = {"ok", "slow"}  # answers with which a robots.txt can be read
_UNWRITTEN_SECONDS = 10.0  # what a host said so shortly before a kill may not be on disk
# Redirects and second requests make more of them than visits; a killed process loses some.
_MOST_REQUESTS, _LOST_REQUESTS = 1.6, 40
_WARM = 0.4  # share of the steady stretch after which memory must be flat
# By which memory may grow then, a share and megabytes: in a short soak room for the first of the
# large bodies, which is not given back to the system.
_MORE, _MORE_MEGABYTES, _MORE_IF_SHORT = 0.15, 16.0, 64.0
_LONG_SECONDS = 1200.0  # of a soak in which memory is warm, and pages are seen again in the end
_FRESHNESS_OFF = 0.15
# How a process ends: one that has not begun to crawl, or not even to run, ends as any does.
_CODES = {"kills": {-9}, "clock": {-9}, "terms": {0, 143, -15}, "disk": {1}}


class Check(NamedTuple):
    """One thing that must hold."""

    name: str
    holds: bool
    figure: str
    bound: str = "0"


@dataclass
class Archive:
    """WARC files, read and removed once their process has ended."""

    folder: Path
    records: Counter[str] = field(default_factory=Counter)  # responses by address
    files: int = 0
    wrong: list[str] = field(default_factory=list)

    def take(self) -> None:
        """Read all that are closed: what a killed process left is closed by the next one."""
        for path in sorted(self.folder.glob("*.warc.gz")):
            self.files += 1
            with path.open("rb") as file:
                for record in ArchiveIterator(file, parse_http=False):
                    if not record.verify_block_digest():
                        self.wrong.append(f"{path.name}: {record.record_id}")
                    if record.headers["WARC-Type"] in {"response", "revisit"}:
                        self.records[record.headers["WARC-Target-URI"]] += 1
            path.unlink()


def all_checks(crawl: Crawl, site: SoakSite, archive: Archive, ended: float) -> list[Check]:
    """Everything that must hold, after the last process has ended."""
    return [
        *_written(crawl, archive),
        *_polite(crawl, site),
        *_bounded(crawl, ended),
        *_real(crawl, site, ended),
    ]


def _none(name: str, found: Iterable[object], of: str = "") -> Check:
    """Check that there is none of something."""
    wrong = list(found)
    some = f": {wrong[:2]}" if wrong else ""
    return Check(name, not wrong, f"{len(wrong)}{of}{some}")


def _written(crawl: Crawl, archive: Archive) -> Iterator[Check]:
    """What was told of is kept."""
    told: list[dict[str, Any]] = []
    torn = []
    for line in crawl.log.read_text().splitlines():
        try:
            told.append(json.loads(line))
        except ValueError:
            torn.append(line)
    with open_for_writing(crawl.store) as store:
        problems = store.check()
    with open_store(crawl.store) as reader:
        address = [each for some in reader.all_addresses() for each in some]
        kept = Counter(
            (int(number), address[page])
            for visits in reader.visits()
            for number, page in zip(visits.visit, visits.page, strict=True)
        )
    lines = Counter((line["visit"], line["address"]) for line in told)
    answered = Counter(line["address"] for line in told if "problem" not in line)
    twice = [visit for visit in kept | lines if kept[visit] > 1 or lines[visit] > 1]
    yield _none("visits in the log and not in the store", lines - kept, f" of {len(told):,}")
    yield _none("visits in the store or the log twice", twice, f" of {kept.total():,}")
    yield _none("lines of the log that cannot be read", torn)
    yield Check("integrity of the store", not problems, "; ".join(problems[:3]) or "ok", "ok")
    yield _none("damaged WARC records", archive.wrong, f" in {archive.files} files")
    yield _none("visits without a WARC record", answered - archive.records)
    ends = [life for life in crawl.lives if not _is_expected(life)]
    said = [f"{sorted(life.harms)}, exit code {life.code}: {life.said[-300:]}" for life in ends]
    yield _none("processes that ended as they should not", said, f" of {len(crawl.lives)}")


def _is_expected(life: Life) -> bool:
    codes = {code for harm in life.harms for code in _CODES.get(harm, ())}
    return life.code in codes and "Traceback" not in life.said


def _polite(crawl: Crawl, site: SoakSite) -> Iterator[Check]:
    """From the site's own log."""
    log = sorted(site.log, key=lambda asked: (asked.host, asked.at))
    gaps = [gap for _, group in groupby(log, key=lambda a: a.host) for gap in _gaps(site, [*group])]
    early = [gap for gap in gaps if gap[0] < gap[1] - EARLY_SECONDS]
    least = min((gap / delay for gap, delay, *_ in gaps), default=0.0)
    yield Check(
        "least gap between two requests to a host",
        not early,
        f"{least:.4f} delays; {len(early)} of {len(gaps):,} too short {early[:2] or ''}",
        "1 delay",
    )
    yield _none("requests before Retry-After", _unheeded(crawl, site), f" after {len(site.told)}")
    yield _none("requests that robots.txt forbids", (a for a in log if a.path.startswith(PRIVATE)))
    first, allowed = [], set()
    for asked in site.log:
        if asked.path == "/robots.txt":
            allowed |= {asked.host} if asked.answer in _READ else set()
        elif asked.host not in allowed:
            first.append(asked)
    yield _none("requests before robots.txt could be read", first)
    pages = sum(asked.path.startswith("/p") for asked in log)
    most = _MOST_REQUESTS * crawl.visits + _LOST_REQUESTS * len(crawl.lives)
    figure = f"{pages:,} for {crawl.visits:,} visits by {len(crawl.lives)} processes"
    bound = f"{_MOST_REQUESTS} a visit, {_LOST_REQUESTS} a process"
    yield Check("requests for pages", pages <= most, figure, bound)
    strays = crawl.strays.read_text().splitlines() if crawl.strays.exists() else []
    yield _none("connections to anybody else", strays + site.strangers)


def _gaps(site: SoakSite, log: Sequence[Asked]) -> Iterator[tuple[float, float, Asked]]:
    """Seconds between requests to one host, those that it may expect, and the later request."""
    known = False
    for before, after in pairwise(log):
        known |= before.path == "/robots.txt" and before.answer in _READ
        yield after.at - before.at, site.delay(before.host, known=known), after


def _unheeded(crawl: Crawl, site: SoakSite) -> Iterator[Asked]:
    """Requests to hosts that had asked to be left alone, on a clock that was not set since."""
    ends = [life.ended or 0.0 for life in crawl.lives]
    steps = [life.ended or 0.0 for life in crawl.lives if "clock" in life.harms]
    by_host: dict[str, list[Asked]] = {host: [] for host in HOSTS}
    for asked in site.log:
        by_host[asked.host].append(asked)
    for told in site.told:
        unwritten = any(told.at <= end < told.at + _UNWRITTEN_SECONDS for end in ends)
        if not (unwritten or any(told.at <= step <= told.until for step in steps)):
            log = by_host[told.host]
            first, end = (
                bisect(log, at, key=lambda asked: asked.at)
                for at in (told.at, told.until - EARLY_SECONDS)
            )
            yield from log[first:end]


def memory(crawl: Crawl) -> tuple[float, float, float]:
    """Megabytes of the steady process once it is warm and at its end, and their slope an hour."""
    steady = [each for each in crawl.samples if each.process == 0 and each.at < crawl.plan.steady]
    warm = steady[int(_WARM * len(steady)) :]
    part = len(warm) // 4
    if not part:
        return 0.0, 0.0, 0.0
    before, after = (
        (median(each.megabytes for each in some), median(each.at for each in some))
        for some in (warm[:part], warm[-part:])
    )
    return before[0], after[0], (after[0] - before[0]) / (after[1] - before[1]) * 3600


def _bounded(crawl: Crawl, ended: float) -> Iterator[Check]:
    """What the process takes."""
    before, after, slope = memory(crawl)
    more = _MORE_MEGABYTES if crawl.plan.seconds >= _LONG_SECONDS else _MORE_IF_SHORT
    figure = f"{before:.0f} MB warm, {after:.0f} MB at its end, {slope:+.0f} MB an hour"
    bound = f"{_MORE:.0%} and {more:.0f} MB more"
    yield Check("memory", after <= before * (1 + _MORE) + more, figure, bound)
    files = max((each.files for each in crawl.samples), default=0)
    threads = max((each.threads for each in crawl.samples), default=0)
    yield Check("open files", files <= _MOST_FILES, f"{files}", f"at most {_MOST_FILES}")
    yield Check("threads", threads <= _MOST_THREADS, f"{threads}", f"at most {_MOST_THREADS}")
    first = [life.first_visit - life.began for life in crawl.lives if life.first_visit]
    figure = f"{len(first)} of {len(crawl.lives)}, after {median(first or [0]):.1f} s in the median"
    going = crawl.lives[-1].first_visit is not None or ended < crawl.plan.seconds
    yield Check("processes that went on with visits", going, figure, "the last one does")


def _real(crawl: Crawl, site: SoakSite, ended: float) -> Iterator[Check]:
    """Copies against the truth of the site."""
    now = FIRST_DAY + ended / crawl.plan.seconds_a_day
    found: dict[str, bool | None] = {}
    with open_store(crawl.store) as reader:
        expected = all_copies(read_settings(crawl.settings.read_text()), reader, now).freshness
        addresses = [each for some in reader.all_addresses() for each in some]
        for page, address in enumerate(addresses):
            parts, body = urlsplit(address), reader.newest_body(page)
            if body is not None and parts.hostname in HOSTS:
                found[address] = site.is_fresh(parts.hostname, parts.path, body, ended)
        visits = reader.last_visit()
    unreal = [address for address, is_fresh in found.items() if is_fresh is None]
    yield _none("copies that no page ever was", unreal, f" of {len(found)}")
    true = sum(map(bool, found.values())) / max(len(found), 1)
    hoped = expected.fresh / max(expected.copies, 1)
    is_long = crawl.plan.seconds >= _LONG_SECONDS
    yield Check(
        "fresh copies in the end",
        not is_long or abs(true - hoped) <= _FRESHNESS_OFF,
        f"{true:.1%}, {hoped:.1%} expected",
        f"{_FRESHNESS_OFF:.0%} off" if is_long else "a figure only",
    )
    size = crawl.store.stat().st_size
    each = size / max(visits, 1)
    # Bodies are bounded by pages and versions; what grows with visits is a row of each.
    yield Check(
        "size of the store", True, f"{size / 1e6:.1f} MB, {each:.0f} bytes a visit", "a figure only"
    )
