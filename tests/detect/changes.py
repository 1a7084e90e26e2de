"""Kinds of change that a reader would name, each done to the page itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.detect.corpus import LANGUAGES, copied, paragraph, sentence

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from tests.detect.corpus import Page

    Edit = Callable[[Page, random.Random], None]


def another(text: str, page: Page, chance: random.Random) -> str:
    """Another word than this."""
    return chance.choice([word for word in LANGUAGES[page.language][1].split() if word != text])


def one_sign(text: str, page: Page, chance: random.Random) -> str:
    """A text with one letter replaced by one of another word."""
    at = chance.randrange(len(text))
    letters = [sign for sign in another("", page, chance) if sign != text[at]]
    return text[:at] + chance.choice(letters or ["x"]) + text[at + 1 :]


def one_digit(text: str, chance: random.Random) -> str:
    places = [at for at, sign in enumerate(text) if sign.isdigit()]
    at = chance.choice(places)
    return (
        text[:at]
        + chance.choice([sign for sign in "123456789" if sign != text[at]])
        + text[at + 1 :]
    )


def _price(page: Page, chance: random.Random) -> None:
    page.price = one_digit(page.price, chance)


def _stock(page: Page, chance: random.Random) -> None:
    page.stock = page.stock + " " + another("", page, chance)


def _headline(page: Page, chance: random.Random) -> None:
    page.headline = page.words(chance, 6)


def _paragraph_added(page: Page, chance: random.Random) -> None:
    page.paragraphs.insert(
        chance.randrange(len(page.paragraphs) + 1), paragraph(page.language, chance)
    )


def _paragraph_removed(page: Page, chance: random.Random) -> None:
    del page.paragraphs[chance.randrange(len(page.paragraphs))]


def _paragraph_edited(page: Page, chance: random.Random) -> None:
    at = chance.randrange(len(page.paragraphs))
    page.paragraphs[at] += " " + sentence(page.language, chance)


def _one_word(page: Page, chance: random.Random) -> None:
    at = chance.randrange(len(page.paragraphs))
    found = page.paragraphs[at].split(" ")
    where = chance.randrange(len(found))
    found[where] = another(found[where], page, chance)
    page.paragraphs[at] = " ".join(found)


def _one_sign(page: Page, chance: random.Random) -> None:
    at = chance.randrange(len(page.paragraphs))
    page.paragraphs[at] = one_sign(page.paragraphs[at], page, chance)


def _word_order(page: Page, chance: random.Random) -> None:
    at = chance.randrange(len(page.rows))
    page.rows[at] = (page.rows[at][0] + " alpha", page.rows[at][1] + " beta")


def _negation(page: Page, chance: random.Random) -> None:
    at = chance.randrange(len(page.paragraphs))
    page.paragraphs[at] = "Not " + page.paragraphs[at]


def _target(page: Page, chance: random.Random) -> None:
    at = chance.randrange(len(page.items))
    page.items[at] = (f"/elsewhere/{chance.randint(1, 99)}", page.items[at][1])


def _link_added(page: Page, chance: random.Random) -> None:
    at = chance.randrange(len(page.items) + 1)
    page.items.insert(at, (f"/new/{chance.randint(1, 99)}", page.words(chance, 3)))


def _link_removed(page: Page, chance: random.Random) -> None:
    del page.items[chance.randrange(len(page.items))]


def _item(page: Page, chance: random.Random) -> None:
    at = chance.randrange(len(page.items))
    page.items[at] = (page.items[at][0], page.words(chance, 5))


def _items_swapped(page: Page, chance: random.Random) -> None:
    at = chance.randrange(len(page.items) - 1)
    page.items[at], page.items[at + 1] = page.items[at + 1], page.items[at]
    if page.items == sorted(page.items, key=lambda item: item[0]):
        page.items.reverse()


def _row_added(page: Page, chance: random.Random) -> None:
    at = chance.randrange(len(page.rows) + 1)
    page.rows.insert(at, (page.words(chance, 2), str(chance.randint(10, 9999))))


def _row_removed(page: Page, chance: random.Random) -> None:
    del page.rows[chance.randrange(len(page.rows))]


def _rows_swapped(page: Page, chance: random.Random) -> None:
    at = chance.randrange(len(page.rows) - 1)
    page.rows[at], page.rows[at + 1] = page.rows[at + 1], page.rows[at]


def _value(page: Page, chance: random.Random) -> None:
    at = chance.randrange(len(page.rows))
    page.rows[at] = (page.rows[at][0], one_digit(page.rows[at][1], chance))


def _title(page: Page, chance: random.Random) -> None:
    page.title = page.words(chance, 4)


def _event(page: Page, chance: random.Random) -> None:
    day, month, year = page.event.split(".")
    page.event = f"{int(day) % 28 + 1}.{month}.{year}"


def _phone(page: Page, chance: random.Random) -> None:
    page.phone = one_digit(page.phone, chance)


def _image(page: Page, chance: random.Random) -> None:
    page.image = page.words(chance, 3)


def _stub(page: Page, chance: random.Random) -> None:
    page.paragraphs = [sentence(page.language, chance)]
    page.rows = page.rows[:1]


def _menu(page: Page, chance: random.Random) -> None:
    at = chance.randrange(len(page.menu))
    page.menu[at] = (page.menu[at][0], page.menu[at][1] + " " + another("", page, chance))


def _last_of_menu(page: Page, chance: random.Random) -> None:
    page.menu[-1] = ("/moved", page.menu[-1][1])


def _footer(page: Page, chance: random.Random) -> None:
    at = chance.randrange(len(page.footer))
    page.footer[at] = one_sign(page.footer[at], page, chance)


def _before_inside(page: Page, chance: random.Random) -> None:
    at = len(page.paragraphs) // 2 - 1
    page.paragraphs[at] = one_sign(page.paragraphs[at], page, chance)


def _after_inside(page: Page, chance: random.Random) -> None:
    at = len(page.paragraphs) // 2
    page.paragraphs[at] = one_sign(page.paragraphs[at], page, chance)


def _last_item(page: Page, chance: random.Random) -> None:
    page.items[-1] = (page.items[-1][0], one_sign(page.items[-1][1], page, chance))


def _paragraphs_swapped(page: Page, chance: random.Random) -> None:
    at = chance.randrange(len(page.paragraphs) - 1)
    page.paragraphs[at : at + 2] = page.paragraphs[at : at + 2][::-1]


def _sentence_removed(page: Page, chance: random.Random) -> None:
    at = chance.randrange(len(page.paragraphs))
    page.paragraphs[at] = page.paragraphs[at].partition(" ")[2] or page.words(chance, 3)


def _row_renamed(page: Page, chance: random.Random) -> None:
    at = chance.randrange(len(page.rows))
    page.rows[at] = (page.words(chance, 3), page.rows[at][1])


def _all_raised(page: Page, chance: random.Random) -> None:
    page.price = f"{float(page.price) * 1.1:.2f}"
    page.rows = [(name, str(int(value) + 1 + int(value) // 10)) for name, value in page.rows]


def _tenfold(page: Page, chance: random.Random) -> None:
    page.price = "1" + page.price


def _closed(page: Page, chance: random.Random) -> None:
    page.headline += " (closed)"


def _menu_added(page: Page, chance: random.Random) -> None:
    page.menu.insert(chance.randrange(len(page.menu) + 1), ("/added", page.words(chance, 2)))


def _footer_added(page: Page, chance: random.Random) -> None:
    page.footer.insert(chance.randrange(len(page.footer) + 1), page.words(chance, 5))


def _items_replaced(page: Page, chance: random.Random) -> None:
    page.items = [(f"/fresh/{chance.randint(1, 999)}", page.words(chance, 4)) for _ in page.items]


def _first_sentence(page: Page, chance: random.Random) -> None:
    page.paragraphs[0] = f"{sentence(page.language, chance)} {page.paragraphs[0]}"


def _cut_in_half(page: Page, chance: random.Random) -> None:
    page.paragraphs[0] = page.paragraphs[0][: len(page.paragraphs[0]) // 2]


def _price_and_stock(page: Page, chance: random.Random) -> None:
    page.price, page.stock = "0.99", page.words(chance, 3)


def _row_moved(page: Page, chance: random.Random) -> None:
    page.rows.append(page.rows.pop(0))


def _listed_again(page: Page, chance: random.Random) -> None:
    page.items.append((page.items[0][0] + "x", page.items[0][1]))


def _phone_removed(page: Page, chance: random.Random) -> None:
    page.phone = ""


EDITS: dict[str, Edit] = {
    "price": _price,
    "stock": _stock,
    "headline": _headline,
    "paragraph added": _paragraph_added,
    "paragraph removed": _paragraph_removed,
    "paragraph edited": _paragraph_edited,
    "one word": _one_word,
    "one letter or sign": _one_sign,
    "words added to a row": _word_order,
    "negation": _negation,
    "target of a link": _target,
    "link added": _link_added,
    "link removed": _link_removed,
    "item of a list": _item,
    "items swapped": _items_swapped,
    "row added": _row_added,
    "row removed": _row_removed,
    "rows swapped": _rows_swapped,
    "one digit in a table": _value,
    "title": _title,
    "date of an event": _event,
    "telephone number": _phone,
    "words of an image": _image,
    "article cut to a stub": _stub,
    "menu": _menu,
    "target of the last link of the menu": _last_of_menu,
    "one letter of the footer": _footer,
    "line before a noisy place": _before_inside,
    "line after a noisy place": _after_inside,
    "last item before a noisy place": _last_item,
    "paragraphs swapped": _paragraphs_swapped,
    "sentence removed": _sentence_removed,
    "row renamed": _row_renamed,
    "all numbers raised": _all_raised,
    "price tenfold": _tenfold,
    "closed": _closed,
    "link added to the menu": _menu_added,
    "line added to the footer": _footer_added,
    "all items replaced": _items_replaced,
    "first sentence added": _first_sentence,
    "first paragraph cut in half": _cut_in_half,
    "price and stock": _price_and_stock,
    "first row moved to the end": _row_moved,
    "item listed again": _listed_again,
    "telephone number removed": _phone_removed,
}


def edited(page: Page, name: str, chance: random.Random) -> Page:
    """A copy of a page with one change."""
    new = copied(page)
    EDITS[name](new, chance)
    return new
