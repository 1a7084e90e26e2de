"""Entries of what is read for logins and proxies: `cookies.txt`, addresses of proxies, hosts."""

from __future__ import annotations

from recrawl.errors import FetchFailed, InvalidInput
from recrawl.fetch.http.proxies import check_target
from recrawl.parse.cookies import cookie_header, read_cookies
from recrawl.parse.proxy_addresses import read_proxy_address
from tests.fuzz.checks import as_lines, as_text
from tests.fuzz.parser import Parser

_HOST = "a.example.org"
_NOW = 1_800_000_000.0


def _read_cookies(data: bytes) -> None:
    """What is sent is one line of ASCII, to the host of the cookie alone; errors quote nothing."""
    text = as_text(data)
    try:
        found = read_cookies(text, _HOST)
    except InvalidInput as error:
        said = str(error)
        fields = [field for field in text.replace("\n", "\t").split("\t") if len(field) > 60]
        assert not any(field in said for field in fields)
        raise
    assert all(each.is_for_host(_HOST) for each in found)
    assert cookie_header(found, "https://other.org/", _NOW) is None
    sent = cookie_header(found, f"https://{_HOST}/x/y?z", _NOW)
    if sent is not None:
        assert sent.reveal().isascii()
        assert sent.reveal().isprintable()
    if found:
        assert all(
            each.value.reveal() not in repr(found) or len(each.value.reveal()) < 20
            for each in found
        )


def _read_proxies(data: bytes) -> None:
    for text in as_lines(data):
        found = read_proxy_address(text)
        if found is not None:
            assert found.scheme in {"http", "https", "socks5"}
            assert 0 < found.port < 1 << 16
            assert found.host.isascii()
            assert "@" not in found.label


def _read_targets(data: bytes) -> None:
    """Whoever may be asked for without `local` may be with it."""
    for host in data.decode("latin-1").split("\n"):
        try:
            check_target(host, local=True)
        except FetchFailed:
            try:
                check_target(host, local=False)
            except FetchFailed:
                continue
            raise AssertionError(host) from None


PARSERS = (
    Parser(
        "cookies",
        _read_cookies,
        seeds=(
            b"# Netscape Cookie File\r\n\r\n#HttpOnly_.example.org\tTRUE\t/\tTRUE\t0\ts\tv\r\n",
            b"\xef\xbb\xbfa.example.org\tFALSE\t/x\tFALSE\t1900000000.5\tname\tvalue with = in it",
            b".example.org\tTRUE\t/x/\tTRUE\t1\told\t\na.example.org\tFALSE\t/\tFALSE\t0\tempty",
            b"other.org\tTRUE\t/\tFALSE\t-1\t\xc3\xa4\t;",
            b"a.example.org\tFALSE\t/\tFALSE\t0\tk\ta;b",
            b"a.example.org\tyes\t/\tFALSE\t0\tk\tv",
            b"a.example.org\tFALSE\tx\tFALSE\t0\tk\tv",
            b"a.example.org\tFALSE\t/\tFALSE\tsoon\tk\tv",
            b"session=abc",
        ),
        once=(b"".join(b".example.org\tTRUE\t/\tTRUE\t0\tk%d\tv\n" % n for n in range(2000)),),
        modules=("recrawl.parse.cookies",),
        tokens=(b"\t", b"TRUE", b"FALSE", b"#HttpOnly_", b"\r\n", b"/", b".", b"0", b"1e9", b"\0"),
        raises=(InvalidInput,),
    ),
    Parser(
        "proxies",
        _read_proxies,
        seeds=(
            b"http://proxy.example.org:3128\nhttps://me:p%40s@a:1/\nsocks5h://[::1]:9050",
            b"socks5://127.0.0.1\nhttp://a:0\nhttp://a:99999\nhttp://me:a@b@c:1\nftp://a:1",
        ),
        modules=("recrawl.parse.proxy_addresses",),
        tokens=(b"http://", b"socks5://", b"@", b":", b"[", b"]", b"%40", b"/", b"65536"),
    ),
    Parser(
        "proxy targets",
        _read_targets,
        seeds=(
            b"example.org\nlocalhost\na.internal.\nmetadata.google.internal\nrouter\n10.0.0.1",
            b"::1\n169.254.169.254\n2606:4700::1111\n93.184.215.14\n1.2.3\na.1\n.\n",
        ),
        modules=("recrawl.fetch.http.proxies:check_target",),
        tokens=(b".", b":", b"localhost", b"internal", b"local", b"127", b"0x7f", b"\n"),
    ),
)
