"""Entries of `detect/`: pages of strangers, and masks as a store keeps them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recrawl.detect.diff import word_counts
from recrawl.detect.diff.gist import GISTS
from recrawl.detect.diff.line_diff import gist, line_diff
from recrawl.detect.diff.share import share_changed
from recrawl.detect.diff.word_diff import EditKind, pieces, reverse, word_diff
from recrawl.detect.masks.host_masks import HostMasks
from recrawl.detect.masks.json_text import as_json, read_masks
from recrawl.detect.masks.masks import MOST_MASKS, apply_masks, is_mask_displaced, learn_masks
from recrawl.detect.reading import Criteria, read_response
from recrawl.detect.shells import is_shell
from recrawl.detect.simhash import estimated_share, simhash
from recrawl.detect.text.cuts import Cuts
from recrawl.detect.text.lines import lines, text_lines
from recrawl.detect.text.link_targets import link_target
from recrawl.detect.text.rereading import read_again, read_cut
from recrawl.detect.text.words import space_words, word_count, words
from recrawl.detect.verdict import (
    PageFacts,
    verdict_by_content,
    verdict_by_signature,
    verdict_unread,
)
from recrawl.detect.walls.phrases import (
    BOT_MARKS,
    CONSENT_MARKS,
    ERROR_MARKS,
    GUARD_MARKS,
    GUARD_WORDS,
)
from recrawl.detect.walls.walls import detect_wall
from recrawl.fetch.http.headers import headers_of
from recrawl.parse.messages import Response
from recrawl.settings.keys import is_selector
from recrawl.visits.status import VisitOutcome
from tests.fuzz.checks import PAGE, as_text
from tests.fuzz.parser import Parser
from tests.fuzz.parsers.documents import HTML, HTML_TOKENS, JSON_PAGE

if TYPE_CHECKING:
    from recrawl.detect.diff.line_diff import Block
    from recrawl.entries.entries import Copy

_CUT = b"\n====\n"
_BETWEEN = "<p>some words of a line" * 60 + "<div>and others" * 60
_MARKS = (BOT_MARKS, CONSENT_MARKS, ERROR_MARKS, GUARD_MARKS, GUARD_WORDS)
_WALLS = {"", "bot", "consent", "soft-404", "error", "login", "empty"}


def _check_lines(found: tuple[str, ...]) -> None:
    for line in found:
        assert line
        assert line == line.strip()
        assert "\n" not in line
        assert "\r" not in line


def _read_text(data: bytes) -> None:
    page = as_text(data)
    for found in (lines(page), text_lines(page)):
        _check_lines(found)
        assert word_count(found) == len(words(found))
        assert 0 <= simhash(found) < 1 << 64
    selectors, _, rest = page.partition("\n")
    watch, _, ignore = selectors.partition("\t")
    chosen = [tuple(filter(is_selector, [each])) for each in (watch, ignore)]
    _check_lines(lines(rest, watch=chosen[0], ignore=chosen[1]))
    target = link_target(selectors)
    assert link_target(target) == target


def _read_again(data: bytes) -> None:
    """A page that is read where it differs has the lines of the whole page."""
    one, _, rest = data.partition(_CUT)
    other, _, written = rest.partition(_CUT)
    parts = [as_text(part) for part in (one, other)]
    old = _BETWEEN.join(parts)
    known = read_cut(old)
    assert known.lines == lines(old)
    before = old.encode(errors="surrogatepass")
    for text in (_BETWEEN.join(parts[::-1]), parts[0] + parts[1] + _BETWEEN, _BETWEEN + old):
        if known.cuts is not None:
            new = text.encode(errors="surrogatepass")
            again = read_again(new, before, known.cuts, known.lines)
            assert again is None or again.lines == lines(text)
    claimed = Cuts.read(as_text(written), size=len(before), rows=len(known.lines))
    if claimed is not None:  # of a stranger's store: lines may be wrong, and nothing else
        assert Cuts.read(claimed.written, size=len(before), rows=len(known.lines)) == claimed
        again = read_again(before + b"<p>more", before, claimed, known.lines)
        assert again is None or all(again.lines)


def _both(data: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Two pages; where there is one, with itself and its lines in another order."""
    first, cut, second = data.partition(_CUT)
    one = text_lines(as_text(first))
    return one, text_lines(as_text(second)) if cut else tuple(sorted(one))


