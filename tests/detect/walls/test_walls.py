"""Answers that say nothing of their page, and pages that only speak of such answers."""
# ruff: noqa: E501, RUF001 # titles stand in rows; letters of other scripts are meant

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.text.lines import lines
from recrawl.detect.walls.walls import detect_wall
from tests.detect.corpus import LANGUAGES, page, written

MENU = "".join(f"<li><a href=/{name}>{name}</a></li>" for name in ("Home", "Shop", "News", "Help"))
ARTICLE = "<p>The captcha is a test that tells people from programs; a 404 page is shown. </p>" * 70


def wall(body, status=200, **headers):
    return detect_wall(status, headers, lines(body), body)


def titled(title, text=""):
    return f"<title>{title}</title><nav>{MENU}</nav><h1>{title}</h1><p>{text}</p>"


@pytest.mark.parametrize(
    "body",
    [
        (
            "<title>Just a moment...</title><script>window._cf_chl_opt={}</script>"
            "<h1>shop.example</h1><p>Checking if the site connection is secure</p>"
        ),
        (
            "<title>Attention Required! | Cloudflare</title><div class=cf-error-details>Sorry, you have"
            " been blocked</div>"
        ),
        (
            "<title>Access Denied</title><h1>Access Denied</h1>You don't have permission to access this"
            " on this server.<p>Reference #18.2d3&#46;1<p>https://errors.edgesuite.net/18.2d"
        ),
        (
            "<html><head><script src='/_Incapsula_Resource?SWJIYLWA=1'></script></head><body><iframe"
            " id=main-iframe></iframe>Request unsuccessful. Incapsula incident ID: 12-34</body></html>"
        ),
        (
            "<p id=cmsg>Please enable JS and disable any ad blocker</p><script>var dd={'rt':'c'}"
            "</script><script src='https://ct.captcha-delivery.com/c.js'></script>"
        ),
        "<title>Access to this page has been denied</title><div id=px-captcha></div>Press & Hold",
        "<title>Robot Check</title><form action=/errors/validateCaptcha>Type the characters</form>",
        (
            "<title>Pardon Our Interruption</title><p>Something about your browser made us think you"
            " were a bot."
        ),
        "<title>Security check</title><div class='g-recaptcha' data-sitekey=x></div>",
        "<p>Our systems have detected unusual traffic from your computer network.",
        "<title>Making sure you're not a bot!</title><p>Loading...",
        "<title>安全验证</title><p>请完成安全验证后继续访问",
        "<title>Доступ ограничен</title><p>Подтвердите, что вы не робот",
    ],
)
def test_challenges_to_robots_are_walls(body):
    assert wall(body) == "bot"


def test_a_header_may_tell_of_a_challenge():
    assert wall(ARTICLE, **{"cf-mitigated": "challenge"}) == "bot"


@pytest.mark.parametrize(
    "body",
    [
        (
            "<title>Before you continue to Search</title><form action='https://consent.google.com/save'>"
            "<p>We use cookies and data to deliver services</p><button>Accept all</button></form>"
        ),
        "<title>Bevor Sie fortfahren</title><p>Wir verwenden Cookies</p><button>Alle akzeptieren",
        (
            "<title>Yahoo</title><form action='/v2/collectConsent?sessionId=1' method=post>"
            "<p>Yahoo is part of a family of brands. We and our partners use cookies</p></form>"
        ),
        "<title>Avant de continuer</title><p>Nous utilisons des cookies",
    ],
)
def test_requests_for_consent_are_walls(body):
    assert wall(body) == "consent"


@pytest.mark.parametrize(
    "title",
    [
        *("Page not found", "404", "404 Not Found", "Error 404", "Oops! Page not found | Shop"),
        *("Shop – 404 - Page Not Found", "This page does not exist", "Seite nicht gefunden - Laden"),
        *("Page introuvable", "Página no encontrada", "Pagina non trovata", "Página não encontrada"),
        *("Pagina niet gevonden", "Страница не найдена", "Ошибка 404", "Nie znaleziono strony"),
        *("Sidan hittades inte", "Sayfa bulunamadı", "Stránka nenalezena", "Az oldal nem található"),
        *("ページが見つかりません", "お探しのページは見つかりませんでした", "页面不存在", "找不到网页"),
        *("페이지를 찾을 수 없습니다", "الصفحة غير موجودة", "Η σελίδα δεν βρέθηκε"),
    ],
)  # fmt: skip
def test_missing_pages_that_say_200_are_walls(title):
    assert wall(titled(title, "Try the search.")) == "soft-404"


