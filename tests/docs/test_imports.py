"""Every command of the table in "Import archives and logs" runs on a file of its kind."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recrawl.adapters.warc.fetches import RecordedFetch
from recrawl.adapters.warc.folder import WarcFolder
from recrawl.crawl.page_visit import PageVisit
from recrawl.crawl.visit_log import line_of
from recrawl.detect.verdict import Verdict
from recrawl.entries.entries import PagesFound, VisitMade
from recrawl.parse.messages import Request, Response
from recrawl.store import create_store
from recrawl.visits.status import VisitOutcome
from tests.adapters.access_logs.test_lines import APACHE, CLOUDFRONT, SQUID, cloudfront
from tests.cli.running import names_in, run
from tests.docs.pages import DOCS
from tests.fuzz.real_files import FOLDER
from tests.servers.nginx import Nginx

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (DOCS / "how-to" / "import.md").read_text()
COMMANDS = re.findall(r"^\| .+ \| `recrawl (import .+)` \|$", PAGE, re.MULTILINE)
DIGEST = "B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A"
CDX = f"org,a)/ 20260101000000 http://a.org/ text/html 200 {DIGEST} - - 1 2 a.gz\n"


def real(name: str, folder: Path, path: str) -> bool:
    """Take a real file where there is one."""
    if (FOLDER / name).exists():
        shutil.copy(FOLDER / name, folder / path)
        return True
    return False


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One file of each kind, real or as its own writer writes it."""
    folder = tmp_path_factory.mktemp("imports")
    response = Response("https://a.org/", 200, {}, b"hello")
    if not real("pywb_iana.warc.gz", folder, "crawl.warc.gz"):
        with WarcFolder(folder / "warc", "bot (me@example.org)") as files:
            files.write(RecordedFetch(Request("https://a.org/"), response, 1000))
        next((folder / "warc").iterdir()).rename(folder / "crawl.warc.gz")
    if not real("warcio_example.arc.gz", folder, "crawl.arc.gz"):
        answer = b"HTTP/1.1 200 OK\r\n\r\nhello"
        line = f"http://a.org/ 192.0.2.1 20260101000000 text/html {len(answer)}\n".encode()
        first = b"filedesc://a 0.0.0.0 20260101000000 text/plain 0\n\n"
        (folder / "crawl.arc.gz").write_bytes(gzip.compress(first + line + answer))
    if not real("pywb_iana.cdx", folder, "index.cdx"):
        (folder / "index.cdx").write_text(CDX)
    if not real("pywb_iana.cdxj", folder, "index.cdxj"):
        fields = json.dumps({"url": "http://a.org/", "status": "200", "digest": DIGEST})
        (folder / "index.cdxj").write_text(f"org,a)/ 20260101000000 {fields}\n")
    if not real("pywb_zipnum-sample.cdx.gz", folder, "cdx-00000.gz"):
        (folder / "cdx-00000.gz").write_bytes(2 * gzip.compress(CDX.encode()))
    (folder / "cluster.idx").write_text("org,a)/ 2026\tcdx-00000.gz\t0\t275\t1\n")
    columns = {
        "url": ["http://a.org/"],
        "fetch_time": pa.array([1_767_225_600_000], pa.timestamp("ms", "UTC")),
        "fetch_status": pa.array([200], pa.int16()),
        "content_digest": [DIGEST],
    }
    pq.write_table(pa.table(columns), folder / "part-00000.parquet")
    (folder / "access.log").write_text(APACHE + "\n")
    (folder / "vhosts.log").write_text(f"www.example.org:443 {APACHE.replace('frank', '-')}\n")
    (folder / "squid.log").write_text(SQUID.format("TCP_MISS", 200, "GET"))
    (folder / "cloudfront.gz").write_bytes(
        gzip.compress((CLOUDFRONT + cloudfront("Miss")).encode())
    )
    verdict = Verdict(VisitOutcome.FIRST)
    visit = PageVisit(0, "https://a.org/", 1.5, response, verdict, number=1)
    (folder / "crawl.jsonl").write_text(line_of(visit) + "\n")
    (folder / "fetched.csv").write_text("url,time\nhttp://a.org/,2026-01-01\n")
    with create_store(folder / "old.db") as store:
        found = PagesFound(["https://a.org/"], ["a.org"], [0], 0.0)
        store.write([found, VisitMade(0, 60.0, VisitOutcome.FIRST)])
    (folder / "site/content").mkdir(parents=True)
    (folder / "site/content/a.md").write_text("a")
    alone = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", "-A"], [*alone, "commit", "-q", "-m", "x"]):
        subprocess.run(["git", *words], cwd=folder / "site", check=True, capture_output=True)
    return folder


def test_the_table_names_every_kind():
    assert len(COMMANDS) == 14


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_table_runs(folder, command):
    words = command.split()
    output = folder / words[words.index("-o") + 1]

    done = run(*words, cwd=folder)

    assert done.code == 0, done.err
    assert done.err.startswith("Wrote ")
    if output.is_dir():
        assert names_in(output) == ["changes.parquet", "pages.parquet"]
    elif output.suffix == ".csv":
        assert len(output.read_text().splitlines()) > 1
    else:
        assert pq.read_table(output).num_rows > 0


@pytest.mark.skipif(
    bool(Nginx.missing()) or shutil.which("wget") is None, reason="needs nginx and wget"
)
def test_what_wget_has_archived_is_read(tmp_path):
    """A file that the real tool has just made of a page that the real server has just sent."""
    with Nginx(tmp_path / "nginx") as server:
        server.write("index.html", "<p>hello</p>", modified=784_111_777)
        quiet = ["wget", "-q", "--no-config", "--warc-file=a", "--warc-cdx", "-O", "/dev/null"]
        subprocess.run([*quiet, server.address("/index.html")], cwd=tmp_path, check=True)

        archive = run("import", "a.warc.gz", cwd=tmp_path)
        index = run("import", "a.cdx", cwd=tmp_path)

    page, _, status, changed, digest, modified = archive.out.splitlines()[1].split(",")
    assert (page, status, changed) == (server.address("/index.html"), "200", "")
    assert modified == "1994-11-06T08:49:37Z"
    assert digest in index.out
