"""Verdicts on responses, by hand."""

import math

import pytest

from recrawl.detect.masks.masks import learn_masks
from recrawl.detect.reading import Criteria, read_response
from recrawl.detect.verdict import (
    PageFacts,
    is_date_right,
    verdict_by_content,
    verdict_by_signature,
    verdict_unread,
    with_lasting_validators,
)
from recrawl.parse.messages import Response
from recrawl.units import SECONDS_A_DAY, http_text

PAGE = "https://example.org/"
DAY = SECONDS_A_DAY
HTML = {"content-type": "text/html"}


def judge(response, *, known=None, old=None, criteria=None, before=DAY, now=3 * DAY, **more):
    """Verdict on a response, with `old` as the version that is kept."""
    asked = criteria or Criteria()
    settled = verdict_unread(PAGE, response, known)
    if settled is not None:
        return settled
    kept = None if old is None else read_response(response, asked, old)
    what = PageFacts(known, before=before, **more)
    read = read_response(response, asked)
    found = verdict_by_content(PAGE, response, read, what, asked, old=kept, at=now)
    assert verdict_by_signature(PAGE, response, read, what) in (
        None,
        found,
    )  # the shorter way leads there, too
    return found


def page(body, headers=HTML):
    return Response(PAGE, 200, headers, body)


FIRST = judge(Response(PAGE, 200, {}, b"one"), before=None, now=DAY)


def again(response, **more):
    return judge(response, known=FIRST.copy, old=b"one", **more)


def test_a_change_that_is_dated_between_two_visits_has_an_age():
    dated = {"last-modified": http_text(2 * DAY)}

    assert again(Response(PAGE, 200, dated, b"two")).age == pytest.approx(1.0)


@pytest.mark.parametrize("at", [0.5 * DAY, 3 * DAY - 1, 4 * DAY])
def test_a_date_that_cannot_be_that_of_the_change_says_nothing(at):
    """Before the last visit, made for this visit, and in the future."""
    assert math.isnan(again(Response(PAGE, 200, {"last-modified": http_text(at)}, b"two")).age)


@pytest.mark.parametrize("status", [0, 100, 204, 206, 301, 401, 403, 418, 500, 503])
def test_no_other_status_says_anything_of_the_page(status):
    verdict = again(Response(PAGE, status, {}, b"two"))

    assert verdict.outcome.label == "failed"
    assert verdict.copy is None
    assert verdict.body is None


def test_not_modified_without_a_copy_says_nothing():
    assert judge(Response(PAGE, 304)).outcome.label == "failed"


def test_not_modified_may_bring_other_validators():
    verdict = again(Response(PAGE, 304, {"etag": '"2"'}))

    assert verdict.outcome.label == "not_modified"
    assert verdict.copy is not None
    assert FIRST.copy is not None
    assert verdict.copy.etag == '"2"'
    assert verdict.copy.bytes_signature == FIRST.copy.bytes_signature


def test_a_tag_that_only_turns_weak_is_no_other_validator():
    """As nginx sends it: weakly with a page that it compresses, and not with a 304."""
    tagged = judge(Response(PAGE, 200, {"etag": 'W/"1"'}, b"one"), before=None, now=DAY).copy
    verdict = judge(Response(PAGE, 304, {"etag": '"1"'}), known=tagged, old=b"one")

    assert verdict.outcome.label == "not_modified"
    assert verdict.copy is None


def test_validators_of_another_address_are_not_kept():
    response = Response("https://example.org/other", 200, {"etag": '"2"'}, b"two")

    assert again(response).copy.etag is None


def test_only_what_is_watched_counts():
    rule = Criteria(watch=(".price",))
    old = b"<p class=price>5</p>x"
    before = judge(page(old), criteria=rule)

    other = judge(page(b"<p class=price>5</p>y"), known=before.copy, old=old, criteria=rule)
    price = judge(page(b"<p class=price>6</p>x"), known=before.copy, old=old, criteria=rule)

    assert (other.outcome.label, price.outcome.label) == ("cosmetic", "changed")
    assert (other.share, price.share) == (0.0, 1.0)


