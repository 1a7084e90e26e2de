"""The crawl of a soak: its process, which is started, watched, harmed and started again.

Everything that the crawl writes lies in one folder. Where a small file system can be mounted there,
a full disk is a real one; else no file of the crawl may grow.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from recrawl.store import create_store
from recrawl.units import SECONDS_A_DAY
from tests.soak import child
from tests.soak.site import HOSTS, NOWHERE

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerProcess

    from tests.soak.plan import Episode, Plan
    from tests.soak.site import SoakSite

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.soak.child"])
_SIGNALS = {
    "kills": signal.SIGKILL,
    # The process that runs does not look at the wall's clock again; the next one does.
    "clock": signal.SIGKILL,
    "terms": signal.SIGTERM,
    "stops": signal.SIGSTOP,
}
FIRST_DAY = 20_000.0
_ROOM = "4g"
_LEFT_BYTES = 30_000  # on a disk that fills up in the middle of something
_SETTINGS = """\
agent = "soak-bot (soak@example.org)"
budget = "{budget}/1d"
objective = "freshness"

[politeness]
delay = "{delay}s"

[storage]
versions = 3
size = "64MB"
"""
_SITE = """
[[site]]
address = "{address}/"
links = 1
local = true
"""


class Sample(NamedTuple):
    """The process at an instant."""

    at: float
    process: int  # counted from 0
    megabytes: float
    files: int
    threads: int
    visits: int  # lines of the log
    store_megabytes: float


@dataclass(slots=True)
class Life:
    """One process, from its start to its end."""

    began: float
    visits_before: int
    first_visit: float | None = None
    ended: float | None = None
    code: int | None = None
    harms: set[str] = field(default_factory=set)  # what was done to it
    said: str = ""


@dataclass
class Crawl:
    """Runs the command again and again.

    Args:
        plan: Faults and their times.
        site: What to crawl.
        folder: For settings, store, log and WARC files.
        control: Folder for what the soak itself writes.
        began: When the soak began, in seconds of the clock that never goes back.
    """

    plan: Plan
    site: SoakSite
    folder: Path
    control: Path
    began: float
    lives: list[Life] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    visits: int = 0  # that the log has told of
    mounted: bool = False
    _step: float = 0.0  # seconds by which the clock is wrong
    _full: bool = False
    _process: ForkServerProcess | None = None
    _read: IO[bytes] | None = None

    def __post_init__(self) -> None:
        self.store, self.log = self.folder / "recrawl.db", self.folder / "visits.jsonl"
        self.settings, self.warc = self.folder / "recrawl.toml", self.folder / "warc"
        self.strays, self._errors = self.control / "strays", self.control / "stderr"

    def prepare(self) -> None:
        """Write settings and a store, to a small disk where there may be one."""
        options = ("-t", "tmpfs", "-o", f"size={_ROOM}", "soak")
        self.mounted = _run("mount", *options, self.folder)
        day = self.plan.seconds_a_day
        budget = round(self.plan.visits_a_second * day)
        delay = round(self.plan.delay_seconds / day * SECONDS_A_DAY)
        sites = [_SITE.format(address=self.site.origin(name)) for name in (*HOSTS, *NOWHERE)]
        text = _SETTINGS.format(budget=budget, delay=delay) + "".join(sites)
        self.settings.write_text(text)
        create_store(self.store).close()
        self.log.touch()
        self._read = self.log.open("rb")

    def now(self) -> float:
        return time.monotonic() - self.began

    @property
    def running(self) -> bool:
        return self._process is not None

    def start(self) -> None:
        """Start a process on the clock as it stands."""
        control = {
            "began": self.began,
            "day": FIRST_DAY,
            "seconds_a_day": self.plan.seconds_a_day,
            "step": self._step,
            "names": HOSTS,
            "dns": [(each.host, each.start, each.end) for each in self.plan.wire if each.is_dns],
            "strays": str(self.strays),
        }
        files = ["--settings", self.settings, "--visit-log", self.log, "--warc", self.warc]
        self._errors.write_text("")
        given = (control, ["crawl", *map(str, files)], str(self._errors))
        self._process = _FORKS.Process(target=child.run, args=given)
        self._process.start()
        self.lives.append(Life(self.now(), self.visits))
        if self._full:
            self.lives[-1].harms.add("disk")
            self._fill()

    def harm_by(self, fault: Episode) -> None:
        """Begin a fault of the process."""
        self.lives[-1].harms.add(fault.kind)
        if fault.kind == "clock":
            self._step = fault.step
        if fault.kind == "disk":
            self._full = True
            self._fill()
        else:
            self._send(_SIGNALS[fault.kind])

    def mend(self, fault: Episode) -> None:
        """End a fault of the process."""
        if fault.kind == "stops":
            self._send(signal.SIGCONT)
        if fault.kind == "disk":
            self._full = False
            self._resize(_ROOM, resource.RLIM_INFINITY)

    def _fill(self) -> None:
        disk = os.statvfs(self.folder)
        used = (disk.f_blocks - disk.f_bfree) * disk.f_frsize
        self._resize(str(used + _LEFT_BYTES), self.store.stat().st_size + _LEFT_BYTES)

    def _resize(self, disk: str, most: int) -> None:
        """Resize the disk; where it is not ours, limit the size of a file."""
        if self.mounted:
            _run("mount", "-o", f"remount,size={disk}", self.folder)
        elif self._process is not None and self._process.pid:
            limit = most, resource.RLIM_INFINITY
            resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, limit)

    def _send(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.pid and self._process.is_alive():
            os.kill(self._process.pid, number)

    def watch(self) -> None:
        """Look at the process; note its end."""
        assert self._process is not None
        assert self._read is not None
        life, code = self.lives[-1], self._process.exitcode
        self.visits += self._read.read().count(b"\n")
        if life.first_visit is None and self.visits > life.visits_before:
            life.first_visit = self.now()
        if code is None:
            with suppress(OSError, IndexError):  # it may be ending
                self.samples.append(self._sample(Path("/proc") / str(self._process.pid)))
            return
        life.ended, life.code = self.now(), code
        life.said = self._errors.read_text(errors="replace")[-2000:]
        self._process = None

    def _sample(self, process: Path) -> Sample:
        status = (process / "status").read_text()
        return Sample(
            self.now(),
            len(self.lives) - 1,
            int(status.partition("VmRSS:")[2].split()[0]) / 1000,
            len(list((process / "fd").iterdir())),
            int(status.partition("Threads:")[2].split()[0]),
            self.visits,
            self.store.stat().st_size / 1e6,
        )

    def stop(self) -> None:
        """End the process, as a user would."""
        if self._process is not None:
            self.lives[-1].harms.add("terms")
            self._send(signal.SIGCONT)
            self._send(signal.SIGTERM)
            self._process.join(60.0)
            self._process.kill()
            self._process.join()
            self.watch()

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._read is not None:
            self._read.close()
        if self.mounted:
            _run("umount", "--lazy", self.folder)


def _run(name: str, *arguments: object) -> bool:
    """Run a command of the system, if there is one; whether it succeeded."""
    command = shutil.which(name)
    if command is None:
        return False
    given = [command, *map(str, arguments)]
    return not subprocess.run(given, capture_output=True, check=False).returncode
