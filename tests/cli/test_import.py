"""`recrawl import` as people run it."""

import gzip
import signal
import subprocess
import sys
from typing import Any

import pyarrow as pa
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
    flags = ours.partition("\n")[0].split(",").index("flags")

    def without_flags(text: str) -> list[list[str]]:
        rows = [line.split(",") for line in text.splitlines()]
        return [[*row[:flags], *row[flags + 1 :]] for row in rows]

    assert without_flags(ours) == without_flags(theirs)


def test_parquet_has_columns_of_their_own_types(index, tmp_path):
    run_here("import", index, "-o", tmp_path / "v.parquet")

    table = pq.read_table(tmp_path / "v.parquet")

    assert table.column_names == HEADER.strip().split(",")
    assert str(table.schema.field("visited_at").type) == "timestamp[us, tz=UTC]"


def test_a_crawl_goes_on_from_an_import(index, tmp_path):
    store = tmp_path / "recrawl.db"

    done = run_here("import", index, "--into", store)

    assert done.err == (
        f"Wrote 18 visits to 2 pages into {store}. No copies are in it yet: `recrawl crawl` "
        "fetches them once recrawl.toml names this store and `recrawl add` has added their sites.\n"
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

    rule = "must have 6 fields or more"
    assert done.err.splitlines() == [
        "Wrote 1 visit.",
        f"1 malformed line left out, the first in {path}, line 3: {rule} (got 'broken').",
        "1 visit to an address other than http or https left out.",
    ]


def test_weak_evidence_is_called_weak(tmp_path):
    log = tmp_path / "access.log"
    line = '192.0.2.1 - - [10/Oct/2025:13:55:3{} +0000] "GET /a HTTP/1.1" {} {}\n'
    rows = enumerate([(200, 5), (200, 7), (304, 0)])
    log.write_text("".join(line.format(second, *answer) for second, answer in rows))

    done = run("import", log, "--site", "https://example.org")

    told = [row.split(",")[3:5] for row in done.out.splitlines()[1:]]
    assert told == [["", "size:5"], ["", "size:7"], ["false", ""]]
    assert "Evidence of change: 2 sizes, 1 revalidation." in done.err
    assert "Sizes are weak evidence" in done.err


def test_an_access_log_tells_the_same_in_whatever_order_its_lines_come(tmp_path):
    """As `zcat -f access.log*` has them: the newest of them first."""
    line = '192.0.2.1 - - [{:02}/Oct/2025:13:55:36 +0000] "GET /{} HTTP/1.1" 200 {}\n'
    lines = [line.format(day, page, 5 + day // 5) for day in range(1, 29) for page in "ab"]
    weeks = [lines[start : start + 14] for start in range(0, len(lines), 14)]
    rates = []
    for name, parts in (("in-order", weeks), ("backwards", weeks[::-1])):
        (tmp_path / name).write_text("".join(line for part in parts for line in part))
        visits = tmp_path / f"{name}.csv"
        run_here("import", tmp_path / name, "--site", "https://example.org", "-o", visits)
        rates.append(run_here("estimate", visits, "--now", "2025-11-01", "--csv").out)

    assert rates[0] == rates[1]
    assert [row.split(",")[7:9] for row in rates[0].splitlines()[1:]] == [["5", "28"]] * 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing.warc"], "nothing.warc cannot be read (no such file or directory)"),
        (["*.gz"], "*.gz: no file matches"),
        (["text"], "text: column 'page' not found (got hello)"),
        (["index.cdx", "-o", "index.csv/x"], "index.csv/x: output must end in"),
        (["dns.cdx"], "dns.cdx: no visits found (1 visit to an address other than http"),
        (["bad.csv"], "bad.csv, line 3, column 'visited_at': must be a time in ISO 8601"),
        (
            ["worse.csv", "--skip-bad-rows"],
            "worse.csv: no visits found (2 malformed lines left out",
        ),
        (["broken.cdx", "-o", "v.csv"], "broken.cdx: most lines are malformed (12, the"),
        (["broken.cdx", "--into", "v.db"], "broken.cdx: most lines are malformed (12, "),
    ],
)
def test_what_cannot_be_done_is_one_sentence(index, tmp_path, words, said):
    (tmp_path / "text").write_text("hello\nworld\n")
    row = index.read_text().splitlines()[0].replace("http://a.org/a", "dns:a")
    (tmp_path / "dns.cdx").write_text(row + "\n")
    (tmp_path / "bad.csv").write_text("page,visited_at\n/a,2026-01-01\n/a,soon\n/b,later\n")
    (tmp_path / "worse.csv").write_text("page,visited_at\n/a,soon\n/b,later\n")
    (tmp_path / "broken.cdx").write_text(index.read_text()[:999] + "\n" + "broken\n" * 11)
    before = names_in(tmp_path)

    assert said in sentence(run("import", *words, cwd=tmp_path))
    assert names_in(tmp_path) == before


@pytest.mark.parametrize(
    "words",
    [
        ["index.cdx", "--paths", "a"],
        ["index.cdx", "--into", "a.db", "-o", "a.csv"],
        ["index.cdx", "--csv", "--json"],
        [".", "--format", "git"],
        ["index.cdx", "--column", "page=url"],
        ["index.cdx", "--tz", "Europe/Berlin"],
        ["index.cdx", "--user-agent", "bot"],
        ["index.cdx", "--site", "https://a.org"],
        ["index.cdx", "--by-key", "--into", "a.db"],
        [],
    ],
)
def test_wrong_usage_ends_with_2(index, tmp_path, words):
    done = run("import", *words, cwd=tmp_path)

    assert done.code == 2, done
    assert names_in(tmp_path) == ["index.cdx"]


AGENTS = ["Mozilla/5.0 (X11)", "MyBot/1.0 (+http://a.org)", "MyBot/2.0"]


@pytest.fixture
def agents(tmp_path):
    """Three agents at two addresses, of which the first asks most often."""
    path = tmp_path / "access.log"
    line = '192.0.2.{} - - [{:02}/Oct/2025:13:55:36 +0000] "GET /a HTTP/1.1" 200 {} "-" "{}"\n'
    asked = [(day, AGENTS[day % 3 if day < 7 else 0]) for day in range(1, 10)]
    path.write_text("".join(line.format(day % 2, day, day, agent) for day, agent in asked))
    return path


def test_several_agents_are_told_apart(agents):
    done = run_here("import", agents, "--site", "https://a.org", "--csv")

    assert done.out.count("\n") == 10
    said = "3 user agents made these visits, most of them 'Mozilla/5.0 (X11)' (5), 'MyBot/1.0 "
    assert said in done.err
    assert "--user-agent selects one." in done.err


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (["--user-agent", "mybot"], 4),
        (["--user-agent", "MyBot/2*"], 2),
        (["--user-agent", "Bot/*"], 0),
        (["--client", "192.0.2.1"], 5),
        (["--client", "192.0.2.1", "--user-agent", "mybot"], 2),
    ],
)
def test_one_agent_or_client_is_chosen(agents, words, count):
    done = run("import", agents, "--site", "https://a.org", "--csv", *words)

    if not count:
        assert "no visits found (9 requests from other agents or clients left out)" in sentence(
            done
        )
        return
    assert done.out.count("\n") == 1 + count
    assert f"{9 - count} requests from other agents or clients left out." in done.err


