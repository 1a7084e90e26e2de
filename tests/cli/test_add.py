"""`recrawl add`, as people run it."""

from recrawl.settings.settings import read_settings
from recrawl.store import open_store
from tests.cli.crawls import start
from tests.cli.running import run, sentence
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.waiting import wait_until

AGENT = "test-bot (me@example.org)"


def addresses(folder):
    with open_store(folder / "recrawl.db") as reader:
        return [each for some in reader.all_addresses() for each in some]


def test_a_site_is_written_down_with_its_pages(tmp_path):
    run("init", tmp_path, "--agent", AGENT)
    with FaultServer({"/": answers.page(b"home")}).in_thread() as server:
        server.pages["/sitemap.xml"] = answers.status(
            200, server.address("/1").encode(), content_type="text/plain"
        )
        ended = run(
            "add", server.address("/"), "--local", "--weight", "2", "--links", "3", cwd=tmp_path
        )

        assert ended.code == 0
        assert ended.err.splitlines()[0] == f"Added {server.address('/')} to recrawl.toml."
        assert ": 2 pages in 1 sitemaps and 0 feeds." in ended.err
        assert addresses(tmp_path) == [server.address("/"), server.address("/1")]
    rule = read_settings((tmp_path / "recrawl.toml").read_text()).rules[0]
    assert (rule.weight, rule.links, rule.local, rule.exact) == (2.0, 3, True, False)


def test_the_crawl_does_not_look_again_at_what_was_just_added(tmp_path):
    run("init", tmp_path, "--agent", AGENT)
    with FaultServer({"/": answers.page(b"home")}).in_thread() as server:
        run("add", server.address("/"), "--local", cwd=tmp_path)
        run("crawl", "--once", cwd=tmp_path)

        assert len(server.asked("/sitemap.xml")) == 1
        assert len(server.asked("/robots.txt")) == 1


def test_weights_are_read_before_anything_is_added(tmp_path):
    run("init", tmp_path, "--agent", AGENT)
    settings = tmp_path / "recrawl.toml"
    before = 'weights = "views.csv"\n' + settings.read_text()
    settings.write_text(before)
    with FaultServer({"/p": answers.page(b"a page")}).in_thread() as server:
        words = ("add", server.address("/p"), "--page-only", "--local")
        assert "views.csv: must be a readable file" in sentence(run(*words, cwd=tmp_path))
        assert settings.read_text() == before
        (tmp_path / "views.csv").write_text(f"page,weight\n{server.address('/p')},3\n")

        assert run(*words, cwd=tmp_path).code == 0
        assert addresses(tmp_path) == [server.address("/p")]


def test_one_page_is_only_that(tmp_path):
    run("init", tmp_path, "--agent", AGENT)
    with FaultServer({"/p": answers.page(b"a page")}).in_thread() as server:
        ended = run("add", server.address("/p"), "--page-only", "--local", cwd=tmp_path)

        assert ended.code == 0
        assert addresses(tmp_path) == [server.address("/p")]
        assert [seen.path for seen in server.requests] == ["/robots.txt"]


def test_a_site_that_is_there_already_is_refused(tmp_path):
    run("init", tmp_path, "--agent", AGENT)
    with FaultServer().in_thread() as server:
        run("add", server.address("/"), "--local", cwd=tmp_path)
        before = (tmp_path / "recrawl.toml").read_text()
        said = sentence(run("add", server.address("/"), "--local", cwd=tmp_path))

    assert said.endswith(" is already a [[site]]")
    assert (tmp_path / "recrawl.toml").read_text() == before


def test_without_a_store_nothing_is_written(tmp_path):
    run("init", tmp_path, "--agent", AGENT)
    (tmp_path / "recrawl.db").unlink()
    before = (tmp_path / "recrawl.toml").read_text()

    said = sentence(run("add", "http://127.0.0.1:9/", cwd=tmp_path))

    assert "not found" in said
    assert (tmp_path / "recrawl.toml").read_text() == before


def test_beside_a_crawl_that_runs_it_says_what_to_do(tmp_path):
    run("init", tmp_path, "--agent", AGENT)
    with FaultServer({"/": answers.page(b"home")}).in_thread() as server:
        run("add", server.address("/"), "--local", cwd=tmp_path)
        count = len(server.requests)
        with start(tmp_path):
            wait_until(lambda: len(server.requests) > count)
            ended = run("add", server.address("/q"), "--page-only", "--local", cwd=tmp_path)

    assert ended.code == 0
    assert "restart it" in ended.err
