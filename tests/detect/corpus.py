"""Pages made up at random, noise that comes at each fetch, and changes that a reader would name.

`page` makes a page in one of several languages; a `Fetch` is one fetch of it. Noise is
what a host makes up for a fetch (or for the hour); a change is done to the page itself.
"""
# ruff: noqa: E501, RUF001, S311 # words of a language stand together; letters of other scripts
# are meant; chance need not be secret

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

# A few dozen words of each, in the encoding that hosts of that language long used.
LANGUAGES = {
    "english": ("utf-8", ("the house river green between small market light people bridge never wind"
        " morning old street answer letter garden winter paper simple water stone always bread")),
    "german": ("windows-1252", ("das Haus Fluß grün zwischen klein Markt Licht Leute Brücke nie Wind"
        " Morgen alt Straße Antwort Brief Garten Winter Papier einfach Wasser Stein immer Brot")),
    "french": ("iso-8859-15", ("la maison rivière vert entre petit marché lumière gens pont jamais"
        " vent matin vieux rue réponse lettre jardin hiver papier simple eau pierre toujours pain")),
    "polish": ("iso-8859-2", ("dom rzeka zielony między mały rynek światło ludzie most nigdy wiatr"
        " ranek stary ulica odpowiedź list ogród zima papier prosty woda kamień zawsze chleb")),
    "russian": ("windows-1251", ("дом река зелёный между малый рынок свет люди мост никогда ветер"
        " утро старый улица ответ письмо сад зима бумага простой вода камень всегда хлеб")),
    "greek": ("utf-16", ("σπίτι ποτάμι πράσινο μεταξύ μικρό αγορά φως άνθρωποι γέφυρα ποτέ άνεμος"
        " πρωί παλιό δρόμος απάντηση γράμμα κήπος χειμώνας χαρτί απλό νερό πέτρα πάντα ψωμί")),
    "arabic": ("windows-1256", ("بيت نهر أخضر بين صغير سوق ضوء ناس جسر أبدا ريح صباح قديم شارع جواب"
        " رسالة حديقة شتاء ورق بسيط ماء حجر دائما خبز كتاب طريق مدينة جبل")),
    "japanese": ("shift_jis", ("家 川 緑の 間 小さな 市場 光 人々 橋 決して 風 朝 古い 通り 答え 手紙"
        " 庭 冬 紙 簡単な 水 石 いつも パン 町 山 空 海")),
    "chinese": ("gb18030", ("房子 河流 绿色 之间 小的 市场 光线 人们 桥梁 从不 风 早晨 古老 街道 回答"
        " 信件 花园 冬天 纸张 简单 水 石头 总是 面包")),
    "korean": ("euc-kr", ("집 강 초록 사이 작은 시장 빛 사람들 다리 결코 바람 아침 오래된 거리 대답"
        " 편지 정원 겨울 종이 간단한 물 돌 항상 빵")),
    "thai": ("utf-8", ("บ้าน แม่น้ำ สีเขียว ระหว่าง เล็ก ตลาด แสง ผู้คน สะพาน ไม่เคย ลม เช้า เก่า ถนน"
        " คำตอบ จดหมาย สวน ฤดูหนาว กระดาษ ง่าย น้ำ หิน เสมอ ขนมปัง")),
    "turkish": ("windows-1254", ("ev nehir yeşil arasında küçük pazar ışık insanlar köprü asla rüzgar"
        " sabah eski sokak cevap mektup bahçe kış kağıt basit su taş her ekmek")),
}  # fmt: skip
UNSPACED = ("japanese", "chinese", "thai")


@dataclass
class Page:
    """A page of a site: what a reader would call its content."""

    language: str
    title: str
    headline: str
    paragraphs: list[str]
    items: list[tuple[str, str]]  # of a list: where each leads, and what it says
    rows: list[tuple[str, str]]  # of a table: a name and a value
    price: str
    stock: str
    event: str
    phone: str
    image: str
    menu: list[tuple[str, str]]
    footer: list[str]
    seed: int = 0

    def words(self, chance: random.Random, count: int) -> str:
        return words(self.language, chance, count)


@dataclass
class Fetch:
    """One fetch: what is drawn anew for it, and when it was."""

    chance: random.Random
    now: datetime
    number: int


def words(language: str, chance: random.Random, count: int) -> str:
    known = LANGUAGES[language][1].split()
    return ("" if language in UNSPACED else " ").join(chance.choices(known, k=count))


