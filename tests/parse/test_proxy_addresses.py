import pytest

from recrawl.parse.proxy_addresses import read_proxy_address


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("http://proxy.example.org:3128", ("http", "proxy.example.org", 3128, "", "")),
        ("HTTP://Proxy:8080/", ("http", "proxy", 8080, "", "")),
        ("https://proxy.example.org", ("https", "proxy.example.org", 443, "", "")),
        ("socks5://127.0.0.1", ("socks5", "127.0.0.1", 1080, "", "")),
        ("socks5h://[::1]:9050", ("socks5", "::1", 9050, "", "")),
        ("http://me:p%40s%3As@a.org:1", ("http", "a.org", 1, "me", "p@s:s")),
        ("http://me:a:b@c@a.org:1", ("http", "a.org", 1, "me", "a:b@c")),
        ("http://me@a.org:1", ("http", "a.org", 1, "me", "")),
    ],
)
def test_an_address_has_its_parts(text, parts):
    found = read_proxy_address(text)

    assert found is not None
    assert (found.scheme, found.host, found.port, found.user, found.password.reveal()) == parts
    assert "p@s" not in repr(found)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "proxy:3128",
            "ftp://a.org:1",
            "http://a.org:0",
            "http://a.org:99999",
            "http://a b:1",
        ),
        *("http://a.org:1/x", "http://:1", "socks4://a.org:1", "http://a.org:1\nX: y"),
        "http://\u0131.org:1",
    ],
)
def test_what_else_there_is_is_none(text):
    assert read_proxy_address(text) is None
