"""Which address is asked for how, and what is said where a secret is not to be had."""

import asyncio
import ssl
import traceback

import pytest
import trustme

from recrawl.errors import InvalidSettings, MissingExtra
from recrawl.fetch import access as module
from recrawl.fetch.access import NO_ACCESS, Access, AccessTable
from recrawl.fetch.fetcher import RequestLimits
from recrawl.fetch.http.client import HttpFetcher
from recrawl.parse.messages import Request
from recrawl.settings.access_keys import AccessRule
from recrawl.settings.rules import Rule
from recrawl.settings.settings import Settings
from tests.servers.faults import FaultServer

HIDDEN = "hunter2hunter2"
AGENT = "bot (me@example.org)"
COOKIES = f"a.org\tFALSE\t/\tFALSE\t0\tsession\t{HIDDEN}\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("WORD", HIDDEN)
    monkeypatch.setenv("OTHER", "another-secret")
    (tmp_path / "word.txt").write_text(f"{HIDDEN}\n")
    (tmp_path / "cookies.txt").write_text(COOKIES)
    return tmp_path


def table(folder, *blocks, **more):
    """How blocks are asked for: an address each, whether it is a page, and its keys."""
    rules = tuple(
        Rule(address, exact=exact, access=AccessRule(**keys)) for address, exact, keys in blocks
    )
    return AccessTable(Settings(AGENT, rules=rules, **more), folder)


def sent(access):
    return {name: secret.reveal() for name, secret in access.headers}


def test_each_kind_of_login_is_a_header(folder):
    named = {"X-Key": "file:word.txt", "Accept-Language": "de"}
    asked = table(
        folder,
        ("https://a.org/", False, {"user": "me", "password": "env:WORD"}),
        ("https://b.org/", False, {"token": "file:word.txt"}),
        ("https://c.org/", False, {"headers": tuple(named.items())}),
        ("http://a.org/", False, {"cookies": "cookies.txt"}),
    )

    # As RFC 7617 has it: base64 of "me:hunter2hunter2".
    basic = {"Authorization": "Basic bWU6aHVudGVyMmh1bnRlcjI="}
    assert sent(asked.of("https://a.org/x")) == basic
    assert sent(asked.of("https://b.org/x")) == {"Authorization": f"Bearer {HIDDEN}"}
    assert sent(asked.of("https://c.org/x")) == {"X-Key": HIDDEN, "Accept-Language": "de"}
    assert sent(asked.of("http://a.org/x")) == {"Cookie": f"session={HIDDEN}"}
    assert HIDDEN not in repr([asked.of("https://b.org/x"), asked])


ORIGINS = ["http://a.org/", "https://a.org:444/", "https://b.a.org/", "https://a.org.evil.com/"]


@pytest.mark.parametrize("address", ORIGINS)
def test_no_other_origin_gets_anything(folder, address):
    asked = table(folder, ("https://a.org/", False, {"token": "env:WORD"}))

    assert asked.of(address) == NO_ACCESS


def test_what_no_block_holds_is_asked_for_as_the_first_of_its_origin(folder):
    """Its robots.txt and its sitemaps are seldom under the address of a block."""
    asked = table(
        folder,
        ("https://a.org/x/", False, {"token": "env:WORD"}),
        ("https://a.org/y/", False, {"token": "env:OTHER"}),
        ("https://a.org/open/", False, {}),
    )

    assert sent(asked.of("https://a.org/robots.txt"))["Authorization"] == f"Bearer {HIDDEN}"
    assert sent(asked.of("https://a.org/y/1"))["Authorization"] == "Bearer another-secret"
    assert asked.of("https://a.org/open/1") == NO_ACCESS


def test_a_longer_address_has_what_it_says_and_else_what_is_above_it(folder):
    asked = table(
        folder,
        ("https://a.org/", False, {"token": "env:WORD", "timeout": 1.0}),
        ("https://a.org/slow", True, {"timeout": 2.0, "page_size": 5000}),
        ("https://a.org/other/", False, {"user": "me", "password": "env:OTHER"}),
    )

    slow, other = asked.of("https://a.org/slow"), asked.of("https://a.org/other/x")
    assert sent(slow) == sent(asked.of("https://a.org/")) == {"Authorization": f"Bearer {HIDDEN}"}
    assert (slow.timeout_seconds, slow.page_bytes) == (2 * 86_400, 5000)
    assert (other.timeout_seconds, other.page_bytes) == (86_400, None)
    assert sent(other)["Authorization"].startswith("Basic ")


def test_without_credentials_the_way_there_is_the_same(folder):
    proxied = {"proxy": "http://proxy.example:3128", "token": "env:WORD", "timeout": 1.0}
    asked = table(folder, ("https://a.org/", False, proxied)).of(
        "https://a.org/", credentials=False
    )

    assert (asked.headers, asked.hidden) == ((), ())
    assert asked.proxy is not None
    assert asked.timeout_seconds == 86_400


