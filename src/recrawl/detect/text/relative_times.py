"""Relative times such as "5 minutes ago", removed from text in many languages.

They differ at each visit though nothing happened. Only times in the past are removed ("in 5
minutes" may be a recipe), and only from short lines: in a paragraph they are part of a story.
Dates, clocks, "today" and "yesterday" stay.

Pure.
"""
# ruff: noqa: RUF001 # letters of other scripts look like Latin ones; they are meant

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from recrawl.detect.text.characters import code_points

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

# In a longer line, a time is part of what it says.
_LONGEST_LINE = 120
# Bounded: a page may be one long number.
_NUMBER = r"(?:[0-9٠-٩۰-۹०-९][0-9٠-٩۰-۹०-९.,]{0,9}\+?)"


def _after(numbers: str, units: str, ago: str, *, joined: str = "") -> str:
    """A number and a unit, once or more, and then a word for "ago"."""
    count = rf"(?:{_NUMBER}|{numbers})" if numbers else _NUMBER
    more = rf"(?:(?:,| {joined}|,? ) ?{count} ?(?:{units})){{0,3}}"
    return rf"(?<!\w){count} ?(?:{units}){more} (?:{ago})(?!\w)"


def _before(ago: str, numbers: str, units: str, joined: str = "und") -> str:
    """A word for "ago", and then a number and a unit, once or more."""
    count = rf"(?:{_NUMBER}|{numbers})" if numbers else _NUMBER
    return (
        rf"(?<!\w)(?:{ago}) (?:\w{{1,16}} ){{0,2}}?{count} ?(?:{units})"
        rf"(?:,? (?:(?:{joined}) )?{count} ?(?:{units})){{0,3}}(?!\w)"
    )


