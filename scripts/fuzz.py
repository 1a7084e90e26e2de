"""Tries many broken inputs on every parser, each parser in a process of its own.

    python scripts/fuzz.py [--inputs N] [--parser NAME] [--seed N] [--jobs N] [--shapes N]

A first part of the inputs is traced: those that reach a new branch become examples for the others.
An input that ends the process, or never ends, is found, too: it stands in a file that both share.

Touches: processes, the folder of failures, the terminal.
"""

from __future__ import annotations

import argparse
import mmap
import multiprocessing
import signal
import sys
import time
import warnings
from dataclasses import dataclass, field
from hashlib import sha256
from multiprocessing.connection import wait
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tests.fuzz.branches import Branches
from tests.fuzz.real_files import FOLDER, real_files
from tests.fuzz.registry import PARSERS
from tests.fuzz.runner import Findings, fuzz, smallest, super_linear

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

    from tests.fuzz.parser import Parser

ALL = tuple(dict.fromkeys(name for parser in PARSERS for name in parser.modules))
LEAST = 0.9  # share of the branches of a room
_TRACED = 10_000  # inputs: a tracer takes half of the speed, and later ones reach little more
_HANGS_SECONDS = 900  # without another input, on the clock on the wall
_LARGEST = 1 << 24


@dataclass(slots=True)
class Result:
    """What is known of one parser, finished or not."""

    name: str
    findings: Findings = field(default_factory=Findings)
    branches: tuple[int, int] = (0, 0)
    shapes: list[str] = field(default_factory=list)
    ended: str = ""  # how its process ended, if not by itself
    finished: bool = False

    @property
    def failed(self) -> bool:
        """Whether anything is wrong with it."""
        return bool(self.findings.failed or self.shapes or self.ended)


class Current:
    """The input that is being tried, in memory that outlives the process."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(b"")
            with path.open("r+b") as file:
                file.truncate(_LARGEST)
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _LARGEST)

    def put(self, data: bytes) -> None:
        """Note an input."""
        data = data[: _LARGEST - 16]
        number = int.from_bytes(self._memory[:8], "little") + 1
        self._memory[16 : 16 + len(data)] = data
        self._memory[:16] = number.to_bytes(8, "little") + len(data).to_bytes(8, "little")

    def get(self) -> tuple[int, bytes]:
        """How many there were, and the last."""
        number, size = (int.from_bytes(self._memory[at : at + 8], "little") for at in (0, 8))
        return number, self._memory[16 : 16 + size]


def work(name: str, asked: argparse.Namespace, folder: str, told: Connection) -> None:
    """Try one parser, in a process of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started us ends us
    warnings.simplefilter("error")  # as in the tests
    (parser,) = (each for each in PARSERS if each.name == name)
    result = Result(name)
    place = Path(folder) / _file_name(name)
    current = Current(place.with_suffix(".input"))
    real = [example for kind in parser.real for example in real_files()[kind]]
    branches = Branches(ALL, place.with_suffix(".coverage"))

    def tell(findings: Findings) -> None:
        if findings.inputs == traced:
            branches.stop()
        result.findings = findings
        told.send(result)

    traced = min(_TRACED, asked.inputs)
    branches.start()
    result.findings = fuzz(
        parser,
        asked.inputs,
        asked.seed,
        real=real,
        reached=branches.reached,
        traced=traced,
        tell=tell,
        before=current.put,
    )
    branches.stop()
    branches.save()
    counts = branches.counts(parser.modules).values()
    result.branches = sum(count[0] for count in counts), sum(count[1] for count in counts)
    for failure, data in result.findings.failures.items():
        result.findings.failures[failure] = smallest(parser, failure, data)
    result.shapes = [
        f"{growth.ends[0][-20:]!r} {growth.chunk[:40]!r} {growth.ends[1][:20]!r}: "
        + " ".join(f"{seconds:.3f}" for seconds in growth.seconds)
        for growth in super_linear(parser, asked.shapes, asked.seed, real=real)
    ]
    result.finished = True
    told.send(result)


@dataclass(slots=True)
class Running:
    """A process, and what it has said."""

    process: SpawnProcess
    told: Connection
    result: Result
    current: Current
    seen: tuple[int, float] = (0, 0.0)

    def look(self) -> None:
        """Take in what it says; end it if one input takes for ever."""
        while self.told.poll():
            try:
                self.result = self.told.recv()
            except EOFError:
                break
        number, _ = self.current.get()
        if number != self.seen[0]:
            self.seen = number, time.monotonic()
        elif not self.result.finished and time.monotonic() - self.seen[1] > _HANGS_SECONDS:
            if self.result.findings.inputs and not self.process.is_alive():
                return
            self.process.kill()
            self.result.ended = "an input that takes for ever"


