"""Empty JavaScript shells, and short pages that are none."""

import re
from importlib.util import find_spec
from pathlib import Path

import markdown  # type: ignore[import-untyped] # ships no types
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.shells import is_shell
from recrawl.detect.text.lines import lines

DOCS = Path(__file__).parents[2] / "docs"
SCRIPT = '<script src="/a.js"></script>'
PLEA = "<noscript>You need to enable JavaScript to run this app.</noscript>"


def judged(page):
    return is_shell(page, lines(page))


@pytest.mark.parametrize(
    "body",
    [
        f'{PLEA}<div id="root"></div>{SCRIPT}',
        f"<div id=root></div>{SCRIPT}",
        f'<div id="app"><!-- built files will be injected --></div>{SCRIPT}',
        (
            "<noscript><strong>We're sorry but it doesn't work properly without JavaScript enabled."
            f"</strong></noscript><div id=app></div>{SCRIPT}"
        ),
        '<app-root></app-root><script src="main.js" type="module"></script>',
        '<app-root>Loading...</app-root><script src="main.js" type="module"></script>',
        '<div id="__next"><div class="spinner"></div></div><script src="/_next/a.js"></script>',
        '<div id="__nuxt"></div><script>window.__NUXT__={}</script>',
        f'{PLEA}<div id="___gatsby"></div>{SCRIPT}',
        '<div style="display: contents"><script>import("/_app/start.js")</script></div>',
        '<script src="/assets/vendor.js"></script><script src="/assets/shop.js"></script>',
        '<script src="flutter_bootstrap.js" async></script>',
        f'<div id="root"></div><footer>(c) 2026 Tea Ltd. All rights reserved.</footer>{SCRIPT}',
        f"{PLEA}<p>Loading...</p>{SCRIPT}",
    ],
)
@pytest.mark.parametrize("title", ["", "<title>Tea shop: teas of Japan, India and China</title>"])
def test_a_shell_is_told(body, title):
    assert judged(f"<!doctype html><html><head>{title}</head><body>{body}</body></html>")


@pytest.mark.parametrize(
    "body",
    [
        f"<p>We are closed today.</p>{SCRIPT}",
        f"<h1>Gone fishing</h1>{SCRIPT}<noscript><img src=/pixel.gif></noscript>",
        f'<div id="root"><h1>Tea house</h1><p>We sell tea from Uji and Assam.</div>{SCRIPT}',
        f"<img src=/poster.png>{SCRIPT}",
        f"<svg><circle r=3 /></svg>{SCRIPT}",
        f'<meta http-equiv="refresh" content="0; url=/en/">{SCRIPT}',
        f"<form><input name=q></form>{SCRIPT}",
        "",
        '<div id="root"></div>',
        (
            f"{PLEA}<h1>Opening hours</h1><p>Monday to Friday from nine to five, on no holiday.</p>"
            f"<p>On Saturdays from ten to two.</p>{SCRIPT}"
        ),
    ],
)
def test_a_short_page_is_none(body):
    assert not judged(f"<title>Tea</title>{body}")


def test_shells_of_others_are_told():
    """Programs with a user interface of their own, as they were built for release."""
    spec = find_spec("playwright")
    assert spec is not None
    assert spec.origin is not None
    pages = Path(spec.origin).parent.glob("driver/package/lib/vite/*/*.html")
    texts = {path.name: path.read_text() for path in pages}
    texts.pop("snapshot.html")  # only a frame around another page

    assert len(texts) >= 2
    assert all(map(judged, texts.values()))


def test_documentation_is_none():
    """Neither whole pages nor their sections, beside scripts and a plea for JavaScript."""
    sections = [
        section
        for path in DOCS.rglob("*.md")
        for section in re.split(r"^(?=#)", path.read_text(), flags=re.MULTILINE)
        if len(section) > 120
    ]
    assert len(sections) > 300
    wrong = [
        section
        for section in sections
        if judged(f"<title>recrawl</title>{PLEA}{markdown.markdown(section)}{SCRIPT}")
    ]

    assert wrong == []


@given(st.text(max_size=200))
def test_any_text_is_judged(text):
    assert judged(text) in {True, False}
