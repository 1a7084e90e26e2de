import pytest

from recrawl.errors import InvalidSettings
from recrawl.settings.access_keys import ACCESS, NETWORK, NO_ACCESS_RULE, AccessRule
from recrawl.settings.settings import read_settings
from recrawl.units import days

TOP = 'agent = "bot (me@example.org)"\n'
HIDDEN = "hunter2hunter2"
SECOND = 1 / 86_400


def read(*lines, top=""):
    block = ["[[site]]", 'address = "https://example.org/"', *lines]
    return read_settings("\n".join([TOP, top, *block]))


def refusal(*lines):
    with pytest.raises(InvalidSettings) as raised:
        read(*lines)
    return str(raised.value)


def test_a_block_with_every_key():
    (rule,) = read(
        'headers = { "Accept-Language" = "de", "X-Api-Key" = "env:KEY" }',
        'cookies = "cookies.txt"',
        'user = "crawler"',
        'password = "file:password.txt"',
        'proxy = "socks5://127.0.0.1:1080"',
        'ca = "company.pem"',
        'delay = "5s"',
        'timeout = "2m"',
        'page_size = "50MB"',
    ).rules

    assert rule.access == AccessRule(
        headers=(("Accept-Language", "de"), ("X-Api-Key", "env:KEY")),
        cookies="cookies.txt",
        user="crawler",
        password="file:password.txt",
        proxy="socks5://127.0.0.1:1080",
        ca="company.pem",
        delay=5 * SECOND,
        timeout=days("2m"),
        page_size=50 << 20,
    )


def test_a_block_without_them_is_asked_for_as_all_others():
    settings = read()

    assert settings.rules[0].access == NO_ACCESS_RULE
    assert (settings.proxy, settings.ca, dict(settings.delays)) == ("none", "", {})


def test_a_proxy_and_certificates_for_all():
    settings = read(top='[network]\nproxy = "environment"\nca = "company.pem"')

    assert (settings.proxy, settings.ca) == ("environment", "company.pem")


def test_a_host_has_the_longest_delay_that_its_blocks_ask_for():
    other = ["[[page]]", 'address = "https://example.org/a"', 'delay = "9s"']

    assert dict(read('delay = "5s"', *other).delays) == {"example.org": 9 * SECOND}


def test_there_are_few_keys():
    assert len(ACCESS) == 10
    assert set(NETWORK) < set(ACCESS)


SECRETS = {
    f'password = "{HIDDEN}"': "password must be env:NAME or file:PATH, which say where it is, "
    "never the password itself",
    f'token = "{HIDDEN}"': "token must be env:NAME or file:PATH, which say where it is, never the "
    "token itself",
    f'headers = {{ Authorization = "Bearer {HIDDEN}" }}': "headers: Authorization may hold a "
    "secret, so it must be env:NAME or file:PATH, which say where it is, never the secret itself",
    f'headers = {{ X-Api-Key = "{HIDDEN}" }}': "headers: X-Api-Key may hold a secret, so it must "
    "be env:NAME or file:PATH, which say where it is, never the secret itself",
    f'headers = "{HIDDEN}"': "headers must be a table of at most 50 texts such as "
    '{ "Accept-Language" = "de" }',
    f'cookies = "session={HIDDEN}"': "cookies must be the name of a file such as cookies.txt",
    f'user = "me:{HIDDEN}"': "user must be a name without a colon",
    f'proxy = "http://me:{HIDDEN}@a.org:3128"': "proxy must not hold a user name or a password; "
    "put the whole address where env:NAME or file:PATH leads",
    f'proxy = "{HIDDEN}"': "proxy must be an address such as http://proxy.example.org:3128 or "
    "socks5://127.0.0.1:1080 without a password, env:NAME or file:PATH where one with a password "
    "is, environment, or none",
}


@pytest.mark.parametrize("line", SECRETS)
def test_a_secret_in_the_settings_is_refused_and_not_repeated(line):
    said = refusal(line)

    assert said == f"recrawl.toml, line 6: {SECRETS[line]}"
    assert HIDDEN not in said


@pytest.mark.parametrize(
    "line",
    [
        f"password = {HIDDEN}",
        f"token = {HIDDEN}",
        f'headers = {{ "X" = "{HIDDEN}',
        f'[site.headers]\nX = "{HIDDEN}',
        f"proxy = http://me:{HIDDEN}@a.org",
        f"watch = https://me:{HIDDEN}@a.org/",
    ],
)
def test_a_line_that_is_no_toml_is_not_shown_where_it_may_hold_a_secret(line):
    said = refusal(line, "links = 1")

    assert HIDDEN not in said
    assert said.endswith("(got a line that may hold a secret)")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['user = "me"'], "user needs password, too (got none)"),
        (['password = "env:P"'], "password needs user, too (got none)"),
        (
            ['user = "me"', 'password = "env:P"', 'token = "env:T"'],
            "token excludes user and password",
        ),
        (
            ['headers = { authorization = "env:A" }', 'token = "env:T"'],
            "headers with Authorization exclude token, user and password",
        ),
        (
            ['headers = { Cookie = "env:C" }', 'cookies = "cookies.txt"'],
            "headers with Cookie exclude cookies",
        ),
        (['headers = { Host = "a" }'], "headers must not have Host, which is sent as it must be"),
        (['headers = { "A B" = "a" }'], "headers must have different names of letters, digits"),
        (['headers = { a = "1", A = "2" }'], "headers must have different names of letters, digit"),
        (['headers = { X = "a\\nHost: b" }'], "headers: X must be a text in one line of plain AS"),
        (['headers = { X = "env:" }'], "headers: X must be env:NAME or file:PATH, which say where"),
        (['timeout = "2h"'], 'timeout must be a time from 1s to 1h such as 60s (got "2h")'),
        (['page_size = "1GB"'], 'page_size must be a size from 1KB to 64MB such as 20MB (got "1'),
        (['delay = "fast"'], 'delay must be a time such as 1s (got "fast")'),
    ],
)
def test_what_is_wrong_is_told(lines, said):
    assert said in refusal(*lines)


@pytest.mark.parametrize(
    "address",
    [
        f"http://me:{HIDDEN}@example.org/",
        f"https://{HIDDEN}@example.org/",
        f"http:me:{HIDDEN}@example.org/",
        f"http:\\\\\\\\me:{HIDDEN}@example.org/",
        f"http://me:{HIDDEN}/@example.org/",
        f"http://me:{10 * HIDDEN}@example.org/",
        f"http://me:{HIDDEN}@ex ample.org/",
    ],
)
@pytest.mark.parametrize("block", ["site", "page", "webhook", "listing"])
def test_an_address_with_a_password_is_refused_and_not_repeated(block, address):
    with pytest.raises(InvalidSettings) as raised:
        read_settings(f'{TOP}[[{block}]]\naddress = "{address}"\n')

    assert "address must not hold a user name or a password; a [[site]] has" in str(raised.value)
    assert HIDDEN not in str(raised.value)


def test_an_address_with_an_at_sign_elsewhere_is_fine():
    (rule,) = read_settings(f'{TOP}[[page]]\naddress = "https://a.org:81/@me:b/c@d?e@f"').rules

    assert rule.address == "https://a.org:81/@me:b/c@d?e@f"


def test_a_proxy_that_is_a_list_is_refused():
    with pytest.raises(InvalidSettings, match="proxy must be an address"):
        read('proxy = ["none"]')
