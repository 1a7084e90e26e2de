"""Lines of access logs, by hand from the documentation of who writes them."""

import time
from typing import Any

import pytest

from recrawl.adapters.access_logs.requests import FROM_CACHE, OTHER_METHOD
from recrawl.adapters.access_logs.squid import parse_squid
from recrawl.adapters.access_logs.w3c import W3CLines
from recrawl.adapters.access_logs.web_servers import WebServerLines
from recrawl.adapters.imports.foreign_visits import MALFORMED, NOT_A_PAGE, ImportReading
from recrawl.errors import InvalidTable
from tests.adapters.imports.archives import imported

APACHE = '127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326'
CLOUDFRONT = (
    "#Version: 1.0\n"
    "#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status "
    "cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id "
    "x-host-header cs-protocol cs-bytes time-taken x-forwarded-for ssl-protocol ssl-cipher "
    "x-edge-response-result-type cs-protocol-version fle-status fle-encrypted-fields c-port "
    "time-to-first-byte x-edge-detailed-result-type sc-content-type sc-content-len "
    "sc-range-start sc-range-end\n"
)


def cloudfront(result, *, status="200", length="78", query="-", method="GET"):
    return "\t".join(
        [
            *("2019-12-04", "21:02:31", "LAX1", "392", "192.0.2.100", method),
            *("d111111abcdef8.cloudfront.net", "/index.html", status, "-", "Mozilla/5.0", query),
            *("-", result, "SOX4xwn4XV6Q4rgb7XiVGOHms_BGlTAC4KyHmureZmBNrjGdRLiNIQ=="),
            *("www.example.org", "https", "23", "0.001", "-", "TLSv1.2"),
            *("ECDHE-RSA-AES128-GCM-SHA256", result, "HTTP/2.0", "-", "-", "11040", "0.001"),
            *(result, "text/html", length, "-", "-"),
        ]
    )


def web(line: str, site: str = "http://a.org") -> Any:
    return WebServerLines(site)(line.encode())


def squid(*words: object) -> Any:
    return parse_squid(SQUID.format(*words).encode())


def test_the_example_of_apache():
    request = web(APACHE, "http://www.example.com")

    assert request.page == "http://www.example.com/apache_pb.gif"
    assert (request.status, request.size, request.method) == (200, 2326, "GET")
    assert request.at == 971_211_336_000_000


def test_hosts_and_ports_of_apache():
    """Its format vhost_combined."""
    lines: Any = WebServerLines("")
    tail = APACHE.removeprefix("127.0.0.1 - frank")

    pages = [
        lines(f"{host} 127.0.0.1 - frank{tail}".encode()).page
        for host in ("www.example.org:443", "www.example.org:80", "www.example.org")
    ]

    assert pages == [
        "https://www.example.org/apache_pb.gif",
        "http://www.example.org:80/apache_pb.gif",
        "https://www.example.org/apache_pb.gif",
    ]
    assert not lines.nameless


def test_a_proxy_logs_whole_addresses():
    request = web(APACHE.replace("GET /", "GET http://a.org/"), "")

    assert request.page == "http://a.org/apache_pb.gif"


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b"hello", APACHE[:60].encode(), APACHE.replace("Oct", "Okt").encode()),
        *(APACHE.replace("10/", "32/").encode(), APACHE.replace(" 200 ", " OK ").encode()),
        *(APACHE.replace("-0700", "-9900").encode(), b"[" * 5000, b'"' * 5000),
    ],
)
def test_what_is_no_line_is_malformed(line):
    assert WebServerLines("http://a.org")(line) is None


def test_etags_that_clients_make_up_are_not_those_of_answers():
    """A client may send any referer and any name of itself."""
    line = rf'{APACHE} "\"1\"" "\"2\""'

    assert web(line).etag == ""
    assert web(rf'{line} "\"3-gzip\""').etag == "3"


def test_quotes_that_are_never_closed_cost_no_more_than_others():
    """A line as long as may be took 14 seconds: each of its quotes was followed to the end."""
    line = APACHE + ' "-" "curl" ' + r"\"\x22" * 9000
    began = time.process_time()

    assert web(line).etag == ""
    assert time.process_time() - began < 2


def test_paths_without_a_host_need_a_site(tmp_path):
    log = tmp_path / "access.log"
    log.write_text(APACHE + "\n")

    with pytest.raises(InvalidTable, match=r"has paths without a host; add --site https://example"):
        imported(log)


