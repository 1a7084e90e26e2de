"""Times told from now."""

import pytest

from recrawl.detect.text.relative_times import without_relative_times


@pytest.mark.parametrize(
    "told",
    [
        *("5 minutes ago", "an hour ago", "about 2 hours ago", "3d ago", "1 year, 2 months ago"),
        *("2 hours and 5 minutes ago", "just now", "30+ days ago", "a few seconds ago"),
        *("vor 5 Minuten", "Vor einer Stunde", "vor etwa 2 Tagen", "vor 3 Std."),
        *("il y a 5 minutes", "Il y a une heure", "il y a environ 2 jours", "il y a 3 h"),
        *("hace 5 minutos", "Hace una hora", "hace 2 días", "hace aproximadamente 3 meses"),
        *("5 minuti fa", "un'ora fa", "2 giorni fa", "há 5 minutos", "há uma hora", "2 dias atrás"),
        *("5 minuten geleden", "een uur geleden", "2 dagen geleden"),
        *("5 минут назад", "час назад", "2 дня назад", "около 3 часов назад"),
        *("5 minut temu", "godzinę temu", "2 dni temu", "för 5 minuter sedan", "2 dagar sedan"),
        *("for 5 minutter siden", "2 timer siden", "5 minuuttia sitten"),
        *("5 dakika önce", "bir saat önce", "2 gün önce", "před 5 minutami", "5 perccel ezelőtt"),
        *("acum 5 minute", "πριν 5 λεπτά", "πριν από 2 ώρες"),
        *(
            "5分前",
            "2 時間前",
            "3日前",
            "5分钟前",
            "2小时前",
            "3天前",
            "1个月前",
            "刚刚",
            "5分鐘前",
        ),
        *("5분 전", "2시간 전", "منذ 5 دقائق", "منذ ساعة", "לפני 5 דקות", "לפני שעה"),
        *("5 मिनट पहले", "5 menit yang lalu", "5 phút trước", "5 นาทีที่แล้ว"),
    ],
)
def test_times_that_look_back_are_left_out(told):
    assert without_relative_times([f"Ada, {told}"])[0].strip(" ,") == "Ada"
    assert without_relative_times([told]) == [""]


@pytest.mark.parametrize(
    "told",
    [
        *("in 5 minutes", "5 minutes", "12:03", "16 November 2026", "yesterday", "today at 5"),
        *("Chicago", "long ago", "vor dem Haus", "vor Ort", "il y a un problème", "hace frío"),
        *("la mamma fa 5 torte", "há vagas", "5 sedans", "前", "以前", "2 hours", "5 % ago"),
        *("bevor 5 Minuten um sind",),
    ],
)
def test_other_text_stays(told):
    assert without_relative_times([told]) == [told]