def _read_masks(data: bytes) -> None:
    text = as_text(data)
    masks = read_masks(text)
    assert len(masks.masks) <= MOST_MASKS
    assert read_masks(as_json(masks)) == masks
    page = ("Top", "Now 12:00:01", "Price 6", "", "a" * 100, "End")
    blanked = apply_masks(page, masks)
    assert len(blanked) <= 2 * len(page)
    learned = learn_masks(page, ("Top", "Now 12:00:02", "Price 7", "End"), masks)
    assert read_masks(as_json(learned)) == learned


def _learn_masks(data: bytes) -> None:
    one, two = _both(data)
    masks = learn_masks(one, two)
    assert len(masks.masks) <= MOST_MASKS
    assert read_masks(as_json(masks)) == masks
    again = learn_masks(two, one, masks)
    for page in (one, two):
        apply_masks(page, again)
    assert not is_mask_displaced(one, one, again)
    host = HostMasks()
    for number in range(3):
        host.learn(str(number), masks)
    assert {mask.place.name for mask in host.shared().masks} == {
        mask.place.name for mask in masks.masks
    }
    assert len(masks.joined(again).masks) <= 2 * MOST_MASKS


def _read_shells(data: bytes) -> None:
    page = as_text(data)
    seen = lines(page)
    found = is_shell(page, seen)
    assert found in {True, False}
    assert not is_shell(page, (*seen, "word " * 200))


def _read_walls(data: bytes) -> None:
    page = as_text(data)
    for status, headers in ((200, {}), (503, {"cf-mitigated": page[-9:]})):
        assert detect_wall(status, headers, lines(page), page) in _WALLS
        assert detect_wall(status, headers, text_lines(page), "") in _WALLS


def _read_diff(data: bytes) -> None:
    old, new = _both(data)
    diff, back = line_diff(old, new), line_diff(new, old)
    assert (diff.old, diff.new) == (old, new)
    assert _gone(diff.blocks, "removed") == _came(back.blocks, "added")
    assert _gone(diff.blocks, "moved_away") == _came(back.blocks, "moved")
    assert _gone(diff.blocks, "same") == _came(back.blocks, "same")
    share = share_changed(old, new)
    assert 0 <= share <= 1
    assert share == share_changed(new, old)
    texts = space_words(old), space_words(new)
    assert word_counts._hashed(*texts)[:3] == word_counts._counted(*texts)[:3]
    assert gist(diff, share) in GISTS
    assert (old != new) or all(block.kind == "same" for block in diff.blocks)
    for was, now in zip(old[:5], new[:5], strict=False):
        edits = word_diff(was, now)
        kept_of = {EditKind.ADDED: now, EditKind.REMOVED: was}
        for kind, line in kept_of.items():
            parts = [edit.text for edit in edits if edit.kind in (EditKind.KEPT, kind)]
            assert "".join(parts) == line
        assert word_diff(now, was) == reverse(edits)
        assert "".join(pieces(was)) == was
    assert 0 <= estimated_share(simhash(old), simhash(new)) <= 1


def _gone(blocks: tuple[Block, ...], kind: str) -> list[tuple[int, int]]:
    return sorted(block.old for block in blocks if block.kind == kind)


def _came(blocks: tuple[Block, ...], kind: str) -> list[tuple[int, int]]:
    return sorted(block.new for block in blocks if block.kind == kind)


_CRITERIA = (Criteria(), Criteria(watch=("p", "li"), ignore=(".city",), least_change=0.5))


