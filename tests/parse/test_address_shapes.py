"""What is alike in addresses that one program makes up."""

import pytest

from recrawl.parse.address_shapes import LONGEST_SHAPE, repeats, shape_of

SITE = "https://a.org"


@pytest.mark.parametrize(
    ("address", "shape"),
    [
        ("/", "/"),
        ("/about", "/about"),
        ("/about-us/team", "/about-us/team"),
        ("/calendar/2031-04", "/calendar/#-#"),
        ("/2026/11/17/the-title-of-news", "/#/#/#/*"),
        ("/news/12345", "/news/#"),
        ("/news/article12345.html", "/news/article#.html"),
        ("/p/9f86d081884c7d659a2feaa0c55ad015", "/p/#"),
        ("/p/averyveryverylongsinglewordinapath", "/p/*"),
        ("/shop?page=2", "/shop?page"),
        ("/shop?size=4&color=red", "/shop?color&size"),
        ("/shop?color=red&size=4", "/shop?color&size"),
        ("/shop?a=1&b=2&c=3", "/shop?..."),
        ("/shop?a=1&a=2&a=3", "/shop?a"),
        ("/shop?filter[7]=1", "/shop?filter[#]"),
        ("/a?", "/a"),
    ],
)
def test_shapes(address, shape):
    assert shape_of(SITE + address.removesuffix("?")) == shape


def test_shapes_are_short():
    assert len(shape_of(SITE + "/ab" * 600)) == LONGEST_SHAPE


@pytest.mark.parametrize(
    ("address", "folders"),
    [
        ("/a/a/a", "a"),
        ("/x/a/b/a/b/a/b/y", "a/b"),
        ("/a/b/c/a/b/c/a/b/c/", "a/b/c"),
        ("/a/b/a/b", ""),
        ("/a/a/b/a/a", ""),
        ("/1/1/1", ""),
        ("/2026/01/01/01", ""),
        ("/?q=/a/a/a", ""),
        ("/", ""),
        ("/" + "/".join(f"f{number}" for number in range(30)), ""),
        ("/" + "/".join(f"f{number}" for number in range(31)), "f29/f30"),
    ],
)
def test_folders_that_repeat_themselves(address, folders):
    assert repeats(SITE + address) == folders
