from recrawl.fetch.permanent_redirects import PermanentRedirects
from recrawl.parse.messages import Request, Response

A, B = "https://a.org/", "https://b.org/"


def remembered(response, request=None, *, after=0.5):
    """Where a request leads half a day after a response to it."""
    request, known = request or Request(A), PermanentRedirects()
    known.learn(request, response, 0.0)
    return known.target_of(request, after)


def test_what_leads_on_for_good_is_remembered_for_a_day():
    assert remembered(Response(A, 301, target=B)) == B
    assert remembered(Response(A, 308, target=B)) == B
    assert remembered(Response(A, 301, target=B), after=1.0) == ""


def test_it_is_known_whether_there_is_any():
    known = PermanentRedirects()
    had = bool(known)
    known.learn(Request(A), Response(A, 301, target=B), 0.0)

    assert (had, bool(known)) == (False, True)


def test_nothing_else_is():
    assert remembered(Response(A, 302, target=B)) == ""
    assert remembered(Response(A, 301)) == ""
    assert remembered(Response(A, 301, target=B, problem="dropped")) == ""
    assert remembered(Response(A, 308, target=B), Request(A, form="a=1")) == ""


def test_a_host_may_say_how_long():
    def within(text, after):
        headers = {"cache-control": text}
        return bool(remembered(Response(A, 301, headers, target=B), after=after))

    assert not within("no-store", 0.0)
    assert not within("private, No-Cache", 0.0)
    assert within("max-age=3600", 0.04)
    assert not within("max-age=3600", 0.05)
    assert not within("max-age=31536000", 1.5)


def test_who_shows_who_they_are_may_be_sent_elsewhere():
    known = PermanentRedirects()
    known.learn(Request(A), Response(A, 301, target=B), 0.0)

    assert known.target_of(Request(A, credentials=False), 0.0) == ""


def test_memory_is_bounded_and_the_oldest_goes():
    known = PermanentRedirects()
    for number in range(10_001):
        known.learn(Request(f"{A}{number}"), Response(A, 301, target=B), 0.0)

    assert known.target_of(Request(f"{A}0"), 0.0) == ""
    assert known.target_of(Request(f"{A}1"), 0.0) == B
    known.forget([Request(f"{A}1")])
    assert known.target_of(Request(f"{A}1"), 0.0) == ""
