"""Kinds of noise: what hosts put into a page anew at each fetch, though nothing of it changed.

Each takes a page and gives a function from a fetch to pieces of HTML at places of the page, or to
the whole page written in another way. *Slow* kinds are the same for a minute or a day, so two
fetches one right after the other never differ in them.
"""
# ruff: noqa: E501, RUF001, S311 # a kind is a row of a table; signs of other scripts are meant;
# chance need not be secret

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

from tests.detect.corpus import sentence, words, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.detect.corpus import Fetch, Page

HEX = "0123456789abcdef"


def _hex(fetch: Fetch, length: int) -> str:
    return "".join(fetch.chance.choices(HEX, k=length))


def _own(page: Page, name: str) -> random.Random:
    return random.Random(f"{page.language} {page.seed} {name}")


def _quotes(page: Page, fetch: Fetch) -> str:
    pool = [sentence(page.language, _own(page, f"quote {n}")) for n in range(30)]
    return f"<blockquote>{fetch.chance.choice(pool)}</blockquote>"


def _advertisement(page: Page, fetch: Fetch) -> str:
    own = _own(page, f"ad {fetch.chance.randrange(40)}")
    lines = [sentence(page.language, own) for _ in range(own.randint(1, 4))]
    return "<div class=ad>" + "".join(f"<p>{line}</p>" for line in lines) + "</div>"


def _related(page: Page) -> list[str]:
    own = _own(page, "related")
    return [
        f'<li><a href="/read/{own.randint(1, 99999)}">{words(page.language, own, 4)}</a></li>'
        for _ in range(20)
    ]


def _shuffled(page: Page, fetch: Fetch) -> str:
    links = _related(page)[:6]
    fetch.chance.shuffle(links)
    return f"<h3>{page.words(_own(page, 'h'), 3)}</h3><ul>{''.join(links)}</ul>"


def _sampled(page: Page, fetch: Fetch) -> str:
    links = fetch.chance.sample(_related(page), 5)
    return f"<h3>{page.words(_own(page, 'h'), 3)}</h3><ul>{''.join(links)}</ul>"


def _buttons(page: Page, fetch: Fetch) -> str:
    own = _own(page, "button")
    return f"<button>{fetch.chance.choice([page.words(own, 2) for _ in range(2)])}</button>"


def _ticker(page: Page, fetch: Fetch) -> str:
    rows = [
        f"<tr><td>{name}</td><td>{fetch.chance.uniform(900, 999):.2f}</td></tr>"
        for name in ("ACME", "GLOBEX", "INITECH")
    ]
    return f"<table>{''.join(rows)}</table>"


def _banner(page: Page, fetch: Fetch) -> str:
    own = _own(page, "banner")
    text = f"<p>{sentence(page.language, own)}</p><button>{page.words(own, 2)}</button>"
    return f"<div>{text}</div>" if fetch.chance.random() < 0.5 else ""


def _comments(page: Page, fetch: Fetch) -> str:
    own = _own(page, "comments")
    return "".join(
        f"<p>{page.words(own, 2)}: {sentence(page.language, own)}</p>"
        f"<p>{fetch.number * 7 + n * 13} views</p>"
        for n in range(4)
    )


def _attributes(text: str, fetch: Fetch) -> str:
    return text.replace(
        '<div class="box">', f'<div data-n="{_hex(fetch, 8)}" class="box">'
    ).replace(
        '<a href="/1">',
        fetch.chance.choice(['<a class=x href="/1">', "<a href='/1' class='x'>", "<A HREF=/1>"]),
    )


def _spaced(text: str, fetch: Fetch) -> str:
    if fetch.chance.random() < 0.5:
        return re.sub(r">\n", ">", text)
    return text.replace(">\n", ">\n\n  \t")


def _referenced(text: str, fetch: Fetch) -> str:
    return re.sub(
        r"(?<=>)[^<]*",
        lambda found: "".join(
            f"&#{ord(sign)};" if sign.isalpha() and fetch.chance.random() < 0.3 else sign
            for sign in found[0]
        ),
        text,
    )


def _wrapped(text: str, fetch: Fetch) -> str:
    kind = fetch.chance.choice(["b", "span", "em", 'span class="x"'])
    name = kind.split()[0]
    return re.sub(r"<p>(\w+)", rf"<p><{kind}>\1</{name}>", text)


def _by_lot(page: Page, fetch: Fetch, name: str, weights: list[int]) -> random.Random:
    """Chance of its own for one of a few texts, drawn by weight."""
    return _own(page, f"{name} {fetch.chance.choices(range(len(weights)), weights)[0]}")


def _offers(page: Page, fetch: Fetch) -> str:
    own = _by_lot(page, fetch, "offer", [6, 3, 1])
    return "".join(f"<p>{sentence(page.language, own)}</p>" for _ in range(own.randint(1, 3)))


