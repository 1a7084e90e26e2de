"""What two fetches of a page right after each other show."""

import pytest

from recrawl.crawl.double_fetch import compared
from recrawl.crawl.page_visit import LeasedPage
from recrawl.detect.change import not_converted
from recrawl.detect.masks.masks import NO_MASKS
from recrawl.detect.reading import read_response
from recrawl.frontier.agenda import Lease
from recrawl.parse.messages import Response
from recrawl.settings.rules import Rule

ADDRESS = "https://example.org/"
STORY = "".join(f"<p>Sentence {number} of a story that goes on.</p>" for number in range(30))
BODIES = {
    "the same": (STORY, STORY),
    "a token": (f"<p>token 4711</p>{STORY}", f"<p>token 1147</p>{STORY}"),
    "another page": (STORY, "<p>Something else.</p>"),
    "no text": ("\x00\x01\x02", "\x00\x01\x03"),
}


@pytest.mark.parametrize("bodies", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("rule", [Rule(ADDRESS), Rule(ADDRESS, ignore=("p:first-child",))])
def test_a_page_that_was_read_need_not_be_read_again(bodies, rule):
    first, second = (
        Response(ADDRESS, 200, {"content-type": "text/html"}, body.encode()) for body in bodies
    )
    page = LeasedPage(Lease(0, 0, first=False, at=0.0), ADDRESS, None, NO_MASKS, rule)
    given = first, second, page, NO_MASKS, [not_converted] * 2

    read = read_response(first, rule.criteria)

    assert compared(*given, read) == compared(*given)
