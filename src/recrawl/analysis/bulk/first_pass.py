"""What verbs over visit logs share: a partition as a log, and the pass that gives sites priors.

Touches: files, processes.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.adapters import places
from recrawl.adapters.tables.columns import TableFile
from recrawl.adapters.tables.inputs import table_of
from recrawl.adapters.tables.logs import Log
from recrawl.adapters.tables.samples import SampleFile, check_pages, fit_samples
from recrawl.adapters.tables.visits import VisitReading
from recrawl.rates.priors import fit_prior

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from recrawl.adapters.tables.columns import TableInput
    from recrawl.adapters.tables.table_options import TableOptions
    from recrawl.analysis.bulk.runs import BulkRun
    from recrawl.rates.priors import PriorFit

_PRIORS = "priors.npz"


@dataclass(frozen=True, slots=True)
class LogReading:
    """How a partition's visits are read. It can be pickled.

    Args:
        options: How tables are read.
        memory: Bytes that the visits of a partition may take.
        change_times: Whether a table may hold all changes instead of visits.
    """

    options: TableOptions
    memory: int
    change_times: bool = False

    @contextmanager
    def open(self, source: str, scratch: Path) -> Iterator[tuple[Log, TableInput]]:
        """A partition as a log; temporary files lie in `scratch`."""
        with places.copied(source) as copy:
            table = table_of([TableFile(copy, source)], self.options)
            reading = VisitReading(table, change_times=self.change_times)
            with Log(reading, self.memory, scratch) as log:
                yield log, table

    def sample(self, task: tuple[str, str]) -> None:
        """Write the sample of a partition: from one place to another."""
        source, into = task
        with places.written(into) as path, self.open(source, path.parent) as (log, _):
            SampleFile.of(log).write(path)


def fit_run(
    run: BulkRun,
    reading: LogReading,
    *,
    false_changes: float = 0.0,
    fit: PriorFit = fit_prior,
    until: float = 0.4,
) -> str:
    """First pass: samples of all partitions, and the place of the priors of their sites.

    Args:
        run: The run.
        reading: How partitions are read.
        false_changes: Chance that a change is reported at a visit to an unchanged page.
        fit: What fits the priors.
        until: Share of the run that is done then.
    """
    samples = {each.name: run.scratch(f"{each.name}.npz") for each in run.partitions}
    tasks = {
        each.name: (each.source, samples[each.name])
        for each in run.partitions
        if not places.is_there(samples[each.name])
    }
    run.do(reading.sample, tasks, (0.0, until))
    sampled = [name for name in samples if name not in run.failures]
    if run.noted("sampled") not in (None, sampled):
        run.done_before = frozenset()  # they were estimated with other priors
    run.note(sampled=sampled)
    files = {name: SampleFile.read(samples[name]) for name in sampled}
    check_pages({name: file.pages.tolist() for name, file in files.items()})
    place = run.scratch(_PRIORS)
    priors = fit_samples(files.values(), false_changes=false_changes, fit=fit)
    with places.written(place) as path:
        priors.write(path)
    return place