@pytest.mark.parametrize(
    "body",
    [
        "<title>503 Service Unavailable</title><h1>Service Unavailable</h1>",
        "<h1>Error establishing a database connection</h1>",
        "<title>Database Error</title><h1>Error establishing a database connection</h1>",
        (
            "<br /><b>Fatal error</b>: Uncaught Error: Call to undefined function f() in"
            " /var/www/x.php:3 thrown in <b>/var/www/x.php</b> on line <b>3</b><br />"
        ),
        (
            "<title>Welcome to nginx!</title><h1>Welcome to nginx!</h1><p>If you see this page, the"
            " nginx web server is successfully installed and working."
        ),
        (
            "<title>ValueError at /</title><p>You're seeing this error because you have"
            " <code>DEBUG = True</code> in your settings"
        ),
        "<p>Briefly unavailable for scheduled maintenance. Check back in a minute.</p>",
        "<title>Site maintenance</title><h1>We'll be back soon!</h1>",
        "<title>Wartungsarbeiten</title>Wir sind gleich wieder da",
        "<title>Сервис временно недоступен</title>",
        "<title>メンテナンス中</title>",
        "<title>502 Bad Gateway</title><hr>nginx",
    ],
)
def test_errors_that_say_200_are_walls(body):
    assert wall(body) == "error"


@pytest.mark.parametrize("title", ["Log in", "Anmelden | Forum", "Connexion", "ログイン", "Вход"])
def test_logins_are_walls(title):
    form = "<form><input name=u><input type=password name=p><button>OK</button></form>"

    assert wall(f"<title>{title}</title>{form}") == "login"
    assert wall(f"<title>{title}</title><p>How to do it.") == ""


@pytest.mark.parametrize("body", ["", "<div id=root></div><script src=a.js></script>", "<!-- -->"])
def test_a_page_with_nothing_to_read_is_empty(body):
    assert wall(body) == "empty"


@pytest.mark.parametrize(
    "body",
    [
        f"<title>What is a captcha?</title>{ARTICLE}",
        f"<title>Page not found: the art of the 404 page</title>{ARTICLE}",
        f"<title>404 Not Found</title>{ARTICLE}",
        f"<title>Access Denied</title>{ARTICLE}",
        titled("Ten ways to fix Error 404", "Here is how to do that, step by step."),
        titled("Peugeot 404", "A car made from 1960 on."),
        titled("Maintenance of bicycles", "Oil the chain."),
        titled("Maintenance", "Oil the chain and look after the brakes."),
        titled("How to log in", "Press the button. <input type=password>"),
        titled("News", "The service is unavailable to people who live abroad, they said."),
        titled("News", "We use cookies. <button>OK</button>"),
        titled("Login", "The history of the word."),
        f"<title>Shop</title>{ARTICLE}<script>/cdn-cgi/challenge-platform/</script>",
        f"<title>Contact</title>{ARTICLE}<div class='g-recaptcha'></div>",
        f"<div class=banner><form action=https://consent.google.com/x></form></div>{ARTICLE}",
        "<p>Sold out</p>",
        titled("Contact", "Name, address, message. <div class='g-recaptcha'></div>"),
        titled(
            "Tea", "Five euros. <script src='https://www.google.com/recaptcha/api.js'></script>"
        ),
        titled("Tea", "Five euros. <script>window._pxAppId = 1; _Incapsula_Resource</script>"),
        "<title>页面</title><p>介绍",
    ],
)
def test_pages_about_walls_are_pages(body):
    assert wall(body) == ""


@pytest.mark.parametrize("language", LANGUAGES)
def test_ordinary_pages_are_no_walls(language):
    for seed in range(20):
        assert wall(written(page(language, seed))) == ""


@given(st.text(max_size=200), st.integers(100, 599))
def test_any_page_is_told_of_without_fail(body, status):
    names = ("", "bot", "consent", "soft-404", "error", "login", "empty")

    assert detect_wall(status, {}, lines(body), body) in names


def test_a_large_page_is_looked_at_briefly():
    chance = random.Random(1)  # noqa: S311 # chance need not be secret
    many = tuple(f"line {chance.random()}" for _ in range(100_000))

    assert detect_wall(200, {}, many, "x" * 10_000_000) == ""