def _survey(page: Page, fetch: Fetch, share: float = 0.15) -> str:
    own = _own(page, "survey")
    text = f"<h4>{page.words(own, 4)}</h4><p>{sentence(page.language, own)}</p>"
    return f"<section>{text}</section>" if fetch.chance.random() < share else ""


def _testimonials(page: Page, fetch: Fetch) -> str:
    drawn = [_own(page, f"testimonial {n}") for n in fetch.chance.sample(range(8), 3)]
    each = [f"<p>{sentence(page.language, own)}</p><p>- {page.words(own, 2)}</p>" for own in drawn]
    return f"<h3>{page.words(_own(page, 'testimonials'), 2)}</h3>{''.join(each)}"


def _tags(page: Page, fetch: Fetch) -> str:
    own = _own(page, "tags")
    tags = [f"tag{own.randint(1, 999)}" for _ in range(12)]
    return f"<p>{' '.join(fetch.chance.sample(tags, 12))}</p>"


def _footers(page: Page, fetch: Fetch) -> str:
    owner, old = page.words(_own(page, "footer"), 2), fetch.chance.random() < 0.3
    imprint = '<p><a href="/imprint">Imprint</a></p>' if old else ""
    return f"<p>(c) {2025 if old else 2026} {owner}</p>{imprint}"


def _carousel(page: Page, fetch: Fetch) -> str:
    links, at = _related(page)[:5], fetch.chance.randrange(5)
    return f"<ul>{''.join(links[at:] + links[:at])}</ul>"


def _quiz(page: Page, fetch: Fetch) -> str:
    own = _own(page, f"quiz {fetch.chance.randrange(25)}")
    answers = "".join(f"<p>{sign}) {page.words(own, 2)}</p>" for sign in "abc")
    return f"<h4>{page.words(own, 5)}?</h4>{answers}"


def _tokens(page: Page, fetch: Fetch) -> str:
    own = _own(page, "tokens")
    return "".join(
        f'<li><a href="/go/{_hex(fetch, 10)}/{n}">{page.words(own, 3)}</a></li>' for n in range(4)
    )


def _chosen_links(page: Page, fetch: Fetch) -> str:
    half = fetch.chance.choice((0, 4))
    return f"<ul>{''.join(_related(page)[half : half + 4])}</ul>"


def _poll(page: Page, fetch: Fetch) -> str:
    own = _own(page, "poll")
    rows = [f"<p>{page.words(own, 2)}: {fetch.chance.randint(10, 90)} %</p>" for _ in range(3)]
    return f"<h4>{page.words(own, 3)}</h4>{''.join(rows)}"


def _buyers(page: Page, fetch: Fetch) -> str:
    drawn = [_own(page, f"buyer {fetch.chance.randrange(60)}") for _ in range(3)]
    each = [
        f"<li>{page.words(own, 1)} ({fetch.chance.randint(1, 59)} min): {page.words(own, 3)}</li>"
        for own in drawn
    ]
    return f"<ul>{''.join(each)}</ul>"


def _wordings(page: Page, fetch: Fetch) -> str:
    own = _own(page, "wordings")
    said, one, other = (page.words(own, count) for count in (8, 1, 1))
    return f"<p>{said} {fetch.chance.choice((one, other))} {page.footer[0]}</p>"


def _mirrors(page: Page, fetch: Fetch) -> str:
    host = f"https://m{fetch.chance.randrange(3)}.example"
    return "".join(f'<li><a href="{host}/{n}">{page.footer[0]} {n}</a></li>' for n in range(3))


def _sponsor(page: Page, fetch: Fetch) -> str:
    own = _own(page, f"sponsor {fetch.chance.randrange(12)}")
    return f'<img src="/s.png" alt="{page.words(own, 2)}"><p>{page.words(own, 3)}</p>'