def test_of_what_is_no_page_in_html_everything_counts():
    plain = {"content-type": "text/plain"}
    before = judge(page(b"a <b>", plain))

    assert judge(page(b"a <c>", plain), known=before.copy).outcome.label == "changed"


def test_of_what_is_no_text_every_byte_counts():
    image = {"content-type": "image/png"}
    before = judge(page(b"\x89PNG1", image))
    after = judge(page(b"\x89PNG2", image), known=before.copy, old=b"\x89PNG1")

    assert (after.outcome.label, after.share) == ("changed", 1.0)


WORDS = " ".join(f"word{number}" for number in range(10))


@pytest.mark.parametrize(
    ("least", "outcome"), [(0.0, "changed"), (0.05, "changed"), (0.3, "cosmetic")]
)
def test_a_change_counts_from_the_share_of_words_on_that_is_asked(least, outcome):
    old = f"<p>{WORDS}</p>".encode()
    before = judge(page(old))
    after = judge(
        page(old.replace(b"word3", b"other")),
        known=before.copy,
        old=old,
        criteria=Criteria(least_change=least),
    )

    assert after.outcome.label == outcome
    assert after.share == pytest.approx(0.1)


def test_small_changes_add_up_to_one_that_counts():
    """Each visit is compared with the version that is kept, not with the visit before."""
    rule = Criteria(least_change=0.25)
    old = f"<p>{WORDS}</p>".encode()
    copy, text, found = judge(page(old)).copy, old, []
    for number in range(4):
        text = text.replace(f"word{number}".encode(), b"other%d" % number)
        seen = judge(page(text), known=copy, old=old, criteria=rule)
        copy = seen.copy or copy
        found.append(seen.outcome.label)

    assert found == ["cosmetic", "cosmetic", "changed", "changed"]


def test_what_differs_by_itself_is_no_change():
    masks = learn_masks(("Now 12:00:01", "Tea"), ("Now 12:00:02", "Tea"))
    old = b"<p>Now 09:00:00<p>Tea"
    before = judge(page(old), masks=masks)

    clock = judge(page(b"<p>Now 09:00:07<p>Tea"), known=before.copy, old=old, masks=masks)
    tea = judge(page(b"<p>Now 09:00:07<p>Coffee"), known=before.copy, old=old, masks=masks)

    assert (clock.outcome.label, tea.outcome.label) == ("cosmetic", "changed")


def test_masks_that_were_learnt_since_hold_for_the_copy_as_well():
    """The copy was signed when its clock still counted."""
    old = b"<p>Now 09:00:00<p>Tea"
    before = judge(page(old))
    masks = learn_masks(("Now 12:00:01", "Tea"), ("Now 12:00:02", "Tea"))

    after = judge(page(b"<p>Now 09:00:07<p>Tea"), known=before.copy, old=old, masks=masks)

    assert after.outcome.label == "cosmetic"


WALL = b"<title>Just a moment...</title><h1>Checking your browser</h1><div id=cf-challenge></div>"
MISSING = b"<title>Page not found</title><h1>404</h1><p>This page does not exist."


@pytest.mark.parametrize("copied", [True, False])
def test_a_wall_is_no_change(copied):
    old = f"<p>{WORDS}</p>".encode()
    known = judge(page(old)).copy if copied else None
    found = judge(page(WALL), known=known, old=old if copied else None)

    assert (found.outcome.label, found.wall) == ("walled", "bot")
    assert found.copy is None
    assert found.body is None


def test_a_page_that_says_it_is_missing_is_gone_whatever_its_status():
    old = f"<p>{WORDS}</p>".encode()

    assert judge(page(MISSING), known=judge(page(old)).copy, old=old).outcome.label == "gone"


def test_a_page_without_text_is_one_until_it_had_some():
    image = b"<img src=a.png>"
    first = judge(page(image))
    assert first.outcome.label == "first"
    again = judge(page(b"<img src=b.png>"), known=first.copy, old=image)
    assert again.outcome.label == "cosmetic"

    old = f"<p>{WORDS}</p>".encode()
    assert judge(page(image), known=judge(page(old)).copy, old=old).outcome.label == "walled"


