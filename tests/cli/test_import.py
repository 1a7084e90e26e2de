"""`recrawl import` as people run it."""

import signal
import subprocess
import sys
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.cli.running import names_in, run, run_here, sentence, start, write_log
from tests.waiting import wait_until

DIGESTS = ["B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A", "OSSAPWJ23L56IYVRW3GFEAR4MCJMGPTB"]
HEADER = "page,visited_at,status,changed,digest,last_modified\n"


@pytest.fixture
def index(tmp_path):
    """Two pages over nine days: one changes every third day, one never."""
    path = tmp_path / "index.cdx"
    path.write_text(
        "".join(
            f"org,a)/{page} 2026010{day}000000 http://a.org/{page} text/html 200 "
            f"{DIGESTS[page == 'b' or day // 3 % 2]} - - 1 2 a.gz\n"
            for page in "ab"
            for day in range(1, 10)
        )
    )
    return path


def test_a_pipe_gets_csv(index):
    done = run("import", index)

    assert done.code == 0
    assert done.out.startswith(f"{HEADER}http://a.org/a,2026-01-01T00:00:00Z,200,,{DIGESTS[0]},\n")
    assert done.out.count("\n") == 19
    assert done.err == "Wrote 18 visits.\n"


@pytest.mark.parametrize("name", ["v.csv", "v.jsonl", "v.parquet"])
def test_rates_are_those_of_the_changes_that_the_digests_tell(index, tmp_path, name):
    """The same as of a log that says `changed`, bit for bit."""
    by_hand = [
        (
            f"http://a.org/{page}",
            f"2026-01-0{day}",
            "" if day == 1 else day % 3 == 0 and page == "a",
        )
        for page in "ab"
        for day in range(1, 10)
    ]
    log = write_log(tmp_path / "log.csv", by_hand)

    assert run_here("import", index, "-o", tmp_path / name).code == 0

    rates = ("--now", "2026-01-20", "--csv")
    ours = run_here("estimate", tmp_path / name, *rates).out
    theirs = run_here("estimate", log, *rates).out
    without_flags = [line.split(",")[:-2] for line in ours.splitlines()]
    assert without_flags == [line.split(",")[:-2] for line in theirs.splitlines()]


def test_parquet_has_columns_of_their_own_types(index, tmp_path):
    run_here("import", index, "-o", tmp_path / "v.parquet")

    table = pq.read_table(tmp_path / "v.parquet")

    assert table.column_names == HEADER.strip().split(",")
    assert str(table.schema.field("visited_at").type) == "timestamp[us, tz=UTC]"


def test_a_crawl_goes_on_from_an_import(index, tmp_path):
    store = tmp_path / "recrawl.db"

    done = run_here("import", index, "--into", store)

    assert done.err == (
        f"Wrote 18 visits to 2 pages into {store}. No copies are in it yet: recrawl crawl fetches "
        "them.\n"
    )
    rates = run_here("estimate", store, "--now", "2026-01-20", "--csv").out
    assert [line.split(",")[7:9] for line in rates.splitlines()[1:]] == [["3", "9"], ["0", "9"]]
    assert "has visits already" in sentence(run("import", index, "--into", store))


def test_what_was_left_out_is_said(tmp_path):
    path = tmp_path / "index.cdx"
    path.write_text(
        f"org,a)/ 20260101000000 http://a.org/ text/html 200 {DIGESTS[0]} - - 1 2 a.gz\n"
        f"dns:a 20260101000000 dns:a.org text/dns 200 {DIGESTS[0]} - - 1 2 a.gz\n"
        "broken\n"
    )

    done = run("import", path)

    assert done.err.splitlines() == [
        "Wrote 1 visit.",
        f"1 malformed line left out, the first in {path}: 'broken'.",
        "1 visit to an address that is not of http or https left out.",
    ]


def test_weak_evidence_is_called_weak(tmp_path):
    log = tmp_path / "access.log"
    line = '192.0.2.1 - - [10/Oct/2025:13:55:3{} +0000] "GET /a HTTP/1.1" {} {}\n'
    rows = enumerate([(200, 5), (200, 7), (304, 0)])
    log.write_text("".join(line.format(second, *answer) for second, answer in rows))

    done = run("import", log, "--site", "https://example.org")

    changed = [row.split(",")[3] for row in done.out.splitlines()[1:]]
    assert changed == ["", "true", "false"]
    assert "Evidence of change: 2 sizes, 1 answers 304 and checks of a cache." in done.err
    assert "A size is weak evidence" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing.warc"], "nothing.warc: must be a readable file (no such file or directory)"),
        (["*.gz"], "*.gz: no file matches"),
        (["text"], "text: column 'page' must be present (got hello)"),
        (["index.cdx", "-o", "index.csv/x"], "index.csv/x: output must end in"),
        (["dns.cdx"], "dns.cdx: no visits found (1 visit to an address that is not of http"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(index, tmp_path, words, said):
    (tmp_path / "text").write_text("hello\nworld\n")
    row = index.read_text().splitlines()[0].replace("http://a.org/a", "dns:a")
    (tmp_path / "dns.cdx").write_text(row + "\n")

    assert said in sentence(run("import", *words, cwd=tmp_path))


@pytest.mark.parametrize(
    "words",
    [
        ["index.cdx", "--format", "word"],
        ["index.cdx", "--site", "example"],
        ["index.cdx", "--paths", "a"],
        ["index.cdx", "--into", "a.db", "-o", "a.csv"],
        ["index.cdx", "--csv", "--json"],
        [".", "--format", "git"],
        [],
    ],
)
def test_wrong_usage_ends_with_2(index, tmp_path, words):
    done = run("import", *words, cwd=tmp_path)

    assert done.code == 2, done
    assert names_in(tmp_path) == ["index.cdx"]


def test_the_standard_input_is_a_source(index):
    program = "from recrawl.cli.main import main; main()"
    with index.open("rb") as file:
        done = subprocess.run(
            [sys.executable, "-c", program, "import", "-"],
            stdin=file,
            capture_output=True,
            check=True,
        )

    assert done.stdout.decode() == run("import", index).out


def test_an_interrupted_import_leaves_nothing(tmp_path):
    """Ctrl-C while it waits for a pipe that has not ended."""
    line = f"org,a)/ 20260101000000 http://a.org/ text/html 200 {DIGESTS[0]} - - 1 2 a.gz\n"
    there = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": tmp_path}
    for words in (["-o", "v.csv"], ["-o", "v.parquet"], ["--into", "a.db"]):
        with start("import", "-", *words, **there) as process:
            pipe: Any = process.stdin
            pipe.write(line.encode() * 200_000)
            pipe.flush()
            wait_until(lambda: process.poll() is not None or names_in(tmp_path))
            process.send_signal(signal.SIGINT)
            process.communicate()

            assert process.returncode == 130
        assert names_in(tmp_path) == []


def test_a_repository_becomes_a_world(tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    (site / "a.md").write_text("a")
    alone = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", "-A"], [*alone, "commit", "-q", "-m", "x"]):
        subprocess.run(["git", *words], cwd=site, check=True, capture_output=True)

    done = run("import", "site", "--base", "https://a.org/", "-o", "world/", cwd=tmp_path)

    assert done.err.splitlines()[0] == "Wrote 1 page and 0 changes of 1 commit to world/."
    assert names_in(tmp_path / "world") == ["changes.parquet", "pages.parquet"]