CLOCKS = {
    "clock with seconds": ("foot", lambda p, f: f"<p>Server time {f.now:%H:%M:%S}</p>"),
    "clock alone in its line": ("top", lambda p, f: f"<div>{f.now:%H:%M:%S}</div>"),
    "date and clock": ("foot", lambda p, f: f"<p>{f.now:%a, %d %b %Y %H:%M:%S} GMT</p>"),
    "date and clock in numbers": ("top", lambda p, f: f"<p>{f.now:%Y-%m-%d %H:%M:%S.%f}</p>"),
    "date and clock in Chinese": ("foot", lambda p, f: f"<p>{f.now:%Y年%m月%d日 %H:%M:%S} 更新</p>"),
    "epoch seconds": ("foot", lambda p, f: f"<p>t={f.now.timestamp():.3f}</p>"),
    "clock within a sentence": ("inside", lambda p, f: f"<p>{p.footer[0]} {f.now:%H:%M:%S} {p.footer[1]}</p>"),
    "relative times": ("side", lambda p, f: f"<p>{p.headline} {f.number + 3} minutes ago</p><p>vor {f.number + 2} Stunden</p>"),
    "relative times alone": ("below", lambda p, f: f"<span>{f.number * 2}分前</span><br>il y a {f.number} jours"),
    "countdown of a promotion": ("top", lambda p, f: f"<div>Ends in {f.chance.randint(0, 5)}d {f.chance.randint(0, 23)}h {f.now:%M}m {f.now:%S}s!</div>"),
}  # fmt: skip
TOKENS = {
    "token in a link": ("top", lambda p, f: f'<a href="/out?csrf={_hex(f, 32)}">{p.footer[0]}</a>'),
    "token in a path": ("side", lambda p, f: f'<a href="/s/{_hex(f, 24)}/cart">{p.footer[0]}</a>'),
    "token in text": ("foot", lambda p, f: f"<p>Token: {_hex(f, 40)}</p>"),
    "token in a paragraph of its own": ("below", lambda p, f: f"<div><code>{_hex(f, 32)}</code></div>"),
    "session in a link": ("top", lambda p, f: f'<a href="/in;jsessionid={_hex(f, 32)}?a=1&amp;PHPSESSID={_hex(f, 26)}">{p.footer[0]}</a>'),
    "campaign in a link": ("side", lambda p, f: f'<a href="/x?utm_source={_hex(f, 4)}&gclid={_hex(f, 20)}&id=7">{p.footer[0]}</a>'),
    "request in the footer": ("foot", lambda p, f: f"<p>Request {_hex(f, 8)}-{_hex(f, 4)}-{_hex(f, 12)}</p>"),
    "name of a server": ("foot", lambda p, f: f"<p>Served by web{f.chance.randint(1, 40)}.example</p>"),
    "time to make": ("foot", lambda p, f: f"<p>Generated in {f.chance.random():.4f} s, {f.chance.randint(10, 99)} queries</p>"),
    "address of the visitor": ("foot", lambda p, f: f"<p>Your address: 10.{f.chance.randint(0, 255)}.{f.chance.randint(0, 255)}.{f.chance.randint(1, 254)}</p>"),
    "question against robots": ("below", lambda p, f: f"<form><label>What is {f.chance.randint(1, 9)} + {f.chance.randint(1, 9)}?</label><input name=a></form>"),
    "avatar": ("side", lambda p, f: f'<img src="/a{f.chance.randint(1, 99)}.png" alt="avatar {f.chance.randint(1, 99)}">'),
}  # fmt: skip
COUNTS = {
    "views": ("below", lambda p, f: f"<p>{1000 + f.number * 17:,} views</p>"),
    "views before the word": ("above", lambda p, f: f"<span>Views: {5000 + f.number * 3}</span>"),
    "views of each comment": ("below", _comments),
    "people watching": ("inside", lambda p, f: f"<div>{f.chance.randint(2, 900)} people are watching this</div>"),
    "people online in the menu": ("top", lambda p, f: f"<div>{p.footer[0]} | {f.chance.randint(100, 999)} online | {p.footer[1]}</div>"),
    "visitors in Japanese": ("foot", lambda p, f: f"<p>閲覧数：{f.chance.randint(1000, 9999)}回</p>"),
    "prices of shares beside an article": ("side", _ticker),
}  # fmt: skip
BLOCKS = {
    "quotation": ("side", _quotes),
    "advertisement inside": ("inside", _advertisement),
    "advertisement aside": ("side", _advertisement),
    "links shuffled": ("side", _shuffled),
    "links sampled": ("below", _sampled),
    "button tried on visitors": ("above", _buttons),
    "banner that comes and goes": ("top", _banner),
    "advertisements at three places": ("inside", lambda p, f: _advertisement(p, f) + f"<p>{p.footer[1]}!</p>" + _advertisement(p, f)),
    "quotation within a line": ("foot", lambda p, f: f"<p>Quote of the moment: {sentence(p.language, _own(p, f'q {f.chance.randrange(50)}'))}</p>"),
}  # fmt: skip
CHOICES = {
    "one of three offers": ("inside", _offers),
    "survey now and then": ("top", _survey),
    "request for consent at two of three": ("top", lambda p, f: _survey(p, f, 0.7)),
    "delivery in three wordings": ("below", lambda p, f: f"<p>Delivery {f.chance.choice(['2-4 days', '3-5 days', 'within a week'])} to your door</p>"),
    "currency of the visitor": ("above", lambda p, f: f"<p>Shipping {f.chance.choice(['4.90 EUR', '5.30 USD'])}</p>"),
    "testimonials": ("side", _testimonials),
    "tags shuffled in a line": ("foot", _tags),
    "two footers": ("foot", _footers),
    "carousel": ("above", _carousel),
    "quiz": ("side", _quiz),
    "two numbers in a sentence": ("inside", lambda p, f: f"<p>Only {f.chance.randint(1, 9)} left at this price, {f.chance.randint(10, 99)} looked at it today</p>"),
    "token in several links": ("top", _tokens),
    "one of two blocks of links": ("below", _chosen_links),
    "poll": ("side", _poll),
    "path of the page in two forms": ("above", lambda p, f: f"<p>{p.menu[0][1]} / {p.menu[f.chance.randint(1, 2)][1]} / {p.title}</p>"),
    "latest buyers": ("inside", _buyers),
    "paragraph in two wordings": ("inside", _wordings),
    "links to mirrors": ("below", _mirrors),
    "stars": ("above", lambda p, f: f"<p>{'★' * f.chance.randint(3, 5)} {f.chance.randint(40, 50) / 10} / 5 ({f.chance.randint(100, 999)})</p>"),
    "sponsor": ("foot", _sponsor),
}  # fmt: skip
UNSEEN = {
    "token in a hidden field": ("top", lambda p, f: f'<form><input type=hidden name=t value="{_hex(f, 32)}"></form>'),
    "nonce of a script": ("head", lambda p, f: f'<script nonce="{_hex(f, 16)}">var a=1</script>'),
    "files with versions": ("head", lambda p, f: f'<link rel=stylesheet href="/a.css?v={_hex(f, 8)}"><script src="/b.{_hex(f, 8)}.js"></script>'),
    "comment of a build": ("foot", lambda p, f: f"<!-- build {_hex(f, 8)} {f.now} -->"),
    "state in a script": ("foot", lambda p, f: f'<script type="application/json">{{"now": {f.now.timestamp()}, "id": "{_hex(f, 9)}"}}</script>'),
    "picture with a version": ("side", lambda p, f: f'<img src="/x.png?{_hex(f, 6)}" alt="{p.image}">'),
    "style": ("head", lambda p, f: f"<style>.c{_hex(f, 5)}{{color:red}}</style>"),
    "picture that counts": ("foot", lambda p, f: f'<img src="/t.gif?{_hex(f, 9)}" width=1 alt="">'),
    "mark of no width": ("inside", lambda p, f: "<p>" + "\u200b".join(p.headline[:4]) + chr(0x200B) * f.chance.randint(0, 3) + p.headline[4:] + "</p>"),
}  # fmt: skip
SPELLINGS: dict[str, Callable[[str, Fetch], str]] = {
    "attributes in another order": _attributes,
    "white space": _spaced,
    "letters as references": _referenced,
    "tags within lines": _wrapped,
    "capital tags": lambda text, f: text.replace(
        "<p>", f.chance.choice(["<P>", "<p >", "<p id=x>"])
    ),
    "ends of paragraphs left out": lambda text, f: (
        text if f.chance.random() < 0.5 else text.replace("</p>", "")
    ),
}
# The same for a minute or longer.
SLOW_KINDS = {
    "date of today": ("top", lambda p, f: f"<p>{f.now:%A, %d %B %Y}</p>"),
    "greeting by the hour": ("top", lambda p, f: f"<p>Good {('night', 'morning', 'afternoon', 'evening')[f.now.hour // 6]}, dear reader</p>"),
    "weather": ("side", lambda p, f: f"<p>Weather: {random.Random(str(f.now)[:13]).randint(-9, 35)} degrees, wind {random.Random(str(f.now)[:13]).randint(1, 9)}</p>"),
    "clock without seconds": ("foot", lambda p, f: f"<p>It is {f.now:%H:%M}</p>"),
    "name of the day": ("side", lambda p, f: f"<p>{random.Random(str(f.now)[:10]).choice(['Ada', 'Bea', 'Cyd', 'Dov', 'Eve', 'Fay'])}</p>"),
}  # fmt: skip

PLACED: dict[str, tuple[str, Callable[[Page, Fetch], str]]] = {
    **CLOCKS,
    **TOKENS,
    **COUNTS,
    **BLOCKS,
    **CHOICES,
    **UNSEEN,
}
NOISES = (*PLACED, *SPELLINGS)
SLOW = tuple(SLOW_KINDS)


def fetched(page: Page, noises: Iterable[str], fetch: Fetch) -> str:
    """A page as one fetch gives it, with some kinds of noise."""
    parts: dict[str, list[str]] = {}
    rewrite = []
    for name in noises:
        if name in SPELLINGS:
            rewrite.append(SPELLINGS[name])
        else:
            place, write = {**PLACED, **SLOW_KINDS}[name]
            parts.setdefault(place, []).append(write(page, fetch))
    text = written(page, parts)
    for write_anew in rewrite:
        text = write_anew(text, fetch)
    return text