# By a piece of text that all of them have, in small letters: where it is missing, nothing is tried.
_TIMES: tuple[tuple[str, str], ...] = (
    (
        " ago",
        r"(?:\b(?:about|around|over|almost|nearly|more than|less than|a) )?"
        + _after(
            "an?|one|two|three|four|five|six|seven|eight|nine|ten|few|couple of|several",
            r"(?:second|sec|minute|min|hour|hr|day|week|wk|month|mo|year|yr)s?\.?|[smhdwy]",
            "ago",
            joined="and",
        ),
    ),
    ("just now", r"(?<!\w)just now(?!\w)"),
    (
        "vor ",
        _before(
            "vor",
            "eine[rmn]?|zwei|drei|wenigen|einigen",
            r"sekunden?|sek\.?|minuten?|min\.?|stunden?|std\.?|tag(?:en)?|wochen?|monat(?:en)?"
            r"|jahr(?:en)?",
        ),
    ),
    (
        "il y a",
        _before(
            "il y a",
            "une?|quelques",
            r"secondes?|sec\.?|s|minutes?|mins?\.?|heures?|h|jours?|j|semaines?|mois|ans?|années?",
            "et",
        ),
    ),
    (
        "hace ",
        _before(
            "hace",
            "una?|unos|unas|algunos",
            r"segundos?|seg\.?|minutos?|min\.?|horas?|h|días?|semanas?|mes(?:es)?|años?",
            "y",
        ),
    ),
    (
        " fa",
        _after(
            "un[ao']?|pochi",
            r"second[oi]|sec\.?|minut[oi]|min\.?|or[ae]|giorn[oi]|settiman[ae]|mes[ei]|ann[oi]",
            "fa",
            joined="e",
        ),
    ),
    (
        "há ",
        _before(
            "há",
            "uma?|alguns",
            r"segundos?|seg\.?|minutos?|min\.?|horas?|h|dias?|semanas?|mês|meses|anos?",
            "e",
        ),
    ),
    (
        " atrás",
        _after(
            "uma?", r"segundos?|minutos?|min\.?|horas?|h|dias?|semanas?|mês|meses|anos?", "atrás"
        ),
    ),
    (
        " geleden",
        _after(
            "een|één|enkele",
            r"seconden?|sec\.?|minuut|minuten|min\.?|uur|uren|dag(?:en)?|weken|week|maand(?:en)?"
            r"|jaar|jaren",
            "geleden",
            joined="en",
        ),
    ),
    (
        " назад",
        r"(?:(?<!\w)(?:около|более) )?(?:"
        + _after(
            "одну|один|несколько",
            r"секунд[уы]?|сек\.?|минут[уы]?|мин\.?|час(?:а|ов)?|ч\.?|день|дня|дней|недел[юиь]"
            r"|месяц(?:а|ев)?|год|года|лет|хвилин[уи]?|годин[уи]?",
            "назад",
        )
        + r"|(?<!\w)(?:секунду|минуту|час|день|неделю|месяц|год) назад(?!\w))",
    ),
    (
        " temu",
        r"(?:"
        + _after(
            "kilka",
            r"sekund[ęy]?|sek\.?|minut[ęy]?|min\.?|godzin[ęy]?|godz\.?|dzień|dni|tydzień|tygodni[ea]?"
            r"|miesiąc|miesięcy|miesiące|rok|lata?",
            "temu",
        )
        + r"|(?<!\w)(?:minutę|godzinę|dzień|tydzień|miesiąc|rok) temu(?!\w))",
    ),
    (
        " sedan",
        r"(?:(?<!\w)för )?"
        + _after(
            "en|ett|några",
            r"sekund(?:er)?|minut(?:er)?|min\.?|timm(?:e|ar)|tim\.?|dag(?:ar)?|veck(?:a|or)"
            r"|månad(?:er)?|år",
            "sedan",
        ),
    ),
    (
        " siden",
        r"(?:(?<!\w)for )?"
        + _after(
            "en|et|ett|noen|nogle",
            r"sekund(?:er)?|minutt?(?:er)?|min\.?|tim(?:e|er)|dag(?:er|e)?|uker?|uger?"
            r"|måned(?:er)?|år",
            "siden",
        ),
    ),
    (
        " sitten",
        _after(
            "",
            r"sekunti[a]?|minuutti[a]?|min|tunti[a]?|päivää?|viikkoa?|kuukau(?:si|tta)"
            r"|vuo(?:si|tta)",
            "sitten",
        ),
    ),
    (
        " önce",
        _after(
            "bir(?:kaç)?",
            r"saniye|sn\.?|dakika|dk\.?|saat|sa\.?|gün|hafta|ay|yıl",
            "önce",
        ),
    ),
    (
        "před ",
        _before(
            "před",
            "",
            r"sekund(?:ou|ami)|minut(?:ou|ami)|min\.?|hodin(?:ou|ami)|dn(?:em|y)|týdn(?:em|y)"
            r"|měsíc(?:em|i)|rok(?:em|y)|lety",
            "a",
        ),
    ),
    (
        " ezelőtt",
        _after("", "másodperccel|perccel|órával|nappal|héttel|hónappal|évvel", "ezelőtt"),
    ),
    ("acum ", _before("acum", "un|o", r"secunde?|minute?|or[ăe]|zile?|luni?|ani?", "și")),
    (
        "πριν ",
        _before(
            "πριν(?: από)?",
            "έν[αν]+|μία",
            "δευτερόλεπτ[οα]|λεπτ[όά]|λ|ώρ[αες]+|ημέρ[αες]+|μέρ[αες]+|εβδομάδ[αες]+|μήν[αες]+"
            "|χρόνι[αο]",
            "και",
        ),
    ),
    (
        "前",
        (
            rf"(?:約|约|大约)?{_NUMBER} ?"
            r"(?:秒|分|分钟|分鐘|小时|小時|時間|日|天|週間?|周|星期|[かヶケ]月|[个個]月|年)前"
        ),
    ),
    ("刚刚", "(?:刚刚)"),
    ("전", rf"(?:약 )?{_NUMBER} ?(?:초|분|시간|일|주|개월|달|년) ?전(?!\w)"),
    (
        "منذ",
        (
            rf"(?<!\w)منذ (?:{_NUMBER} )?(?:ثوان[يٍ]?|ثانيت?ي?ن?ة?|دقيقة|دقيقتين|دقائق|ساعة|ساعتين"
            r"|ساعات|يوم|يومين|أيام|يومًا|أسبوع|أسبوعين|أسابيع|شهر|شهرين|أشهر|سنة|سنتين|سنوات)(?!\w)"
        ),
    ),
    (
        "לפני",
        (
            rf"(?<!\w)לפני (?:{_NUMBER} )?(?:שניות|דקה|דקות|שעה|שעתיים|שעות|יום|יומיים|ימים|שבוע"
            r"|שבועות|חודש|חודשים|שנה|שנים)(?!\w)"
        ),
    ),
    ("पहले", rf"{_NUMBER} ?(?:सेकंड|मिनट|घंटे|घंटा|दिन|सप्ताह|हफ़्ते|महीने|माह|साल|वर्ष) पहले"),
    ("yang lalu", _after("", "detik|menit|jam|hari|minggu|bulan|tahun", "yang lalu")),
    (
        " trước",
        _after("", "giây|phút|giờ|ngày|tuần|tháng|năm", "trước"),
    ),
    ("ที่แล้ว", rf"{_NUMBER} ?(?:วินาที|นาที|ชั่วโมง|วัน|สัปดาห์|เดือน|ปี)ที่แล้ว"),
)
_LETTERS = 4


