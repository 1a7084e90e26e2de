"""Cookies of a `cookies.txt` are sent where browsers would send them, and nowhere else."""

import http.cookiejar
import urllib.request

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidInput
from recrawl.parse.cookies import cookie_header, host_name, read_cookies

NOW = 1_800_000_000.0
HIDDEN = "hunter2hunter2"


def line(domain="a.org", subdomains="FALSE", path="/", secure="FALSE", expires="0", name="k"):
    fields = [domain, subdomains, path, secure, expires, name, HIDDEN]
    return "\t".join(fields)


def sent(text, address, now=NOW):
    found = cookie_header(read_cookies(text, host_name(address)), address, now)
    return None if found is None else found.reveal()


@pytest.mark.parametrize(
    ("text", "address", "is_sent"),
    [
        (line(), "http://a.org/", True),
        (line(), "http://a.org:8080/x?y", True),
        (line(), "http://b.a.org/", False),
        (line(".a.org", "TRUE"), "http://b.a.org/", True),
        (line("a.org", "TRUE"), "http://a.org/", True),
        (line(".a.org", "TRUE"), "http://ba.org/", False),
        (line(".a.org", "TRUE"), "http://a.org.evil.com/", False),
        (line(path="/x"), "http://a.org/x", True),
        (line(path="/x"), "http://a.org/x/y", True),
        (line(path="/x/"), "http://a.org/x/y", True),
        (line(path="/x"), "http://a.org/xy", False),
        (line(path="/x"), "http://a.org/", False),
        (line(secure="TRUE"), "http://a.org/", False),
        (line(secure="TRUE"), "https://a.org/", True),
        (line(expires=str(int(NOW) + 1)), "http://a.org/", True),
        (line(expires=str(int(NOW))), "http://a.org/", False),
        (line(expires="1.5"), "http://a.org/", False),
        (line("127.0.0.1"), "http://127.0.0.1:9/", True),
        (line("[::1]"), "http://[::1]:9/", True),
        ("#HttpOnly_" + line(), "http://a.org/", True),
        ("# " + line(), "http://a.org/", False),
        ("\ufeff# Netscape HTTP Cookie File\r\n\r\n" + line() + "\r\n", "http://a.org/", True),
    ],
)
def test_a_cookie_goes_where_it_belongs(text, address, is_sent):
    assert sent(text, address) == (f"k={HIDDEN}" if is_sent else None)


def test_longer_paths_come_first_and_the_last_line_of_a_name_counts():
    text = (
        "a.org\tFALSE\t/\tFALSE\t0\tk\told\n"
        "a.org\tFALSE\t/\tFALSE\t0\tk\tnew\n"
        "a.org\tFALSE\t/x\tFALSE\t0\tdeep\t1\n"
        "a.org\tFALSE\t/\tFALSE\t0\tempty\n"
    )

    assert sent(text, "http://a.org/x") == "deep=1; k=new; empty="


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"session={HIDDEN}", "line 1: a cookie has 7 fields between tabs, not 1"),
        (line(subdomains=HIDDEN), "line 1: the second and the fourth field are TRUE or FALSE"),
        (line(path=HIDDEN), "line 1: the third field is a path, which begins with /"),
        (line() + "\n" + line(expires=HIDDEN), "line 2: the fifth field is the time of expiry"),
        (line(name="a\rb"), "line 1: the name or the value has characters that cookies"),
        (line() + "; x=1", "line 1: the name or the value has characters that cookies"),
        (line(name="ä"), "line 1: the name or the value has characters that cookies"),
    ],
)
def test_what_is_wrong_is_said_without_a_letter_of_it(text, said):
    with pytest.raises(InvalidInput) as raised:
        read_cookies(text, "a.org")

    assert str(raised.value).startswith(said)
    assert HIDDEN not in str(raised.value)


def test_odd_cookies_of_other_sites_are_not_looked_at():
    assert read_cookies(line("b.org", name="ä ö"), "a.org") == ()


def test_nobody_has_ten_thousand_cookies():
    text = "\n".join(line(name=f"k{number}") for number in range(10_000))

    with pytest.raises(InvalidInput, match="at most 1,000 cookies"):
        read_cookies(text, "a.org")


_domains = st.sampled_from(["a.org", ".a.org", "b.a.org", ".b.a.org", "c.org"])
_flags = st.sampled_from(["TRUE", "FALSE"])
_paths = st.sampled_from(["/", "/x", "/x/", "/x/y", "/xy"])
_addresses = st.builds(
    "{}://{}{}".format,
    st.sampled_from(["http", "https"]),
    st.sampled_from(["a.org", "b.a.org", "z.b.a.org", "c.org"]),
    st.sampled_from(["/", "/x", "/x/", "/x/y", "/xy", "/x/y/z?q"]),
)


@given(_domains, _paths, _flags, _addresses)
def test_the_standard_library_sends_the_same(domain, path, secure, address):
    """`http.cookiejar` wants the flag of subdomains to say what the leading dot does."""
    subdomains = "TRUE" if domain.startswith(".") else "FALSE"
    text = line(domain, subdomains, path, secure, "4000000000")
    policy = http.cookiejar.DefaultCookiePolicy
    jar = http.cookiejar.CookieJar(policy(strict_ns_domain=policy.DomainStrictNonDomain))
    jar.set_cookie(
        http.cookiejar.Cookie(
            version=0,
            name="k",
            value=HIDDEN,
            port=None,
            port_specified=False,
            domain=domain,
            domain_specified=subdomains == "TRUE",
            domain_initial_dot=domain.startswith("."),
            path=path,
            path_specified=True,
            secure=secure == "TRUE",
            expires=4_000_000_000,
            discard=False,
            comment=None,
            comment_url=None,
            rest={},
        )
    )
    request = urllib.request.Request(address)  # noqa: S310 - it is not made
    jar.add_cookie_header(request)

    assert sent(text, address) == request.get_header("Cookie")