def test_limits_are_those_of_the_site(folder):
    keys = {"timeout": 300 / 86_400, "page_size": 1000}
    asked = table(folder, ("https://a.org/", False, keys)).of("https://a.org/")

    found = asked.limits(RequestLimits())

    assert (found.total_seconds, found.idle_seconds, found.connect_seconds) == (300.0, 300.0, 10.0)
    assert (found.raw_bytes, found.decoded_bytes) == (1000, 1000)
    assert NO_ACCESS.limits(RequestLimits()) == RequestLimits()


def test_what_a_host_repeats_is_hidden(folder):
    keys = {"user": "me", "password": "env:WORD", "headers": (("X-Key", "env:OTHER"),)}
    asked = table(folder, ("https://a.org/", False, keys)).of("https://a.org/")
    (basic,) = (text for name, text in sent(asked).items() if name == "Authorization")

    said = asked.hide(f"you: {HIDDEN}, {basic}, another-secret; me".encode())
    headers = asked.without_secrets({"x-sent": basic, "set-cookie": "a=b", "etag": '"1"'})

    assert said == b"you: (secret), Basic (secret), (secret); me"
    assert headers == {"x-sent": "Basic (secret)", "etag": '"1"'}


def test_parts_of_a_header_are_hidden_too(folder, monkeypatch):
    monkeypatch.setenv("LOGIN", "Bearer abcdefgh12345678")
    monkeypatch.setenv("JAR", "lang=de; session=0123456789abcdef")
    keys = {"headers": (("Authorization", "env:LOGIN"), ("Cookie", "env:JAR"))}
    asked = table(folder, ("https://a.org/", False, keys)).of("https://a.org/")

    said = asked.hide(b"de: abcdefgh12345678 and 0123456789abcdef, Bearer of tokens")

    assert said == b"de: (secret) and (secret), Bearer of tokens"


def test_short_words_stay_in_pages(folder, monkeypatch):
    """A page is not to lose every letter of a password that is none."""
    monkeypatch.setenv("WORD", "a")
    asked = table(folder, ("https://a.org/", False, {"user": "m", "password": "env:WORD"}))

    assert asked.of("https://a.org/").hide(b"a banana") == b"a banana"


# Proxies and certificates.


def test_a_proxy_of_all_holds_where_a_block_has_none(folder, monkeypatch):
    monkeypatch.setenv("PROXY", f"http://me:{HIDDEN}@proxy.example:8080")
    asked = table(
        folder,
        ("https://a.org/", False, {"proxy": "none"}),
        ("https://b.org/", False, {"proxy": "env:PROXY"}),
        proxy="socks5://127.0.0.1:1080",
    )

    anywhere, direct, own = (asked.of(f"https://{name}.org/").proxy for name in "cab")
    assert anywhere is not None
    assert own is not None
    assert (anywhere.scheme, direct) == ("socks5", None)
    assert (own.label, own.user, own.password.reveal()) == ("proxy.example:8080", "me", HIDDEN)
    assert HIDDEN not in repr(own)
    assert asked.of("https://d.org/").proxy is anywhere  # and so are its connections