def test_without_versions_copies_are_compared_by_simhash():
    words = [f"word{number}" for number in range(400)]
    old = f"<p>{' '.join(words)}".encode()
    rule = Criteria(least_change=0.3)
    first = judge(page(old), keeps=False)
    assert first.copy.simhash is not None
    little = old.replace(b"word7 ", b"other ")
    much = b"<p>" + b" ".join(b"new%d" % number for number in range(400))

    found = [
        judge(page(body), known=first.copy, criteria=rule, keeps=False) for body in (little, much)
    ]

    assert [each.outcome.label for each in found] == ["cosmetic", "changed"]


def test_a_page_is_dated_by_its_answer_on_the_hosts_own_clock():
    """A host whose clock is an hour late dates a page by the moment at which it sends it."""
    sent = http_text(3 * DAY - 3600)
    headers = {"last-modified": sent, "date": sent}

    assert math.isnan(again(Response(PAGE, 200, headers, b"two")).age)
    earlier = {"last-modified": http_text(3 * DAY - 3700), "date": sent}
    assert again(Response(PAGE, 200, earlier, b"two")).age > 0


def dated(seconds_before, etag=""):
    """A page that is dated so long before it was sent, at the third day."""
    headers = {"date": http_text(3 * DAY), "last-modified": http_text(3 * DAY - seconds_before)}
    return Response(PAGE, 200, headers | ({"etag": etag} if etag else {}), b"two")


@pytest.mark.parametrize("young", [0, 1])
@pytest.mark.parametrize("etag", ['"abc"', f'"{3 * 86_400:x}-2a"', f'"{3 * 86_400 - 1:x}-2a"'])
def test_a_date_of_the_last_two_seconds_is_no_validator(young, etag):
    """A change a moment later would have the same date, and an ETag that is made of it."""
    response = dated(young, etag)
    copy = with_lasting_validators(again(response), response, 3 * DAY).copy
    made_of_date = f"{int(3 * DAY - young):x}" in etag

    assert copy is not None
    assert copy.modified_seconds is None
    assert copy.etag == (None if made_of_date else etag)


def test_an_older_date_is_one():
    response = dated(2, f'"{3 * 86_400 - 2:x}-2a"')
    found = again(response)

    assert with_lasting_validators(found, response, 3 * DAY) is found
    assert found.copy is not None
    assert found.copy.modified_seconds == 3 * 86_400 - 2


@pytest.mark.parametrize(
    ("seconds_before", "gap", "changed", "right"),
    [
        (50, 100, True, True),  # in its gap
        (150, 100, True, False),  # before it
        (1, 100, True, False),  # by its response
        (1, 10, True, None),  # or by a change: the gap is too short to tell
        (150, 100, False, None),
        (50, 100, False, False),  # moved without a change
        (0, 1, False, None),  # or since before the last visit, within the second
    ],
)
def test_dates_are_right_wrong_or_cannot_be_told(seconds_before, gap, changed, right):
    before, at = 3 * DAY - gap, 3 * DAY
    assert FIRST.copy is not None

    found = is_date_right(dated(seconds_before), FIRST.copy, before, at, changed=changed)

    assert found is right


def test_dates_of_a_host_that_lies_say_nothing():
    dated = {"last-modified": http_text(2 * DAY)}

    assert math.isnan(again(Response(PAGE, 200, dated, b"two"), dates=False).age)


def test_a_page_that_reads_as_before_is_settled_without_its_old_version():
    response = page(b"<p>One two</p><!-- made at 9:00 -->")
    first = judge(page(b"<p>One two</p>"), before=None, now=DAY)

    settled = verdict_by_signature(
        PAGE, response, read_response(response, Criteria()), PageFacts(first.copy)
    )

    assert settled is not None
    assert settled.outcome.label == "cosmetic"
    assert settled.copy is not None
    assert settled.copy.text_signature == first.copy.text_signature
    other = page(b"<p>One three</p>")
    assert (
        verdict_by_signature(PAGE, other, read_response(other, Criteria()), PageFacts(first.copy))
        is None
    )
