"""How a spider asks for its pages, in a file that may be damaged."""

import pytest

from recrawl.adapters.scrapy.request_book import RequestBook
from recrawl.errors import StoreCorrupt, StoreUnwritable

PAGE_BYTES = 4096


def filled(path):
    """Enough requests for several levels of a tree."""
    with RequestBook(path) as book:
        book.put((f"https://a.org/{number}", "{}" * 200) for number in range(500))
        book.begin("https://a.org/1")
    return path


def test_what_was_kept_is_there_the_next_time(tmp_path):
    with RequestBook(filled(tmp_path / "a.db")) as book:
        assert book.get("https://a.org/7") == "{}" * 200
        assert book.get("https://b.org/") is None
        assert book.unparsed() == ["https://a.org/1"]
        book.end("https://a.org/1")
        assert book.unparsed() == []


@pytest.mark.parametrize("use", ["get", "put", "begin", "end", "unparsed"])
def test_a_damaged_file_is_one_sentence(tmp_path, use):
    """All pages of the file but the first, which holds its schema."""
    path = filled(tmp_path / "a.db")
    whole = path.read_bytes()
    path.write_bytes(whole[:PAGE_BYTES] + b"\xff" * (len(whole) - PAGE_BYTES))
    book = RequestBook(path)
    given = {"put": [[("https://a.org/3", "{}")]], "unparsed": []}.get(use, ["https://a.org/3"])

    with pytest.raises(StoreCorrupt) as refused:
        getattr(book, use)(*given)

    assert str(refused.value).startswith(f"{path} is damaged (")
    assert "\n" not in str(refused.value)
    book.close()


def test_a_file_that_is_none_is_one_sentence(tmp_path):
    path = tmp_path / "a.db"
    path.write_text("hello " * 100)

    with pytest.raises(StoreCorrupt, match="is damaged"):
        RequestBook(path)


def test_a_file_that_cannot_be_opened_is_one_sentence(tmp_path):
    with pytest.raises(StoreUnwritable, match="cannot be read or written"):
        RequestBook(tmp_path / "missing" / "a.db")
