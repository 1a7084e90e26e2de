"""Many addresses at once have the canonical forms that each has by itself."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recrawl.arrays.texts import Texts
from recrawl.parse.addresses import LONGEST_ADDRESS, canonical
from recrawl.parse.many_addresses import canonical_texts, surely_canonical

PARTS = (
    *("http://", "https://", "HTTP://", "ftp://", "example", "a", ".org", ".", "..", "-", "--"),
    *("xn--", "0x", "7f", "1", "[::1]", ":80", ":8080", "@", "me:pw@", "/", "/.", "/..", "/%2e"),
    *("?", "?q=1", "&b", "#top", "%41", "%", " ", "\t", "\n", '"', "'", "<", "é", "\x00", "\x7f"),
    *("~", "_", "|", "\\", "^", "{", "}", "`", "Z", "x" * 70, "/" + "y" * LONGEST_ADDRESS),
)
addresses = st.lists(
    st.builds(
        lambda start, rest: start + "".join(rest),
        st.sampled_from(["", "http://a.org/", "https://www.example.org/b/", "http://"]),
        st.lists(st.sampled_from(PARTS), max_size=8),
    ),
    max_size=6,
)


@given(addresses)
@example(["https://a.org/" + "b" * (LONGEST_ADDRESS - 14), "https://a.org/?", ""])
@example(["http://a.0xff/", "http://a.0xf/b", "http://0x7f.1/", "http://a..b/", "http://.a/"])
@example(["http://" + "a" * 63 + ".org/", "http://" + "a" * 64 + ".org/", "http://xn--a.org/"])
@example(["h", "http://a.org/b"])
@example(["http://a.org"])
def test_each_has_the_form_that_it_has_alone(texts):
    names, known = canonical_texts(Texts.of(texts))

    alone = [canonical(text) for text in Texts.of(texts).tolist()]
    assert names.tolist() == [text or "" for text in alone]
    assert known.tolist() == [text is not None for text in alone]


@given(addresses)
def test_what_is_called_canonical_for_sure_is(texts):
    for text, sure in zip(texts, surely_canonical(Texts.of(texts)), strict=True):
        assert not sure or canonical(text) == text


@pytest.mark.parametrize(
    "address",
    [
        "http://www.iana.org/_css/2013.1/fonts/Inconsolata.otf",
        "https://example.org/a-b_c~d/(e)*f!/g;h=i,j?k=l&m=%20+n@o:p$",
        "https://a-b.example.co.uk/",
    ],
)
def test_usual_addresses_need_not_be_read(address):
    """That is what makes an index fast to read."""
    assert surely_canonical(Texts.of([address])).all()
