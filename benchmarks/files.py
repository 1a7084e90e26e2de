"""CPU time of reading one log in many formats, as ratios measured in one run.

    .venv/bin/python benchmarks/files.py                          # to the plain CSV of the same
    .venv/bin/python benchmarks/files.py --against OTHER/src      # to another tree, file by file

Half a million visits. Each file is read into histories in a process of its own, trees and files
taking turns, and the best of five runs counts.
"""

from __future__ import annotations

import argparse
import gzip
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import zstandard

VISITS, PAGES, RUNS = 500_000, 50_000, 5
OURS = str(Path(__file__).parents[1] / "src")
# What trees of any age read.
OLD = ("iso.csv", "epoch.csv", "visits.jsonl", "visits.parquet")
READ = """
import sys, time
from pathlib import Path
from recrawl.adapters.tables.columns import TableInput
from recrawl.adapters.tables.logs import Log
from recrawl.adapters.tables.visits import VisitReading
begun = time.process_time()
with Log(VisitReading(TableInput(Path(sys.argv[1]))), 2**31, Path(sys.argv[1]).parent) as log:
    pages = len(next(log.pieces()).names)
print(time.process_time() - begun)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", default="", help="sources of another tree")
    other = parser.parse_args().against
    with tempfile.TemporaryDirectory() as name:
        files = made(Path(name))
        if other:
            for file in [file for file in files if file.name in OLD]:
                ours, theirs = best([(OURS, file), (other, file)])
                print(f"{file.name:<20} {ours / theirs:6.2f} of the other tree's CPU time")
            return
        found = best([(OURS, file) for file in files])
        for file, seconds in zip(files, found, strict=True):
            print(f"{file.name:<20} {seconds / found[0]:6.2f} of plain CSV's CPU time")


def best(works: list[tuple[str, Path]]) -> list[float]:
    """CPU seconds of each work, in turns."""
    least = [np.inf] * len(works)
    for _ in range(RUNS):
        for number, (tree, file) in enumerate(works):
            words = [sys.executable, "-c", READ, str(file)]
            out = subprocess.check_output(words, env={**os.environ, "PYTHONPATH": tree})
            least[number] = min(least[number], float(out))
    return least


def made(folder: Path) -> list[Path]:
    """The log in every format, the plain one first."""
    random = np.random.default_rng(1)
    page = random.integers(0, PAGES, VISITS)
    at = 1_700_000_000 + np.sort(random.integers(0, 30_000_000, VISITS))
    changed = random.integers(0, 3, VISITS)
    names = np.array([f"https://www.site{n % 97}.org/part{n % 37}/{n}.html" for n in range(PAGES)])
    iso = np.datetime_as_string(at.astype("datetime64[s]"), timezone="UTC")
    words = np.array(["true", "false", ""])[changed]
    digests = np.array([f"{n:040x}" for n in range(1000)])[random.integers(0, 1000, VISITS)]
    header = "page,visited_at,changed\n"
    rows = [f"{a},{b},{c}\n" for a, b, c in zip(names[page], iso, words, strict=True)]
    table = pa.table(
        {
            "page": pa.array(names[page]),
            "visited_at": pa.array(at * 10**6).cast(pa.timestamp("us", "UTC")),
            "changed": pa.array(changed == 0, mask=changed == 2),
        }
    )
    text = header + "".join(rows)
    contents = {
        "iso.csv": text,
        "epoch.csv": header
        + "".join(f"{a},{b},{c}\n" for a, b, c in zip(names[page], at, words, strict=True)),
        "offset.csv": text.replace("Z,", "+00:00,"),
        "blanks.csv": text.replace("T", " ").replace("Z,", " UTC,"),
        "semicolon.csv": text.replace(",", ";"),
        "digest.csv": "page,visited_at,digest\n"
        + "".join(f"{a},{b},{c}\n" for a, b, c in zip(names[page], iso, digests, strict=True)),
        "visits.jsonl": "".join(
            f'{{"page": "{a}", "visited_at": "{b}", "changed": "{c}"}}\n'
            for a, b, c in zip(names[page], iso, words, strict=True)
        ),
    }
    contents["visits.json"] = "[" + contents["visits.jsonl"].strip().replace("\n", ",\n") + "]"
    for name, content in contents.items():
        (folder / name).write_text(content)
    (folder / "iso.csv.gz").write_bytes(gzip.compress(text.encode(), 6))
    (folder / "iso.csv.zst").write_bytes(zstandard.compress(text.encode()))
    pq.write_table(table, folder / "visits.parquet")
    pyarrow.feather.write_feather(table, str(folder / "visits.feather"))
    packed = ("iso.csv.gz", "iso.csv.zst", "visits.parquet", "visits.feather")
    return [folder / name for name in (*contents, *packed)]


if __name__ == "__main__":
    main()