def _response(data: bytes) -> Response:
    head, _, body = data.partition(b"\n\n")
    pairs = [line.partition(b":")[::2] for line in head.split(b"\n")]
    headers = headers_of([(name, value.strip()) for name, value in pairs])
    status = headers.get("status", "")
    known = int(status) if status.isdecimal() and len(status) == 3 else 200
    address, problem = headers.get("address", PAGE), headers.get("problem", "")
    return Response(address, known, headers, body, problem=problem)


def _read_verdict(data: bytes) -> None:
    first, _, second = data.partition(_CUT)
    was, now = _response(first), _response(second)
    for number, criteria in enumerate(_CRITERIA):
        known = PageFacts(before=9e8, keeps=number == 0)
        for response in (was, was, now):
            copy = _visited(response, known, criteria, was)
            known = replace(known, copy=copy or known.copy)


def _visited(
    response: Response, known: PageFacts, criteria: Criteria, before: Response
) -> Copy | None:
    """Make a visit as a crawl makes it; returns what is known of the copy afterwards."""
    found = verdict_unread(PAGE, response, known.copy)
    if found is None:
        page = read_response(response, criteria)
        if page.lines is not None:
            _check_lines(page.lines)
        assert page.wall in _WALLS
        found = verdict_by_signature(PAGE, response, page, known)
        if found is None:
            kept = known.copy is not None and known.keeps
            old = read_response(response, criteria, before.body) if kept else None
            found = verdict_by_content(PAGE, response, page, known, criteria, old=old, at=1e9)
    assert found.outcome in VisitOutcome
    assert not found.share < 0
    assert not found.share > 1
    assert not found.age < 0
    return found.copy


