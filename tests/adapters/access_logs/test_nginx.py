"""Access logs that the real nginx has written."""

import http.client
from datetime import datetime

import pytest

from recrawl.adapters.access_logs.requests import OTHER_METHOD
from recrawl.adapters.imports.foreign_visits import COMPARED, ETAGS, SIZES, ImportReading
from tests.adapters.imports.archives import imported
from tests.servers.nginx import Nginx
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(bool(Nginx.missing()), reason=Nginx.missing() or "nginx is here")

FORMATS = """
log_format etagged '$remote_addr - $remote_user [$time_local] "$request" $status '
    '$body_bytes_sent "$http_referer" "$http_user_agent" $request_time "$sent_http_etag"';
log_format hosted '$host:$server_port $remote_addr - $remote_user [$time_local] "$request" $status '
    '$body_bytes_sent "$http_referer" "$http_user_agent"';
access_log combined.log combined;
access_log etagged.log etagged;
access_log hosted.log hosted;
"""


def ask(server, path, method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        return answer
    finally:
        connection.close()


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Logs of a page that changes once, is gone once, and is asked for in several ways."""
    folder = tmp_path_factory.mktemp("nginx")
    long = "<p>" + "hello world " * 500
    with Nginx(folder, formats=FORMATS) as server:
        server.write("a.html", long, modified=1_700_000_000)
        first = ask(server, "/a.html")
        ask(server, "/a.html", **{"Accept-Encoding": "gzip"})
        ask(server, "/a.html")
        ask(server, "/a.html", **{"If-None-Match": first.getheader("ETag")})
        ask(server, "/a.html", "HEAD")
        ask(server, "/a.html", "POST")
        server.write("a.html", long + "changed", modified=1_700_000_100)
        ask(server, "/a.html")
        ask(server, '/a.html?q="x y"'.replace(" ", "%20"))
        ask(server, "/nothing")
        ask(server, "/moved/")
        began = server.log(10)[0].at
        for name in ("combined", "etagged", "hosted"):
            log = folder / f"{name}.log"
            wait_until(lambda log=log: len(log.read_text().splitlines()) == 10)  # type: ignore[misc]
        yield folder, server.port, began


def test_sizes_are_taken_where_nothing_better_is_logged(logs):
    """The packed answer has a size of its own: sizes are weak."""
    reading = ImportReading(site="https://example.org")

    found = imported(logs[0] / "combined.log", reading=reading)

    page = [visit for visit in found if visit.page == "https://example.org/a.html"]
    assert [(visit.status, visit.changed) for visit in page] == [
        *((200, -1), (200, -1), (200, -1), (304, 0), (200, -1), (200, -1)),
    ]
    sizes = [visit.digest for visit in page]
    assert sizes[0] == sizes[2] != sizes[1]
    assert all(size.startswith("size:") for size in sizes[:3])
    assert sizes[3:5] == ["", ""]
    assert reading.left_out == {OTHER_METHOD: 1}
    assert reading.evidence == {SIZES: 5, COMPARED: 1}


def test_etags_tell_more_than_sizes(logs):
    """Packed or not, nginx has one ETag for a version, but for the `W/`."""
    reading = ImportReading(site="https://example.org")

    found = imported(logs[0] / "etagged.log", reading=reading)

    page = [visit for visit in found if visit.page == "https://example.org/a.html"]
    digests = [visit.digest for visit in page]
    assert digests[0] == digests[1] == digests[2] == digests[4] != digests[5]
    assert digests[3] == ""
    assert [visit.changed for visit in page] == [-1, -1, -1, 0, -1, -1]
    assert reading.evidence == {ETAGS: 6, COMPARED: 1}


def test_other_answers_are_statuses(logs):
    found = imported(logs[0] / "combined.log", reading=ImportReading(site="https://example.org"))

    told = {visit.page.removeprefix("https://example.org"): visit.status for visit in found}
    assert told == {"/a.html": 200, "/a.html?q=%22x%20y%22": 200, "/nothing": 404, "/moved/": 301}


def test_a_host_in_front_names_the_site(logs):
    folder, port, _ = logs

    found = imported(folder / "hosted.log")

    assert found[0].page == f"http://127.0.0.1:{port}/a.html"


def test_times_are_those_of_the_requests(logs):
    visit = imported(logs[0] / "combined.log", reading=ImportReading(site="https://a.org"))[0]

    at = datetime.fromisoformat(f"{visit.at}+00:00").timestamp()
    assert at <= logs[2] < at + 1