def test_the_environment_names_proxies_only_where_the_settings_say_so(folder, monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("https_proxy", f"http://me:{HIDDEN}@secure.example:3128/")
    monkeypatch.setenv("all_proxy", "plain.example:3129")
    monkeypatch.setenv("no_proxy", "b.org,.c.org:8443")

    asked = table(folder, proxy="environment")

    def of(address):
        found = asked.of(address).proxy
        return found and found.label

    assert of("https://a.org/") == "secure.example:3128"
    assert of("http://a.org/") == "plain.example:3129"
    assert of("https://b.org/") is None
    assert of("https://x.c.org:8443/") is None
    assert of("https://x.c.org/") == "secure.example:3128"
    assert table(folder).of("https://a.org/").proxy is None


def test_certificates_of_a_file_are_trusted_besides_the_system_s(folder):
    trustme.CA().cert_pem.write_to_path(folder / "ca.pem")
    asked = table(
        folder,
        ("https://a.org/", False, {"ca": "ca.pem"}),
        ("https://b.org/", False, {"ca": "ca.pem"}),
    )

    context = asked.of("https://a.org/").tls

    assert context is not None
    usual = ssl.create_default_context().cert_store_stats()["x509_ca"]
    assert context.cert_store_stats()["x509_ca"] == usual + 1
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert context is asked.of("https://b.org/").tls  # and so are its connections
    assert asked.of("https://c.org/").tls is None


# What is wrong.


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"token": "env:NOWHERE"}, "token env:NOWHERE: no such environment variable is set"),
        ({"token": "file:no.txt"}, "token file:no.txt: the file cannot be read (no such file or"),
        ({"token": "file:empty.txt"}, "token file:empty.txt: the file is empty"),
        ({"token": "file:long.txt"}, "token file:long.txt: the file has more than 4,096 bytes"),
        ({"token": "env:LINES"}, "token env:LINES: it must be one line of plain ASCII"),
        ({"headers": (("X-Key", "env:LINES"),)}, "X-Key env:LINES: it must be one line of plain"),
        ({"user": "me", "password": "env:NOWHERE"}, "password env:NOWHERE: no such environment"),
        ({"cookies": "no.txt"}, "no.txt cannot be read (no such file or directory)"),
        ({"cookies": "word.txt"}, "word.txt, line 1: a cookie has 7 fields between tabs, not 1"),
        ({"cookies": "huge.txt"}, "huge.txt has more than 1,048,576 bytes"),
        ({"cookies": "other.txt"}, "other.txt has no cookie for a.org"),
        ({"cookies": "latin.txt"}, "latin.txt is not UTF-8 text"),
        ({"ca": "word.txt"}, "word.txt is not a file of certificates that begin with -----BEGIN"),
        ({"ca": "no.pem"}, "no.pem cannot be read (no such file or directory)"),
        ({"proxy": "env:WORD"}, "proxy env:WORD: it must be an address such as http://proxy.exa"),
    ],
)
def test_a_secret_that_is_not_to_be_had_is_named_and_never_shown(folder, monkeypatch, keys, said):
    monkeypatch.setenv("LINES", f"{HIDDEN}\nHost: b.org")
    (folder / "empty.txt").write_text(" \n")
    (folder / "long.txt").write_text(HIDDEN * 1000)
    (folder / "huge.txt").write_text("#" * 2_000_000)
    (folder / "other.txt").write_text(COOKIES.replace("a.org", "b.org"))
    (folder / "latin.txt").write_bytes(f"{HIDDEN}\xe4".encode("latin-1"))

    with pytest.raises(InvalidSettings) as raised:
        table(folder, ("https://a.org/", False, keys))

    assert str(raised.value).startswith(f"https://a.org/: {said}")
    assert HIDDEN not in "".join(traceback.format_exception(raised.value))


def test_what_another_origin_lacks_is_told_when_it_is_asked_for(folder):
    """Without it no request may be made: it might take another way than the proxy's."""
    lacks = Rule("https://a.org/", access=AccessRule(token="env:NOWHERE"))
    has = Rule("https://b.org/", access=AccessRule(token="env:WORD"))
    asked = AccessTable(Settings(AGENT, rules=(lacks, has)), folder, ["https://b.org/x"])

    assert sent(asked.of("https://b.org/x")) == {"Authorization": f"Bearer {HIDDEN}"}
    assert asked.of("https://a.org/y") == Access(
        problem="https://a.org/: token env:NOWHERE: no such environment variable is set"
    )
    with pytest.raises(InvalidSettings, match="NOWHERE"):
        AccessTable(Settings(AGENT, rules=(lacks, has)), folder, ["https://a.org/y"])


def test_no_request_is_made_without_what_it_needs(folder):
    async def fetched(address):
        rules = (Rule(address, local=True, access=AccessRule(token="env:NOWHERE")),)
        fetcher = HttpFetcher(AGENT, access=AccessTable(Settings(AGENT, rules=rules), folder, []))
        response = await fetcher.fetch(Request(address, local=True))
        await fetcher.close()
        return response

    with FaultServer().in_thread() as server:
        response = asyncio.run(fetched(server.address("/")))

        assert (response.problem, server.requests) == ("unreachable", [])
    assert response.detail.endswith("no such environment variable is set")


def test_an_environment_that_names_no_proxy_is_named_without_what_it_holds(folder, monkeypatch):
    monkeypatch.setenv("https_proxy", f"http://me:{HIDDEN}@a b")

    with pytest.raises(
        InvalidSettings, match="https_proxy is not the address of a proxy"
    ) as raised:
        table(folder, proxy="environment")

    assert HIDDEN not in str(raised.value)


def test_without_the_extra_one_sentence_says_what_to_install(folder, monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)

    with pytest.raises(MissingExtra) as raised:
        table(folder, proxy="socks5://127.0.0.1:1080")

    said = (
        "a socks5 proxy needs an optional package: pip install '.[socks]' in the clone of recrawl"
    )
    assert str(raised.value) == said


def test_cookies_that_have_expired_are_told_of_and_no_longer_sent(folder):
    (folder / "old.txt").write_text(COOKIES.replace("\t0\t", "\t1000\t"))
    asked = table(folder, ("http://a.org/", False, {"cookies": "old.txt"}))

    assert list(asked.expired()) == ["old.txt: all cookies for a.org have expired"]
    assert asked.of("http://a.org/").headers == ()