_PAIR = (
    b"""News
Now 12:00:01
Costs 5 euros, or 6 with a bag
\x10/a Read this
\x10/b And that
A line that stays as it is
Token 8f3a9b2c1d
Buy soap!
The end"""
    + _CUT
    + b"""News
Now 12:00:02
Costs 6 euros, or 6 with a bag
\x10/b And that
\x10/a Read this
A line that stays as it is
Token 11aa22bb33
Eat fish.
And more
The end"""
)
_MOVED = (
    b"\n".join(b"Line number %d of a long page" % n for n in range(40))
    + _CUT
    + b"\n".join(
        b"Line number %d of a long page%s" % (n, b" now" * (n % 7 == 0))
        for n in (*range(20, 40), *range(12), 99, *range(15, 20))
    )
)
_SMALL = b"a\nb\nc" + _CUT + b"c\na\nb\nb"
_DATED = (
    b"Top\nMonday 5 January 2026, 10:15 Visitors: 1,204\nEnd"
    + _CUT
    + (b"Top\nTuesday 6 January 2026, 11:25 Visitors: 1,311\nEnd")
)
_ADS = (
    b"Top\nUnique one\nad a\nad b\nMenu\nMenu\nEnd\nunder"
    + _CUT
    + (b"Top\nUnique one\nad c\nMenu\nMenu\nEnd\nunder")
)
_PAIRS = (
    _PAIR,
    _MOVED,
    _SMALL,
    _DATED,
    _ADS,
    "東京の価格は５個。\nไทย".encode() + _CUT + "東京の価格は６個。\nไทยไทย".encode(),
    b"one two three\nfour" + _CUT + b"one two\nthree four",
    b"x" * 200 + b" 1\nsame\n" + _CUT + b"x" * 200 + b" 2\nsame\n",
    b"\x10/a/1 A\n\x10/a/2 B\nx\ny" + _CUT + b"\x10/a/3 C\n\x10/a/4 D\nx\ny",
    HTML[0] + _CUT + HTML[2],
)
_DIFF_TOKENS = (
    *(_CUT, b"\n", b"\x10/a/b ", b"\x11", b" ", b"12:00:01", b"5 January 2026", b"Menu\n", b"End"),
    *(b"1,204", b"-", b"\n\n", "価格".encode(), b"line\n" * 5, b"5 minutes ago", b"a b c\n"),
)
_MASKS = (
    b'[1,["p",1,1,["Now ",""],8,0,"Top","",1]]',
    b'[1,["r",2,1,["Top"],["End"],0,3,20,"",["/a"]],["o",1,1,["Top"],[],2,2,9,""]]',
    b'[1,["r",1,1,[],["End"],1,1,9,"0933cde048b7f311"],["p",3,2,["","x",""],40,2,"","End",0]]',
    b'[1,["r",2,1,["Top"],["End"],0,3,20,"","/a","/b"]]',
    b'[1,["r",2,2,["Top"],["End"],1,2,20,["",4,"o","0933cde048b7f311","1"],"/a"]]',
    b"[]",
)
_AGES = (
    b"5 minutes ago\nPosted 2 hours ago\nvor 3 Tagen\nil y a 5 minutes\nhace 2 horas\n3 giorni fa",
    "5 минут назад\n3 дня назад\n5 分前\n2 小时前\n3 godziny temu\nhá 2 dias".encode(),
    "5 dakika önce\nقبل 5 دقائق\n5 मिनट पहले\n5분 전\n5 นาทีที่แล้ว\n5 phút trước".encode(),
)
_WALLED = tuple(
    b"<title>" + said + b"</title><p>" + said + b"</p>" + mark
    for said, mark in (
        (b"Just a moment...", b"<script src=/cdn-cgi/challenge-platform/h/b></script>"),
        (b"Access denied", b"<div class=g-recaptcha></div> verify you are human captcha"),
        (b"Oops! Page not found", b""),
        (b"Shop | 404", b""),
        (b"Before you continue", b"<form action=https://consent.example>cookie</form>"),
        (b"Log in", b"<input name=p type='password'>"),
        (b"502 Bad Gateway", b"<hr><center>nginx</center>"),
        (b"We value your privacy", b"cookie <form id=onetrust-consent-sdk>"),
        (b"An essay. " * 600, b""),
        (b"", b""),
    )
)
_ANSWERS = (
    b'Content-Type: text/html\nETag: "1"\nLast-Modified: Fri, 02 Jan 2001 00:00:00 GMT\n\n'
    + HTML[0],
    b"Content-Type: text/html; charset=utf-8\n\n" + HTML[2],
    b"Content-Type: application/json\nDate: Fri, 02 Jan 2001 00:00:00 GMT\n\n" + JSON_PAGE,
    b"Content-Type: image/png\n\n\x89PNG",
    b'Status: 304\nETag: "2"\n\n',
    b"Status: 404\n\nno",
    b"Status: 503\n\nno",
    b"Problem: timeout\n\n",
    b"\n\n" + HTML[0],
    b"address: https://other.example/\n\nplain text\nin lines",
    b"Content-Type: text/html\n\n" + _WALLED[0],
    b"Content-Type: text/html\n\n<p></p>",
    b"Last-Modified: Sun, 09 Sep 2001 01:46:39 GMT\nDate: Sun, 09 Sep 2001 01:46:40 GMT\n\nx",
)