def sentence(language: str, chance: random.Random) -> str:
    text = words(language, chance, chance.randint(5, 12))
    return text[:1].upper() + text[1:] + ("。" if language in ("japanese", "chinese") else ".")


def paragraph(language: str, chance: random.Random) -> str:
    return " ".join(sentence(language, chance) for _ in range(chance.randint(2, 5)))


def page(language: str, seed: int) -> Page:
    chance = random.Random(f"{language} {seed}")
    some = lambda count: words(language, chance, count)  # noqa: E731 # said once, used a dozen times
    return Page(
        language=language,
        title=some(3),
        headline=some(5),
        paragraphs=[paragraph(language, chance) for _ in range(chance.randint(4, 9))],
        items=[(f"/item/{chance.randint(1, 9999)}", some(4)) for _ in range(chance.randint(3, 7))],
        rows=[(some(2), str(chance.randint(10, 9999))) for _ in range(chance.randint(3, 6))],
        price=f"{chance.randint(1, 99)}.{chance.randint(10, 99)}",
        stock=some(2),
        event=f"{chance.randint(1, 28)}.{chance.randint(1, 12)}.2027",
        phone=f"+{chance.randint(10, 99)} {chance.randint(100, 999)} {chance.randint(1000, 9999)}",
        image=some(2),
        menu=[(f"/{number}", some(1)) for number in range(6)],
        footer=[some(4), some(3)],
        seed=seed,
    )


def written(page: Page, parts: dict[str, list[str]] | None = None) -> str:
    """A page as HTML, with noise at its places: head, top, above, inside, below, side and foot."""
    at = {name: "".join(found) for name, found in (parts or {}).items()}
    menu = "".join(f'<li><a href="{to}">{text}</a></li>\n' for to, text in page.menu)
    items = "".join(f'<li><a href="{to}">{text}</a></li>\n' for to, text in page.items)
    rows = "".join(f"<tr><td>{name}</td><td>{value}</td></tr>\n" for name, value in page.rows)
    half = len(page.paragraphs) // 2
    first = "".join(f"<p>{text}</p>\n" for text in page.paragraphs[:half])
    rest = "".join(f"<p>{text}</p>\n" for text in page.paragraphs[half:])
    footer = "".join(f"<p>{text}</p>\n" for text in page.footer)
    return (
        f"<!DOCTYPE html>\n<html><head><title>{page.title}</title>{at.get('head', '')}</head>\n"
        f"<body>{at.get('top', '')}<nav><ul>{menu}</ul></nav>\n<main>{at.get('above', '')}"
        f"<h1>{page.headline}</h1>\n{first}{at.get('inside', '')}{rest}"
        f'<div class="box">{page.words(random.Random(1), 2)}: <b>{page.price}</b> EUR</div>'
        f"<div>{page.stock}</div><p>Event {page.event}</p><p>Tel. {page.phone}</p>"
        f'<img src="/i.png" alt="{page.image}">\n<table>{rows}</table><ul>{items}</ul>'
        f"{at.get('below', '')}</main><aside>{at.get('side', '')}</aside>\n"
        f"<footer>{footer}{at.get('foot', '')}</footer></body></html>"
    )


def encoded(text: str, language: str) -> tuple[bytes, str]:
    """Bytes of a page and its `Content-Type`."""
    encoding = LANGUAGES[language][0]
    return text.encode(encoding, "xmlcharrefreplace"), f"text/html; charset={encoding}"


@dataclass
class Clock:
    """Instants of fetches: days apart, but for double fetches."""

    chance: random.Random
    now: datetime = datetime(2026, 3, 5, 9, 30, 12, tzinfo=UTC)
    count: int = 0
    seeds: list[int] = field(default_factory=list)

    def fetch(self, *, soon: bool = False) -> Fetch:
        if soon:
            self.now += timedelta(seconds=self.chance.uniform(1, 4))
        else:
            self.now += timedelta(hours=self.chance.uniform(3, 100))
        self.count += 1
        return Fetch(random.Random(self.chance.random()), self.now, self.count)


def copied(page: Page) -> Page:
    """A page that can be changed alone."""
    return replace(
        page,
        paragraphs=list(page.paragraphs),
        items=list(page.items),
        rows=list(page.rows),
        menu=list(page.menu),
        footer=list(page.footer),
    )
