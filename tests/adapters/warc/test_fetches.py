"""What is written of a fetch, and what is known afterwards."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.adapters.warc.fetches import RecordedFetch, records_of
from recrawl.parse.messages import Request, Response
from tests.adapters.warc.test_messages import headers
from tests.adapters.warc.warcs import read

A, B = "http://a.org/1", "http://b.org/2"
DATED = "Fri, 02 Jan 1970 00:00:00 GMT"
PROFILE = "http://netpreserve.org/warc/1.1/revisit/"


class Archive:
    """Everything written so far, and what is known of it."""

    def __init__(self):
        self.index = {}
        self.count = 0

    def add(self, request, answer):
        """Records of one more fetch, as others read them."""
        self.count += 1
        entry = records_of(RecordedFetch(request, answer, self.count * 1000), "bot", self.index.get)
        self.index.update(entry.index)
        return read(b"".join(record.packed() for record in entry.records))


def page(body, address=A, status=200, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(address, status, named, body)


def refers_to(record):
    names = ["refers-to", "refers-to-target-uri", "refers-to-date", "payload-digest"]
    return [record.fields.get(f"warc-{name}") for name in names]


def named(record):
    """How others must refer to a record."""
    names = ["warc-record-id", "warc-target-uri", "warc-date", "warc-payload-digest"]
    return [record.fields[name] for name in names]


def test_a_new_page_is_a_response_and_its_request():
    response, request = Archive().add(Request(A), page(b"hello", content_type="text/plain"))

    assert (response.kind, request.kind) == ("response", "request")
    assert response.address == request.address == A
    assert response.body == b"hello"
    assert response.headers == [("content-type", "text/plain"), ("content-length", "5")]
    assert response.fields["warc-date"] == request.fields["warc-date"] == "1970-01-01T00:00:01.000Z"
    assert request.fields["warc-concurrent-to"] == response.fields["warc-record-id"]
    assert request.first == "GET /1 HTTP/1.1"


def test_the_same_body_again_is_a_revisit():
    archive = Archive()
    first, _ = archive.add(Request(A), page(b"hello"))
    again, request = archive.add(Request(A), page(b"hello", server="b"))

    assert again.kind == "revisit"
    assert again.fields["warc-profile"] == PROFILE + "identical-payload-digest"
    assert refers_to(again) == named(first)
    assert again.headers == [("server", "b"), ("content-length", "5")]
    assert again.body == b""
    assert request.fields["warc-concurrent-to"] == again.fields["warc-record-id"]


def test_the_same_body_elsewhere_refers_to_where_it_was_first():
    archive = Archive()
    first, _ = archive.add(Request(A), page(b"hello"))
    archive.add(Request(B), page(b"hello", B))
    third, _ = archive.add(Request(B), page(b"hello", B))

    assert third.address == B
    assert refers_to(third) == named(first)


def test_an_empty_body_refers_to_nothing():
    archive = Archive()
    archive.add(Request(A), page(b"", status=301, location=B))
    again, _ = archive.add(Request(A), page(b"", status=301, location=B))

    assert again.kind == "response"
    assert again.first == "HTTP/1.1 301 Moved Permanently"


def test_an_unchanged_page_refers_to_the_record_with_its_copy():
    archive = Archive()
    first, _ = archive.add(Request(A), page(b"one", etag='"1"', last_modified=DATED))
    archive.add(Request(A), page(b"two", etag='"2"'))
    unchanged, _ = archive.add(Request(A, '"1"', DATED), Response(A, 304))

    assert unchanged.kind == "revisit"
    assert unchanged.fields["warc-profile"] == PROFILE + "server-not-modified"
    assert unchanged.first == "HTTP/1.1 304 Not Modified"
    assert refers_to(unchanged) == named(first)


@pytest.mark.parametrize(
    ("etag", "modified"), [('"2"', ""), ('"1"', DATED), ("", DATED)], ids=["other", "both", "date"]
)
def test_an_unchanged_page_whose_copy_is_not_here_refers_to_nothing(etag, modified):
    """A crawl may have had its copy before it began to write records."""
    archive = Archive()
    archive.add(Request(A), page(b"one", etag='"1"'))
    unchanged, _ = archive.add(Request(A, etag, modified), Response(A, 304))

    assert unchanged.kind == "revisit"
    assert refers_to(unchanged) == [None] * 4


def test_validators_of_another_page_lead_nowhere():
    archive = Archive()
    archive.add(Request(A), page(b"one", etag='"1"'))
    unchanged, _ = archive.add(Request(B, '"1"'), Response(B, 304))

    assert refers_to(unchanged) == [None] * 4


def test_validators_that_are_renewed_are_followed():
    archive = Archive()
    first, _ = archive.add(Request(A), page(b"one", etag='"1"'))
    archive.add(Request(A, '"1"'), Response(A, 304, {"etag": '"2"'}))
    again, _ = archive.add(Request(A, '"2"'), Response(A, 304))

    assert refers_to(again) == named(first)


def test_unchanged_where_nothing_was_asked_is_an_answer_like_others():
    assert [record.kind for record in Archive().add(Request(A), Response(A, 304))] == [
        "response",
        "request",
    ]


def test_what_an_error_page_is_called_by_is_not_kept():
    """A copy is of a page that was there."""
    archive = Archive()
    archive.add(Request(A), page(b"gone", status=404, etag='"1"'))
    unchanged, _ = archive.add(Request(A, '"1"'), Response(A, 304))

    assert refers_to(unchanged) == [None] * 4


def test_a_failure_is_told_in_fields():
    answer = Response(A, 200, problem="dropped", detail="body must come whole", seconds=0.25)
    (record,) = Archive().add(Request(A), answer)

    assert record.kind == "metadata"
    assert record.address == A
    assert record.body == (
        b"problem: dropped\r\ndetail: body must come whole\r\nstatus: 200\r\nseconds: 0.250\r\n"
    )


bodies = st.sampled_from([b"", b"one", b"two", b"\r\n\r\n", b"WARC/1.1\r\n", bytes(3000)])
tags = st.sampled_from(["", '"1"', '"2"', 'W/"1"'])
asked = st.builds(Request, st.sampled_from([A, B]), tags)
answers = st.builds(
    lambda status, body, etag, more: Response(
        A, status, more | {"etag": etag} if etag else more, b"" if status == 304 else body
    ),
    st.sampled_from([200, 304, 404, 301, 999]),
    bodies | st.binary(max_size=100),
    tags,
    headers,
)


@given(st.lists(st.tuples(asked, answers), min_size=1, max_size=8))
def test_every_reference_leads_to_the_body_that_came(fetches):
    """Read as others would: a record by its name, its address and date, and its digest."""
    archive, bodies_by_name = Archive(), {}
    for request, said in fetches:
        answer = replace(said, address=request.address)
        record, sent = archive.add(request, answer)
        if record.kind == "response":
            assert record.body == answer.body
            bodies_by_name[tuple(named(record))] = answer.body
        elif answer.status != 304:
            assert bodies_by_name[tuple(refers_to(record))] == answer.body
        else:
            assert tuple(refers_to(record)) in bodies_by_name.keys() | {(None,) * 4}
        assert sent.kind == "request"