PARSERS = (
    Parser(
        "page text",
        _read_text,
        seeds=(
            *HTML,
            b"li\t.city\n" + HTML[0],
            b"\tb\n<p>a<b>b</b></p>",
            b"div\t\n" + b"<div>" * 20,
            b"p\t:nth-child(2)\n" + HTML[0],
            b"p\tb\n<p " + b" ".join(b"a%d=1" % n for n in range(310)) + b">",
            b"p\tb\n<p>" + b"<b>" * 60 + b"<i>" * 60,
            b"p\tb\n" + b"<div>" * 300,
            b"/a;jsessionid=8F?utm_source=x&page=2&PHPSESSID=1#top\n",
            b"javascript:void(0)\n",
            *_AGES,
            JSON_PAGE.partition(b"\n")[2],
            b"a " + "\u0301".encode() * 200 + b"x" * 2100,
            "a\u200bb\u3000c\ufb01\u1e9b\u0323 \U0001f600".encode(),
            b"<p>a</p>" + b"<img ALT='x y' src=a><A HREF=/b>c</A><a title=x href='/d'>",
        ),
        modules=(
            *(
                f"recrawl.detect.text.{name}"
                for name in ("characters", "lines", "link_targets", "markup", "words")
            ),
            "recrawl.detect.text.relative_times",
            "recrawl.detect.text.complexity",
            "recrawl.detect.text.selection",
            "recrawl.detect.simhash",
        ),
        once=(b"p\tb\n" + b"<" * 100_001,),
        tokens=(*HTML_TOKENS, *b"\t|5 minutes ago|li|:nth-child(1)|".split(b"|"), *_AGES),
        real=("html",),
    ),
    Parser(
        "pages read again",
        _read_again,
        seeds=(
            *(_CUT.join((page, b"<title>a</title><p>b")) for page in HTML),
            _CUT.join((HTML[0], HTML[0], b"1 1024 3 900 40")),
            _CUT.join((b"<title>a</title>", b"<p>b<!-- c -->", b"0 5 0 10 0 1000 2")),
            _CUT.join((b"<script>a</script>", b"<td>b", b"1 1 1")),
        ),
        modules=("recrawl.detect.text.cuts", "recrawl.detect.text.rereading"),
        tokens=(*HTML_TOKENS, _CUT, b"1024", b" 1 ", b"</p", b"<!--", b'="'),
    ),
    Parser(
        "stored masks",
        _read_masks,
        seeds=_MASKS,
        modules=("recrawl.detect.masks.json_text",),
        tokens=tuple(
            b'"p" "r" "o" [ ] , 1 0 -1 "" "Top" "End" "Now " true null {} 2147483648'.split()
        ),
    ),
    Parser(
        "masks",
        _learn_masks,
        seeds=_PAIRS,
        modules=tuple(
            f"recrawl.detect.masks.{name}"
            for name in ("blanking", "host_masks", "hunks", "masks", "places", "templates")
        ),
        tokens=_DIFF_TOKENS,
        longest=1500,
    ),
    Parser(
        "walls",
        _read_walls,
        seeds=(*_WALLED, *HTML, b"x challenge"),
        modules=("recrawl.detect.walls.walls", "recrawl.detect.walls.phrases"),
        tokens=(
            *HTML_TOKENS,
            *(b"cookie", b"captcha", b"challenge", b"not found", b"404", b"Oops! ", b"<form"),
            *(mark.encode() for marks in _MARKS for mark in marks),
        ),
        real=("html",),
    ),
    Parser(
        "shells",
        _read_shells,
        seeds=(
            b'<title>a</title><div id="root"></div><script src="/a.js"></script>',
            b"<noscript>enable JavaScript</noscript><app-root>Loading</app-root><script>",
            *HTML,
        ),
        modules=("recrawl.detect.shells",),
        tokens=(*HTML_TOKENS, b"<script src=x>", b'<div id="app">', b"<noscript>", b"<title>"),
        real=("html",),
    ),
    Parser(
        "diff",
        _read_diff,
        seeds=_PAIRS,
        modules=tuple(
            f"recrawl.detect.diff.{name}"
            for name in (
                *("gist", "line_diff", "line_matching", "patience"),
                *("share", "word_counts", "word_diff"),
            )
        ),
        tokens=_DIFF_TOKENS,
        longest=1500,
    ),
    Parser(
        "verdict",
        _read_verdict,
        seeds=tuple(
            one + _CUT + other for one in _ANSWERS for other in (_ANSWERS[0], _ANSWERS[4], one)
        ),
        modules=("recrawl.detect.verdict", "recrawl.detect.reading", "recrawl.detect.change"),
        tokens=(_CUT, b"\n\n", b"Content-Type: ", b"Status: 304\n", b"text/plain", *HTML_TOKENS),
        real=("html",),
    ),
)
