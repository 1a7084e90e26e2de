"""Lists of other tools, as they write them."""

import io
import json
import zipfile

import pytest

from recrawl.errors import InvalidInput
from recrawl.parse.site_lists import MOST_BYTES, ListedAddress, read_site_list

OPML = b"""<?xml version="1.0" encoding="UTF-8"?>
<opml version="2.0"><head><title>Mine</title></head><body>
<outline text="News"><outline type="rss" text="A" xmlUrl="https://a.org/feed.xml"
 htmlUrl="https://a.org/blog"/></outline>
<outline type="rss" text="B" xmlUrl="https://b.org/rss?x=1&amp;y=2"/>
<outline text="a folder"/><outline text="C" xmlUrl="feed:nothing"/>
</body></opml>"""

URLWATCH = b"""name: Tea prices
url: https://a.org/tea
filter:
  - css: .price
  - html2text
  - xpath: //p
---
kind: browser
navigate: https://a.org/app
---
url: "https://a.org/old"
filter: css:#stock,html2text,grep:in stock
headers: {X-Key: secret}
---
command: rm -rf /
---
url: https://a.org/both
filter:
  - css: {selector: main, exclude: .ad}
  - element-by-id: list
"""

WATCHES = {
    "watching": {
        "1": {
            "url": "https://a.org/1",
            "include_filters": [".price", "xpath://p", "//h1", "json:$.a"],
            "subtractive_selectors": ["nav", "css:.advert"],
            "time_between_check_use_default": False,
            "method": "GET",
        },
        "2": {
            "url": "https://a.org/2",
            "fetch_backend": "html_webdriver",
            "browser_steps": [{"operation": "Click element", "selector": "#more"}],
            "trigger_text": ["sold out"],
            "headers": {"Cookie": "x"},
        },
        "3": {"url": "https://a.org/3", "paused": True},
        "4": {"url": "{% now %}"},
    }
}


def test_lines_may_have_comments_and_tags():
    found = read_site_list(
        b"\xef\xbb\xbf# mine\r\nhttps://a.org/x#top  tea, coffee\r\n\n"
        b"  HTTPS://B.org # the other\nhttps://a.org/x\nb.org\n"
    )

    assert found.kind == "addresses"
    assert found.entries == (ListedAddress("https://a.org/x"), ListedAddress("https://b.org/"))
    assert found.left_out == {"lines without an address": 1}
    assert found.first_bad == 'line 6: "b.org"'


def test_feeds_of_a_reader_are_sites():
    found = read_site_list(OPML)

    assert found.kind == "OPML"
    assert [each.address for each in found.entries] == ["https://a.org/blog", "https://b.org/"]
    assert found.left_out == {"entries without an address": 1}


def test_jobs_of_urlwatch_are_pages():
    found = read_site_list(URLWATCH)

    assert found.kind == "urlwatch"
    assert found.entries == (
        ListedAddress("https://a.org/tea", page=True, watch=(".price",)),
        ListedAddress("https://a.org/app", page=True),
        ListedAddress("https://a.org/old", page=True, watch=("#stock",)),
        ListedAddress("https://a.org/both", page=True, watch=("main", "#list"), ignore=(".ad",)),
    )
    assert found.left_out == {
        "xpath filters": 1,
        "pages shown by a browser": 1,
        "request options": 1,
        "grep filters": 1,
        "commands": 1,
    }


@pytest.mark.parametrize("zipped", [False, True])
def test_watches_of_changedetection_are_pages(zipped):
    body = json.dumps(WATCHES).encode()
    if zipped:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as backup:
            backup.writestr("url-watches.json", body)
        body = file.getvalue()

    found = read_site_list(body)

    assert found.kind == "changedetection.io"
    assert found.entries == (
        ListedAddress("https://a.org/1", page=True, watch=(".price",), ignore=("nav", ".advert")),
        ListedAddress("https://a.org/2", page=True),
    )
    assert found.left_out == {
        "check intervals": 1,
        "xpath and JSON filters": 3,
        "browser steps": 1,
        "pages shown by a browser": 1,
        "request options": 1,
        "text filters": 1,
        "paused watches": 1,
        "watches without an address": 1,
    }


def test_a_message_of_indexnow_is_a_list():
    body = json.dumps({"host": "a.org", "key": "k", "urlList": ["https://a.org/1", 7]}).encode()

    found = read_site_list(body)

    assert (found.kind, [each.address for each in found.entries]) == (
        "IndexNow",
        ["https://a.org/1"],
    )
    assert found.left_out == {"entries without an address": 1}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"x" * (MOST_BYTES + 1), "at most 20,000,000 bytes"),
        (b"<html></html>", "must be OPML"),
        (b"<opml><outline", "must be whole XML"),
        (b'{"a": 1}', 'with "watching" in it'),
        (b"{" * 100_000, "broken or nested too deep"),
        (b"url: " + b"[" * 100_000, "YAML"),
        (b"url: [", "line 1: invalid YAML"),
        (b"---\n" + b"a" * 2_000_001, "at most 2,000,000 letters"),
        (b"PK\x03\x04 nothing", "must be a backup"),
    ],
)
def test_what_is_no_list_is_refused(body, said):
    with pytest.raises(InvalidInput, match=said.replace("(", "[(]")):
        read_site_list(body)


def test_entities_and_anchors_cannot_multiply():
    """Each would be a billion letters, or a billion pages, if it were written out."""
    laughs = "".join(
        f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' if n else '<!ENTITY l0 "ha">' for n in range(10)
    )
    with pytest.raises(InvalidInput):
        read_site_list(f'<!DOCTYPE opml [{laughs}]><opml><outline text="&l9;"/></opml>'.encode())
    anchors = "\n".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}' if n else 'x'] * 10)}]" for n in range(9)
    )
    found = read_site_list(f"url: https://a.org/\n{anchors}\n".encode())
    assert [each.address for each in found.entries] == ["https://a.org/"]
    sixty = "1" + ":1" * 400_000  # a whole number in YAML, if anybody reads it as one
    assert read_site_list(f"url: https://a.org/\ntimes: {sixty}\n".encode()).entries
