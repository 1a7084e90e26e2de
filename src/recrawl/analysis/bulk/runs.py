"""A run over partitions: what is done, what failed, and where a later run goes on.

A run writes one file per partition into a folder, each whole or not at all, and keeps a record of
what was asked in `_recrawl/run.json` there; Spark, Arrow and recrawl itself pass over names that
begin with an underscore. The same command again goes on where the last one stopped. Another command
into the same folder is refused: files of two questions must not lie side by side.

Touches: files, processes.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from recrawl.adapters import places
from recrawl.adapters.engines.outcomes import EngineTask
from recrawl.adapters.places import KEPT, PASSES
from recrawl.adapters.tables.outputs import FORMATS
from recrawl.adapters.tables.plain_bytes import PACKED_SUFFIXES
from recrawl.errors import CannotWrite, InvalidTable, PartitionsFailed
from recrawl.report.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recrawl.adapters.engines import Engine
    from recrawl.adapters.engines.outcomes import Outcome

_ATTEMPTS = 3
_NAMED = 3  # partitions that a sentence names


@dataclass(frozen=True, slots=True)
class LogPartition:
    """A part of a log that is worked on by itself.

    Args:
        source: Where its file is.
        into: Where its result goes.
    """

    source: str
    into: str

    @property
    def name(self) -> str:
        """What sentences call it."""
        return places.name_of(self.source)

    @property
    def is_done(self) -> bool:
        """Whether its result is there."""
        return places.is_there(self.into)


def partitions_of(given: Sequence[str], folder: str) -> list[LogPartition]:
    """Partitions that names, patterns and folders stand for, with results of the same name."""
    found = [
        LogPartition(source, places.inside(folder, result_name(places.name_of(source))))
        for source in places.files_at(given)
    ]
    by_result = defaultdict(list)
    for each in found:
        by_result[each.into].append(each.source)
        if each.source == each.into:
            raise CannotWrite(f"{each.into} is an input, which is never overwritten")
    for into, sources in by_result.items():
        if len(sources) > 1:
            first, second = sources[:2]
            raise InvalidTable(
                f"{first} and {second} would both be written to {into}; give partitions names of "
                "their own, or each folder an output of its own"
            )
    return found


def result_name(name: str) -> str:
    """Name of a partition's result: its own, where it names a format that can be written.

    >>> [result_name(name) for name in ("part-0.parquet", "a.csv.gz", "shard-7.cdx")]
    ['part-0.parquet', 'a.csv', 'shard-7.cdx.parquet']
    """
    path = PurePosixPath(name)
    if path.suffix.lower() in PACKED_SUFFIXES:
        path = path.with_suffix("")
    return str(path) if path.suffix.lower() in FORMATS else f"{name}.parquet"


@dataclass(slots=True)
class BulkRun:
    """A run into a folder.

    Args:
        engine: What does the tasks.
        folder: Where results go.
        partitions: All of them.
        record: What was asked, as it is kept.
        progress: Called with the share of the work that is done.
        done_before: Partitions whose results were there already.
        failures: Why partitions have no result, by their names.
    """

    engine: Engine
    folder: str
    partitions: Sequence[LogPartition]
    record: dict[str, Any]
    progress: Callable[[float], None] | None = None
    done_before: frozenset[str] = frozenset()
    failures: dict[str, str] = field(default_factory=dict)

    @classmethod
    def begin(
        cls,
        engine: Engine,
        folder: str,
        partitions: Sequence[LogPartition],
        asked: Mapping[str, Any],
        progress: Callable[[float], None] | None = None,
    ) -> BulkRun:
        """Begin a run, or go on with one that was interrupted.

        Args:
            engine: What does the tasks.
            folder: Where results go; made if it is not there.
            partitions: All of them.
            asked: What is asked; a run goes on only where it was asked the same. A value of None
                takes what the interrupted run had.
            progress: Called with the share of the work that is done.
        """
        places.make_folder(places.inside(folder, PASSES))
        versions = {each.source: places.version_of(each.source) for each in partitions}
        asked = {**asked, "partitions": versions}
        before = _read_record(folder)
        if before is None:
            there = [each.into for each in partitions if each.is_done]
            if there:
                raise CannotWrite(
                    f"{there[0]} is there already and of no run that can go on; write to another "
                    "folder, or remove it"
                )
            run = cls(engine, folder, partitions, asked, progress)
            run.note()
            return run
        _check_same(folder, before["asked"], asked)
        if "refused" in before:
            raise InvalidTable(str(before["refused"]))
        kept = {key: before["asked"][key] for key, value in asked.items() if value is None}
        done = frozenset(each.name for each in partitions if each.is_done)
        return cls(engine, folder, partitions, {**asked, **kept}, progress, done)

    def note(self, **more: Any) -> None:  # noqa: ANN401 - what JSON can hold
        """Keep what was asked, and what else a later run must know."""
        text = json.dumps({"asked": self.record, **more}, indent=1, sort_keys=True)
        places.write_text(places.inside(self.folder, f"{KEPT}/run.json"), text)

    def noted(self, key: str) -> Any:  # noqa: ANN401 - what JSON can hold
        """What a run kept besides what was asked; None if nothing."""
        return (_read_record(self.folder) or {}).get(key)

    def scratch(self, name: str) -> str:
        """Place of a file that is needed until the run is complete."""
        return places.inside(self.folder, f"{PASSES}/{name}")

    @property
    def left(self) -> list[LogPartition]:
        """Partitions that have neither a result nor failed."""
        return [each for each in self.partitions if self._is_left(each)]

    def _is_left(self, partition: LogPartition) -> bool:
        return partition.name not in self.done_before and partition.name not in self.failures

    def do(
        self, work: Callable[[Any], Any], tasks: Mapping[str, Any], share: tuple[float, float]
    ) -> dict[str, Any]:
        """Do tasks by the names of their partitions; return what came of those that succeeded.

        One that fails is tried again, when all others have been tried.

        Args:
            work: Does one task.
            tasks: The tasks.
            share: Where in the whole run they begin and end, for the progress.
        """
        names = list(tasks)
        results: dict[str, Any] = {}
        trouble: dict[str, Outcome] = {}
        left = list(names)
        for _ in range(_ATTEMPTS):
            for number, outcome in self.engine(EngineTask(work), [tasks[name] for name in left]):
                name = left[number]
                trouble.pop(name, None)
                if outcome.error:
                    trouble[name] = outcome
                else:
                    results[name] = outcome.value
                self._show(len(results) / len(names), share)
            left = [name for name, outcome in trouble.items() if not outcome.lasting]
            if not left:
                break
        self.failures |= {name: trouble[name].error for name in names if name in trouble}
        return {name: results[name] for name in names if name in results}

    def _show(self, done: float, share: tuple[float, float]) -> None:
        if self.progress is not None:
            self.progress(share[0] + done * (share[1] - share[0]))

    def end(self) -> None:
        """Remove what only an unfinished run needs; raise if partitions have failed."""
        if self.failures:
            raise PartitionsFailed(failure_sentence(self.failures, len(self.partitions)))
        places.remove_folder(places.inside(self.folder, PASSES))


def failure_sentence(failures: Mapping[str, str], total: int, rest: str = "") -> str:
    """Which partitions failed, and why; `rest` says what became of the others.

    >>> failure_sentence({"part-3.csv": "line 7: not a time"}, 16)
    '1 of 16 partitions failed, the others are finished: part-3.csv (line 7: not a time)'
    """
    named = [f"{name} ({why})" for name, why in list(failures.items())[:_NAMED]]
    more = len(failures) - len(named)
    if more:
        named.append(f"and {more:,} more")
    finished = "the others are finished" if len(failures) < total else "none is finished"
    failed = f"{len(failures):,} of {counted(total, 'partition')} failed"
    return f"{failed}, {rest or finished}: {', '.join(named)}"


def _read_record(folder: str) -> dict[str, Any] | None:
    place = places.inside(folder, f"{KEPT}/run.json")
    if not places.is_there(place):
        return None
    with places.copied(place) as copy:
        try:
            found = json.loads(copy.read_bytes())
            found["asked"]["partitions"]
        except (ValueError, KeyError, TypeError):
            raise CannotWrite(f"{place} is damaged; remove the folder and start again") from None
    return dict(found)


def _check_same(folder: str, before: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """Refuse to go on with a run that was asked something else."""
    differing = [key for key in asked if asked[key] is not None and asked[key] != before.get(key)]
    if not differing:
        return
    key = differing[0]
    if key == "partitions":
        why = f"{_first_other(before[key], asked[key])} is new, changed or missing since"
    else:
        why = f"{key.replace('_', '-')} was {before.get(key)!r} and is now {asked[key]!r}"
    raise CannotWrite(
        f"{folder} holds the results of another run: {why}; write to another folder, or remove it"
    )


def _first_other(before: Mapping[str, str], asked: Mapping[str, str]) -> str:
    everything = sorted(before.keys() | asked.keys())
    return next(source for source in everything if before.get(source) != asked.get(source))