def test_what_is_left_out_is_counted(tmp_path):
    log = tmp_path / "access.log"
    log.write_text(
        "\n".join([APACHE, "", "broken", APACHE.replace("GET", "POST"),
                   APACHE.replace("GET /", "GET *"), APACHE.replace("GET /", r"\x16\x03")])
    )  # fmt: skip
    reading = ImportReading(site="http://a.org")

    assert len(imported(log, reading=reading)) == 1
    assert reading.left_out == {MALFORMED: 1, OTHER_METHOD: 2, NOT_A_PAGE: 1}


SQUID = "1066036250.129   1050 192.168.0.227 {}/{} 7654 {} http://www.example.com/ - DIRECT/- -"


@pytest.mark.parametrize(
    ("action", "status", "changed", "cached"),
    [
        ("TCP_MISS", 200, -1, False),
        ("TCP_REFRESH_UNMODIFIED", 200, 0, False),
        ("TCP_REFRESH_UNMODIFIED", 304, 0, False),
        ("TCP_REFRESH_MODIFIED", 200, 1, False),
        ("TCP_HIT", 200, -1, True),
        ("TCP_MEM_HIT", 200, -1, True),
        ("TCP_IMS_HIT", 304, -1, True),
        ("TCP_DENIED", 403, -1, True),
    ],
)
def test_squid_says_what_it_has_asked(action, status, changed, cached):
    request = squid(action, status, "GET")

    assert request.page == "http://www.example.com/"
    assert request.at == 1_066_036_250_129_000
    assert (request.status, request.changed, request.cached) == (status, changed, cached)
    assert request.size == -1


def test_squid_could_not_ask():
    request = squid("TCP_REFRESH_FAIL_OLD", 200, "GET")

    assert request.status == 0


def test_a_log_of_squid_is_known_by_its_lines(tmp_path):
    log = tmp_path / "access.log"
    lines = [
        SQUID.format("TCP_MISS", 200, "GET"),
        SQUID.format("TCP_REFRESH_UNMODIFIED", 200, "GET"),
        SQUID.format("TCP_MEM_HIT", 200, "GET"),
        SQUID.format("TCP_TUNNEL", 200, "CONNECT"),
        SQUID.format("TCP_MISS", "000", "GET"),
    ]
    log.write_text("\n".join(lines))
    reading = ImportReading()

    found = imported(log, reading=reading)

    assert [(visit.status, visit.changed) for visit in found] == [(200, -1), (304, 0), (1, -1)]
    assert reading.left_out == {FROM_CACHE: 1, OTHER_METHOD: 1}


def test_a_log_of_cloudfront_is_known_by_its_head(tmp_path):
    log = tmp_path / "E2K2.2019-12-04-21.log"
    lines = [
        *(cloudfront("Miss"), cloudfront("Hit"), cloudfront("RefreshHit"), cloudfront("Miss")),
        *(cloudfront("Miss", length="99"), cloudfront("Error", status="502"), "cut\toff"),
        *(cloudfront("Miss", query="a=b&c=d"), cloudfront("Miss", method="PUT")),
    ]
    log.write_text(CLOUDFRONT + "\n".join(lines))
    reading = ImportReading()

    found = imported(log, reading=reading)

    assert {visit.at for visit in found} == {"2019-12-04T21:02:31"}
    assert [(visit.page[23:], visit.status, visit.changed, visit.digest) for visit in found] == [
        *(("/index.html", 200, -1, "size:78"), ("/index.html", 304, 0, "")),
        *(("/index.html", 200, -1, "size:78"), ("/index.html", 200, -1, "size:99")),
        *(("/index.html", 502, -1, ""), ("/index.html?a=b&c=d", 200, -1, "size:78")),
    ]
    assert reading.left_out == {FROM_CACHE: 1, MALFORMED: 1, OTHER_METHOD: 1}


def test_iis_names_fields_too():
    lines: Any = W3CLines("https://a.org")
    assert lines(b"#Fields: date time cs-method cs-uri-stem cs-uri-query sc-status") is None

    request = lines(b"2026-01-02 03:04:05 GET /a.aspx - 200")

    assert (request.page, request.status, request.size) == ("https://a.org/a.aspx", 200, -1)
