"""HTTP messages in WARC files: true of what stands below them, and harmless whatever came."""

from hypothesis import given
from hypothesis import strategies as st

from recrawl.adapters.warc.records import escaped_uri, request_message, response_head
from recrawl.parse.messages import MOST_HEADERS, Request, Response

ADDRESS = "http://example.org:8080/a/b?c=d"
AGENT = "test-bot (me@example.org)"

texts = st.text(st.characters(codec="utf-8"), max_size=30) | st.sampled_from(
    ["a\r\n\r\nb", "\0", "a\r\nContent-Length: 3", "é\x85\u2028", " ", ""]
)
names = st.from_regex(r"[a-z-]{1,12}", fullmatch=True) | texts
wire = st.sampled_from(["content-encoding", "content-length", "transfer-encoding"])
headers = st.dictionaries(names | wire, texts, max_size=8)


def lines(head):
    """Lines of a message, which must end in an empty one."""
    assert head.endswith(b"\r\n\r\n")
    return head[:-4].decode().split("\r\n")


def test_what_holds_stays_as_it_is():
    answer = Response(ADDRESS, 404, {"content-length": "2", "server": "a"}, b"no")

    assert lines(response_head(answer)) == [
        "HTTP/1.1 404 Not Found",
        "content-length: 2",
        "server: a",
    ]


def test_what_told_of_the_wire_has_another_name():
    came = {"content-encoding": "br", "transfer-encoding": "chunked", "content-length": "5"}
    answer = Response(ADDRESS, 200, came, b"hello")

    assert lines(response_head(answer)) == [
        "HTTP/1.1 200 OK",
        "x-crawl-content-encoding: br",
        "x-crawl-transfer-encoding: chunked",
        "x-crawl-content-length: 5",
        "content-length: 5",
    ]


def test_an_unchanged_page_has_no_length():
    """Its length is that of a body which does not follow."""
    answer = Response(ADDRESS, 304, {"content-length": "512"})

    assert lines(response_head(answer)) == [
        "HTTP/1.1 304 Not Modified",
        "x-crawl-content-length: 512",
    ]


def test_a_status_that_nobody_has_named():
    assert lines(response_head(Response(ADDRESS, 799)))[0] == "HTTP/1.1 799 Unknown"


def test_headers_that_are_too_many_are_counted():
    """A reader with its usual limits must be able to read the others, and all other records."""
    many = {f"x-{number}": "a" * 1000 for number in range(MOST_HEADERS)} | {"vary": "b"}
    head = response_head(Response(ADDRESS, 200, many, b"hello"))

    assert len(head) < 32_768
    assert lines(head)[-3:] == ["vary: b", "content-length: 5", "x-crawl-headers-left-out: 71"]


def test_a_request_names_the_page_and_who_asks():
    request = Request(ADDRESS, '"1"', "Fri, 02 Jan 1970 00:00:00 GMT")

    assert lines(request_message(request, AGENT)) == [
        "GET /a/b?c=d HTTP/1.1",
        "Host: example.org:8080",
        f"User-Agent: {AGENT}",
        "Accept: text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8",
        "Accept-Encoding: gzip, br, zstd",
        'If-None-Match: "1"',
        "If-Modified-Since: Fri, 02 Jan 1970 00:00:00 GMT",
    ]


def test_an_address_that_would_be_two_lines_is_one_word():
    head = request_message(Request("http://a.org/ b\r\nX: y"), AGENT)

    assert lines(head)[:2] == ["GET /%20b%0D%0AX:%20y HTTP/1.1", "Host: a.org"]


@given(headers, st.binary(max_size=50), st.integers(200, 999))
def test_no_header_makes_another(came, body, status):
    head = response_head(Response(ADDRESS, status, came, body))
    found = lines(head)
    known = {"content-length", "x-crawl-headers-left-out"}

    assert len(found) <= 1 + len(came) + len(known)
    assert all(line.isprintable() or not line.isascii() for line in found)
    assert all("\r" not in line and "\n" not in line and "\0" not in line for line in found)
    for line in found[1:]:
        name = line.partition(":")[0]
        assert name.removeprefix("x-crawl-") in came.keys() | known | {"headers-left-out"}


@given(headers, st.binary(max_size=50))
def test_the_length_is_that_of_the_body(came, body):
    found = [
        line.partition(": ")[::2]
        for line in lines(response_head(Response(ADDRESS, 200, came, body)))
    ]
    wires = [pair for pair in found if pair[0] in ("content-encoding", "transfer-encoding")]

    assert [value for name, value in found if name == "content-length"] == [str(len(body))]
    assert wires == []


@given(texts)
def test_an_address_has_neither_spaces_nor_controls(text):
    word = escaped_uri(f"http://a.org/{text}")

    assert word.isascii()
    assert word.isprintable()
    assert " " not in word
    assert escaped_uri(word) == word
