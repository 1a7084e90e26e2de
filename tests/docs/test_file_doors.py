"""Every row of the table of files: its command is run on a real file of that kind."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import subprocess
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recrawl.crawl.page_visit import PageVisit
from recrawl.crawl.visit_log import line_of
from recrawl.detect.verdict import Verdict
from recrawl.parse.messages import Response
from recrawl.visits.status import VisitOutcome
from tests.cli.running import run, start
from tests.docs.pages import DOCS
from tests.polars_files import polars_of
from tests.store.made import NOON, store_with, visit

if TYPE_CHECKING:
    from pathlib import Path

PAGES = [f"https://a.org/{number}" for number in range(4)]
NOON_DAY = datetime.fromtimestamp(NOON, UTC)


def rows() -> list[tuple[int, int, VisitOutcome]]:
    """Page, hours after noon and outcome of each visit."""
    random = np.random.default_rng(3)
    return [
        (
            page,
            hour,
            VisitOutcome.FIRST
            if hour == page
            else VisitOutcome.CHANGED
            if random.random() < 0.3 + page / 9
            else VisitOutcome.SAME,
        )
        for hour in range(60)
        for page in range(4)
        if hour % 4 == page
    ]


def frame(found: Any) -> pd.DataFrame:
    flags = {VisitOutcome.FIRST: None, VisitOutcome.CHANGED: True, VisitOutcome.SAME: False}
    table = pd.DataFrame(
        {
            "page": [PAGES[page] for page, _, _ in found],
            "visited_at": [NOON_DAY + timedelta(hours=hour) for _, hour, _ in found],
            "changed": [flags[outcome] for _, _, outcome in found],
        }
    )
    return table.astype({"changed": "boolean"})


def _duckdb(table: pd.DataFrame, path: Path, options: str) -> None:
    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as database:
        database.register("visits", pa.Table.from_pandas(table, preserve_index=False))
        database.execute(f"COPY (SELECT * FROM visits) TO '{path}' ({options})")  # noqa: S608 - our own path


def _crawl_log(path: Path) -> None:
    """What a crawl writes of the same visits, and of one that failed."""
    lines = []
    for number, (page, hour, outcome) in enumerate(rows(), 1):
        response = Response(PAGES[page], status=200, seconds=0.25)
        at = (NOON + hour * 3600) / 86_400
        lines.append(
            line_of(PageVisit(page, PAGES[page], at, response, Verdict(outcome), number=number))
        )
    failed = Response(PAGES[0], problem="timeout", seconds=30.0)
    verdict = Verdict(VisitOutcome.FAILED)
    lines.append(line_of(PageVisit(0, PAGES[0], NOON / 86_400 + 9, failed, verdict, number=999)))
    path.write_text("".join(f"{line}\n" for line in lines))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All files that the table names."""
    folder = tmp_path_factory.mktemp("doors")
    table = frame(rows())
    table.to_csv(folder / "visits.csv", index=False)
    text = (folder / "visits.csv").read_text()
    (folder / "excel.txt").write_text(text.replace(",", "\t"), encoding="utf-16", newline="\r\n")
    polars_of(pa.Table.from_pandas(table, preserve_index=False)).write_csv(
        folder / "visits.tsv", separator="\t"
    )
    _duckdb(table, folder / "visits.jsonl", "FORMAT json")
    table.to_json(folder / "visits.json", orient="records", date_format="iso")
    _duckdb(table, folder / "visits.parquet", "FORMAT parquet")
    table.to_feather(folder / "visits.feather")
    polars_of(pa.Table.from_pandas(table, preserve_index=False)).write_ipc_stream(
        folder / "visits.arrows"
    )
    for suffix, pack in ((".gz", gzip), (".bz2", bz2), (".xz", lzma)):
        (folder / f"visits.csv{suffix}").write_bytes(pack.compress(text.encode()))
    table.to_csv(folder / "visits.csv.zst", index=False)
    parts = [frame(rows()[start::3]) for start in range(3)]
    (folder / "parts").mkdir()
    for into in (folder, folder / "parts"):
        parts[0].to_csv(into / "part-1.csv", index=False)
        _duckdb(parts[1], into / "part-2.jsonl", "FORMAT json")
        pq.write_table(
            pa.Table.from_pandas(parts[2], preserve_index=False), into / "part-3.parquet"
        )
    _crawl_log(folder / "crawl.jsonl")
    with store_with(folder / "recrawl.db", *PAGES) as store:
        store.write([visit(page, hour * 3600, outcome=outcome) for page, hour, outcome in rows()])
    return folder


def _commands() -> list[str]:
    page = (DOCS / "how-to" / "your-log.md").read_text()
    table = page.partition("<!-- table: doors -->")[2].partition("\n\n")[0]
    found = re.findall(r"\| `([^`]+)` \|$", table, re.MULTILINE)
    return [command.replace("\\|", "|") for command in found]


@pytest.mark.parametrize("command", _commands())
def test_the_command_of_every_file_gives_the_same_rates(folder, command):
    """In the order of their names, which differs with that of the rows."""
    expected = sorted(
        run("estimate", "visits.csv", "--csv", "--now", "2030", cwd=folder).out.splitlines()
    )
    before, piped, after = command.rpartition("| ")
    words = [word.strip("'") for word in after.split()[1:]]
    content = (folder / before.split()[1]).read_bytes() if piped else b""
    words += ["--csv", "--now", "2030"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with start(*words, cwd=folder, **pipes) as process:
        found, said = process.communicate(content)

    assert len(expected) == len(PAGES) + 1
    assert sorted(found.decode().splitlines()) == expected, said.decode()


def test_the_table_has_a_row_for_every_kind():
    assert len(_commands()) == 18
