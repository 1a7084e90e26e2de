"""Change rates of the pages of a web archive, from its ZipNum index, on an engine.

    python examples/zipnum_rates.py cluster.idx rates/ local     the cores of this machine
    python examples/zipnum_rates.py cluster.idx rates/ ray       a Ray cluster, or Ray here
    python examples/zipnum_rates.py cluster.idx rates/ spark     a Spark cluster, or Spark here

Three steps, each of which goes on where it was interrupted if the program is run again:

1. every shard of the index becomes a visit log (`recrawl import --engine`);
2. visits are divided by page. Shards are sorted, so this is needed only if other files name the
   same pages; it shows how any log is brought into the form that partitions must have;
3. every partition gets its rates, with priors from all of them (`recrawl estimate --engine`).
"""

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from recrawl.adapters.engines import open_engine
from recrawl.analysis.bulk.estimate import EstimateJob, estimate_partitions
from recrawl.analysis.bulk.imports import ImportJob, import_partitions

PARTITIONS = 4
NOW = "2026-01-01T00:00:00"  # of fresh_now; the same in each run


def divide_by_page(logs: list[Path], into: Path) -> None:
    """Write visits to partitions: all visits of a page to one of them."""
    if into.is_dir():
        return
    visits = ds.dataset([str(path) for path in logs]).to_table()
    # The lengths of names do as a hash here; with many pages take one that spreads them evenly.
    part = pc.binary_length(visits["page"].cast(pa.string())).to_numpy() % PARTITIONS
    unfinished = into.with_suffix(".part")
    unfinished.mkdir(exist_ok=True)
    for number in range(PARTITIONS):
        pq.write_table(visits.filter(part == number), unfinished / f"part-{number}.parquet")
    unfinished.rename(into)


def main(index: str, folder: str, engine: str) -> None:
    """Go from an index to rates."""
    visits, by_page = Path(folder, "visits"), Path(folder, "visits-by-page")
    with open_engine(engine) as running:
        import_partitions([index], str(visits), ImportJob(by_key=True), engine=running)
        divide_by_page(sorted(visits.glob("*.parquet")), by_page)
        files, rates = [f"{by_page}/*.parquet"], f"{folder}/rates"
        report = estimate_partitions(files, rates, EstimateJob(now=NOW), engine=running)
    print(f"{report.files.total} pages in {rates}")


if __name__ == "__main__":
    main(*sys.argv[1:4])