def _pieces(text: str) -> npt.NDArray[np.uint16]:
    """A number for each four letters that stand together; others may have the same."""
    codes = code_points(text).astype(np.uint16)
    pairs = codes[:-1] * 31 + codes[1:]  # of 16 bits, as its parts are
    fours: npt.NDArray[np.uint16] = pairs[:-2] * 961 + pairs[2:]
    return fours


def _piece(mark: str) -> int | None:
    """The number of the first letters of a mark; None where it has fewer than four."""
    return int(_pieces(mark)[0]) if len(mark) >= _LETTERS else None


def _letter(mark: str) -> str:
    """The first letter of a mark that is not ASCII, which is found at once; empty for none."""
    return next((letter for letter in mark if not letter.isascii()), "")


_PATTERNS = tuple(
    (written, _piece(written), _letter(written), time)
    for mark, time in _TIMES
    for written in dict.fromkeys((mark, mark[0].upper() + mark[1:]))
)
_WITHOUT_PIECE = tuple(pattern for pattern in _PATTERNS if pattern[1] is None)
# In a text of fewer letters these are found faster than an array is made.
_SHORT = 600
# Most texts have none of them: all are looked for at once.
_TELLING = np.zeros(1 << 16, np.bool_)
_TELLING[[piece for _, piece, *_ in _PATTERNS if piece is not None]] = True


def without_relative_times(lines: list[str]) -> list[str]:
    """Lines without relative times; white space stays single.

    >>> without_relative_times(["Posted 5 minutes ago by Bo", "vor 2 Stunden", "3 days later"])
    ['Posted by Bo', '', '3 days later']
    """
    text = "\n".join([line for line in lines if len(line) <= _LONGEST_LINE])
    for mark, pattern in _marked(text):
        lines = [_without(pattern, mark, line) for line in lines]
    return lines


def may_have_relative_times(text: str) -> bool:
    """Whether a text has what relative times are told by.

    >>> may_have_relative_times("5 minutes ago"), may_have_relative_times("5 minutes")
    (True, False)
    """
    return next(_marked(text), None) is not None


def _marked(text: str) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Marks that a text has, and the patterns of what they may mean."""
    # Not in small letters: turning other than ASCII into them takes longer than all the rest.
    patterns = _PATTERNS
    if len(text) >= _SHORT:
        pieces = _pieces(text)
        there = {None, *pieces[_TELLING.take(pieces)].tolist()}
        patterns = _WITHOUT_PIECE
        if len(there) > 1:
            patterns = tuple(pattern for pattern in _PATTERNS if pattern[1] in there)
    for mark, _, letter, pattern in patterns:
        if letter in text and mark in text and _stands_alone(mark, text):
            yield mark, _compiled(pattern)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern, compiled when a text first needs it: all of them take a tenth of a second."""
    return re.compile(pattern, re.IGNORECASE)


def _stands_alone(mark: str, text: str) -> bool:
    """Whether a mark that begins or ends with a space is a word of its own anywhere."""
    place = text.find(mark)
    while place >= 0:
        before, end = mark[-1] == " ", place + len(mark)
        beside = text[max(place - 1, 0) : place] if before else text[end : end + 1]
        if not beside.isalnum() or (mark[0] != " " and not before):
            return True
        place = text.find(mark, place + 1)
    return False


def _without(pattern: re.Pattern[str], mark: str, line: str) -> str:
    if mark not in line or len(line) > _LONGEST_LINE:
        return line
    return " ".join(pattern.sub(" ", line).split())