def test_a_folder_with_an_empty_marker_is_read(index, tmp_path):
    (tmp_path / "_SUCCESS").touch()

    assert run_here("import", tmp_path, "--csv").out == run_here("import", index, "--csv").out


def test_tables_are_read_as_estimate_reads_them(tmp_path):
    """A zone, a delimiter, a form of times, words, usual names and names that are no addresses."""
    log = tmp_path / "log.csv"
    log.write_text("url|time|changed\n/a|1/7/2026 02:00|same\n/a|2/7/2026 02:00|new\n")
    said = ("--tz", "Europe/Berlin", "--delimiter", "pipe", "--time-format", "%d/%m/%Y %H:%M")
    words = (*said, "--true-words", "new", "--false-words", "same")

    done = run_here("import", log, "--csv", *words)

    assert done.out.splitlines()[1:] == [
        "/a,2026-07-01T00:00:00Z,,false,,",
        "/a,2026-07-02T00:00:00Z,,true,,",
    ]
    assert "Reading 'url' as page, 'time' as visited_at." in done.err


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


ACCESS_LOG = (
    '192.0.2.1 - - [01/Jan/2026:00:00:00 +0000] "GET /a HTTP/1.1" 200 512 "-" "-"\n'
    '192.0.2.1 - - [02/Jan/2026:00:00:00 +0000] "GET /a HTTP/1.1" 304 0 "-" "-"\n'
)


def given(path, *words):
    """What an import from a pipe writes; the same file is read under its name."""
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with path.open("rb") as file, start("import", "-", *words, stdin=file, **both) as process:
        out, err = process.communicate()
    assert process.returncode == 0, err
    return out


@pytest.mark.parametrize("name", ["v.csv", "v.jsonl", "v.parquet", "v.csv.gz"])
def test_a_table_on_the_standard_input_is_imported(index, tmp_path, name):
    plain = name.removesuffix(".gz")
    run_here("import", index, "-o", tmp_path / plain)
    if plain != name:
        (tmp_path / name).write_bytes(gzip.compress((tmp_path / plain).read_bytes()))

    out = given(tmp_path / name)

    assert out == run("import", tmp_path / name).out
    assert out.count("\n") == 19


def test_any_other_source_may_come_from_the_standard_input(index, tmp_path):
    """An access log, a store, and the index of Common Crawl, which is told by its columns."""
    log, store, common = tmp_path / "access.log", tmp_path / "a.db", tmp_path / "cc.parquet"
    log.write_text(ACCESS_LOG)
    run_here("import", index, "--into", store)
    columns = {"url": "http://a.org/", "fetch_time": 1_767_225_600, "fetch_status": 200}
    pq.write_table(pa.Table.from_pylist([{**columns, "content_digest": DIGESTS[0]}]), common)

    site = ["--site", "https://a.org"]
    assert given(log, *site) == run("import", log, *site).out
    assert given(store) == run("import", store).out
    assert given(common) == run("import", common).out
    assert given(common).count("\n") == 2


def test_what_is_wrong_with_the_standard_input_is_one_sentence(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("a,b\n1,2\n")
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with path.open("rb") as file, start("import", "-", stdin=file, **both) as process:
        out, err = process.communicate()

    assert (process.returncode, out) == (1, "")
    remedy = "name it with --column page=NAME"
    assert err == f"Error: standard input: column 'page' not found (got a, b); {remedy}\n"


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

    said = sentence(run("import", "site", "-o", "world.csv", cwd=tmp_path))
    done = run("import", "site", "--base", "https://a.org/", "-o", "world/", cwd=tmp_path)

    assert said == (
        "-o must be a folder DIR/ for a git repository, because two files are written "
        "(got 'world.csv')"
    )
    assert names_in(tmp_path) == ["site", "world"]
    assert done.err.splitlines()[0] == "Wrote 1 page and 0 changes of 1 commit to world/."
    assert names_in(tmp_path / "world") == ["changes.parquet", "pages.parquet"]
