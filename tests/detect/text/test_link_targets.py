"""Where links lead, whoever asks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.text.link_targets import link_target


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("", ""),
        ("/a#b", "/a"),
        (" /a\n/b ", "/a/b"),
        ("/a;jsessionid=12AB", "/a"),
        ("/a;jsessionid=12AB?x=1", "/a?x=1"),
        ("/a;v=1/b", "/a;v=1/b"),
        ("/a?PHPSESSID=1", "/a"),
        ("/a?x=1&sid=2&y=3", "/a?x=1&y=3"),
        ("/a?utm_source=1&utm_medium=2&x=1", "/a?x=1"),
        ("/a?x=1&gclid=2&fbclid=3", "/a?x=1"),
        ("/a?inside=1&presidents=2", "/a?inside=1&presidents=2"),
        ("JavaScript:void(0)", ""),
        ("data:text/html,x", ""),
        ("tel:+49 123", "tel:+49123"),
        ("https://a.example/b", "https://a.example/b"),
    ],
)
def test_sessions_campaigns_and_fragments_are_left_out(written, found):
    assert link_target(written) == found


@given(st.text(st.sampled_from("/?&;=#ab:utm_sid1 "), max_size=40))
def test_what_is_left_is_left_again(written):
    once = link_target(written)

    assert " " not in once
    assert "#" not in once
    assert link_target(once) == once