def run_all(parsers: list[Parser], asked: argparse.Namespace, folder: Path) -> list[Result]:
    """Run the parsers, a few at a time; returns what is known, also if it is interrupted."""
    context = multiprocessing.get_context("spawn")
    waiting, running, results = list(parsers), list[Running](), list[Result]()
    started = time.monotonic()
    try:
        while waiting or running:
            while waiting and len(running) < asked.jobs:
                name = waiting.pop(0).name
                ours, theirs = context.Pipe(duplex=False)
                current = Current((folder / _file_name(name)).with_suffix(".input"))
                process = context.Process(target=work, args=(name, asked, str(folder), theirs))
                process.start()
                theirs.close()
                running.append(Running(process, ours, Result(name), current, (0, time.monotonic())))
            wait([each.process.sentinel for each in running], timeout=2.0)
            for each in list(running):
                alive = each.process.is_alive()
                each.look()
                if alive:
                    continue
                each.process.join()
                if not each.result.finished and not each.result.ended:
                    each.result.ended = f"its process ended with {each.process.exitcode}"
                if each.result.ended:
                    each.result.findings.failures[each.result.ended] = each.current.get()[1]
                running.remove(each)
                results.append(each.result)
                _say_done(each.result, asked.folder)
            _say_progress(running, len(waiting), time.monotonic() - started)
    except KeyboardInterrupt:
        for each in running:
            each.process.kill()
            each.process.join()
            results.append(each.result)
        print("\ninterrupted: what follows is not all", file=sys.stderr)
    return results


def _file_name(name: str) -> str:
    return name.replace(" ", "-")


def _say_done(result: Result, folder: Path) -> None:
    """Print one row, and keep the inputs that failed."""
    found = result.findings
    speed = found.inputs / found.cpu_seconds if found.cpu_seconds else 0.0
    reached, there = result.branches
    share = f"{100 * reached / there:5.1f} %" if there else "      -"
    print(
        f"\r{result.name:21} {found.inputs:8,} {speed:9,.0f} {found.failed:8,} "
        f"{found.slowest:9.3f} {found.memory_bytes / 2**20:8.1f} {share:>9} {len(result.shapes):6}",
        flush=True,
    )
    for shape in result.shapes:
        print(f"    grows faster than its size: {shape}")
    for failure, data in found.failures.items():
        folder.mkdir(exist_ok=True)
        path = folder / f"{_file_name(result.name)}-{sha256(data).hexdigest()[:12]}"
        path.write_bytes(data)
        print(f"    {failure}\n        {path}: {data[:60]!r}")


def _say_progress(running: list[Running], waiting: int, seconds: float) -> None:
    if sys.stderr.isatty():
        now = ", ".join(f"{each.result.name} {each.current.get()[0]:,}" for each in running)
        print(f"\r{seconds:6.0f} s: {now}; {waiting} to come\x1b[K", end="", file=sys.stderr)


def _rooms(parsers: list[Parser], folder: Path) -> bool:
    """Print how many branches of each room the parsers together have reached; whether enough."""
    if not parsers:
        return False
    branches = Branches(ALL, folder / "all.coverage")
    branches.add([(folder / _file_name(each.name)).with_suffix(".coverage") for each in parsers])
    names = [name for parser in parsers for name in parser.modules]
    rooms: dict[str, list[int]] = {}
    missing: list[str] = []
    for module, (reached, there, where) in sorted(branches.counts(names).items()):
        parts = module.split(".")
        room = rooms.setdefault(parts[0] if len(parts) > 1 else "units", [0, 0])
        room[0] += reached
        room[1] += there
        if where:
            missing.append(f"    {module.replace('.', '/')}.py: {', '.join(where)}")
    print("\nroom        branches   reached")
    for room, (reached, there) in rooms.items():
        if there:
            print(f"{room:11} {there:8} {100 * reached / there:7.1f} %")
    print("never gone, from line to line:", *missing, sep="\n")
    return all(reached >= LEAST * there for reached, there in rooms.values())


def main() -> int:
    """Run what was asked for."""
    reader = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__.partition("\n")[0])
    names = [parser.name for parser in PARSERS]
    reader.add_argument("--inputs", type=int, default=100_000, help="for each parser")
    reader.add_argument("--parser", action="append", choices=names, help="only this; repeatable")
    reader.add_argument("--seed", type=int, default=0)
    reader.add_argument("--jobs", type=int, default=2, help="parsers at a time")
    reader.add_argument("--shapes", type=int, default=40, help="to look for super-linear cost in")
    reader.add_argument("--folder", type=Path, default=Path(".fuzz"), help="for what fails")
    asked = reader.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):  # also where a shell ignores the first
        signal.signal(number, signal.default_int_handler)
    parsers = [parser for parser in PARSERS if not asked.parser or parser.name in asked.parser]
    if not FOLDER.is_dir():
        print(f"no real files in {FOLDER.parent.parent.name}/data/archives: our own examples alone")
    print("parser                  inputs  inputs/s  failures  slowest s       MB  branches  grows")
    with TemporaryDirectory(prefix="recrawl-fuzz-") as folder:
        results = run_all(parsers, asked, Path(folder))
        whole = len(results) == len(PARSERS) and all(each.finished for each in results)
        done = {each.name for each in results if each.finished}
        enough = _rooms([parser for parser in parsers if parser.name in done], Path(folder))
    failed = [each.name for each in results if each.failed]
    if failed:
        print(f"\nfailed: {', '.join(failed)}")
    if whole and not enough:
        print(f"\na room must have {LEAST:.0%} of its branches reached")
    if any(not each.finished and not each.ended for each in results):
        return 130
    return 1 if failed or (whole and not enough) else 0


if __name__ == "__main__":
    sys.exit(main())
