#!/usr/bin/env python3
"""Two sites with odd corners, on loopback, for trials of a crawler.

    python3 sites.py 18801 18802 --log requests.jsonl --truth truth.json

A (a magazine)      http://127.0.0.1:P1/
B (documentation)   http://127.0.0.2:P2/

Each request is one JSON line in the log; the truth (what exists, what changed and when) is written every 5
seconds.  Standard library only; end it with SIGTERM or Ctrl-C.
"""
import argparse, base64, hashlib, json, os, random, signal, threading, time
from datetime import datetime, timezone
from email.utils import formatdate
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

OLD = 20            # articles at the start
EVERY = 20.0        # seconds between new articles
HIDDEN = 240.0      # seconds until a new article is in the sitemap
FEED = 15           # newest articles in the feed
RELEASE = 120.0     # seconds between releases of site B
MOVED, DELETED = 60.0, 90.0   # seconds until B moves one page, and deletes two
USER, PASSWORD = "me", "s3cret-pass"
WORDS = ("river market bridge council winter harvest signal engine library garden festival railway theatre harbour "
         "mountain teacher doctor painter budget election weather island forest village museum concert kitchen "
         "journey history science language travel morning evening quiet bright heavy narrow ancient modern").split()
T0 = time.time()
LOCK = threading.Lock()
FLAKY = {"n": 0}


def iso(t): return datetime.fromtimestamp(t, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
def age(): return time.time() - T0


def prose(seed, paragraphs=3):
    r = random.Random(seed)
    return "".join("<p>%s.</p>\n" % " ".join(r.choice(WORDS) for _ in range(45)).capitalize()
                   for _ in range(paragraphs))


# ---- site A
def count(): return OLD + int(age() // EVERY)                      # articles so far, 1..count()
def born(i): return T0 - 86400 * (OLD - i + 1) if i <= OLD else T0 + (i - OLD) * EVERY
def edits(i):                                                      # articles 1..8 are edited
    return int(age() // (30 + 10 * i)) if i <= 8 else 0
def edited_at(i):
    n = edits(i)
    return T0 + n * (30 + 10 * i) if n else born(i)


def article(i, printed=False, base=""):
    extra = "".join(f"<p>Update {k} at {iso(T0 + k * (30 + 10 * i))}: {' '.join(random.Random((i, k).__hash__()).choices(WORDS, k=12))}.</p>"
                    for k in range(1, edits(i) + 1))
    links = "" if printed else (
        f'<p><a href="/news/{i}/print">Print view</a> '
        f'<a href="/news/{max(1, i - 1)}?utm_source=related&amp;utm_medium=web">Related</a> '
        f'<a href="/news/{max(1, i - 2)}?fbclid=IwAR{i:04d}x">Shared</a></p>')
    return (f'<title>Article {i}</title><link rel="canonical" href="{base}/news/{i}">',
            f"<article><h1>Article {i}</h1>{prose('a%d' % i)}{extra}</article>{links}")


def site_a(h, path, query):
    base = h.base
    if path == "/robots.txt":
        return h.send(200, f"User-agent: *\nDisallow: /private/\nCrawl-delay: 1\n\nSitemap: {base}/sitemap.xml\n", "text/plain")
    if path == "/sitemap.xml":
        return h.send(200, '<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
                      + "".join(f"<sitemap><loc>{base}/{n}</loc></sitemap>" for n in ("sitemap-news.xml", "sitemap-pages.xml"))
                      + "</sitemapindex>", "application/xml")
    if path in ("/sitemap-news.xml", "/sitemap-pages.xml"):
        if "news" in path:
            rows = [(f"/news/{i}", edited_at(i)) for i in range(1, count() + 1) if i <= OLD or time.time() - born(i) > HIDDEN]
        else:
            rows = [(p, T0 - 864000) for p in ("/", "/about", "/contact", "/noisy/1", "/noisy/2", "/flaky", "/app")]
        return h.send(200, '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
                      + "".join(f"<url><loc>{base}{p}</loc><lastmod>{iso(t)}</lastmod></url>" for p, t in rows) + "</urlset>", "application/xml")
    if path == "/feed.xml":
        items = "".join(f"<item><title>Article {i}</title><link>{base}/news/{i}?utm_source=rss</link><guid isPermaLink=\"true\">{base}/news/{i}</guid>"
                        f"<pubDate>{formatdate(born(i), usegmt=True)}</pubDate></item>"
                        for i in range(count(), max(0, count() - FEED), -1))
        return h.send(200, f'<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0"><channel><title>Magazine</title><link>{base}/</link><description>News</description>{items}</channel></rss>',
                      "application/rss+xml")
    if path == "/":
        sid = "%08x" % random.getrandbits(32)
        links = ["/about", "/contact", "/calendar?month=2026-11", "/noisy/1", "/noisy/2", "/app", "/flaky", "/r/1", "/loop/a",
                 "/account", "/staff/", "/staff/list", "/private/secret", f"/about?sid={sid}", f"/news/5;jsessionid={sid.upper()}",
                 "/news/1?utm_source=home", "/news/2?fbclid=IwAR1234", "/news/3?utm_source=home&utm_campaign=top", "/news/4", "/news/6/print"]
        return h.send(200, h.page('<title>The Magazine</title><link rel="alternate" type="application/rss+xml" title="News" href="/feed.xml">',
                                  "<h1>The Magazine</h1><p>All the news of the harbour.</p><ul>"
                                  + "".join(f'<li><a href="{escape(u)}">{escape(u.split("?")[0].split(";")[0])}</a></li>' for u in links) + "</ul>"))
    plain = path.split(";")[0]
    if plain.startswith("/news/"):
        parts = plain.split("/")
        if parts[2].isdigit() and 1 <= int(parts[2]) <= count() and (len(parts) == 3 or parts[3:] == ["print"]):
            i = int(parts[2])
            return h.send(200, h.page(*article(i, len(parts) == 4, base)), modified=edited_at(i))
        return h.send(404, h.page("<title>Not found</title>", "<h1>Not found</h1>"))
    if path in ("/about", "/contact"):
        sid = query.get("sid", [None])[0]
        more = f'<p><a href="/contact?sid={sid}">Contact</a></p>' if sid else ""
        return h.send(200, h.page(f"<title>{path[1:].title()}</title>", f"<h1>{path[1:].title()}</h1>{prose(path)}{more}"))
    if path == "/calendar":
        try:
            y, m = map(int, query["month"][0].split("-")); assert 1 <= m <= 12 and 1 <= y <= 9998
        except Exception:
            y, m = 2026, 11
        nxt, prv = (f"{y + m // 12}-{m % 12 + 1:02d}", f"{y - (m == 1)}-{(m - 2) % 12 + 1:02d}")
        return h.send(200, h.page(f"<title>Calendar {y}-{m:02d}</title>", f"<h1>Calendar {y}-{m:02d}</h1><p>No events in {y}-{m:02d}.</p>"
                                  f'<p><a href="/calendar?month={prv}">Previous month</a> <a href="/calendar?month={nxt}">Next month</a></p>'))
    if path.startswith("/noisy/"):
        r = random.getrandbits(40)
        return h.send(200, h.page(f"<title>Noisy {escape(path[7:])}</title>", f"<p>It is {datetime.now():%H:%M:%S} now.</p><h1>Noisy page</h1>{prose(path)}"
                                  f'<div class="ad" id="ad-{r:010x}">Advertisement {r:010x}</div><p>You are visitor {r % 99999}.</p>'))
    if path == "/app":
        return h.send(200, '<!doctype html><html><head><title>App</title><script src="/static/app.js" defer></script></head>'
                           '<body><div id="root"></div><noscript>You need to enable JavaScript to run this app.</noscript></body></html>')
    if path == "/static/app.js":
        return h.send(200, "document.getElementById('root').innerHTML='<h1>drawn by a script</h1>'", "text/javascript")
    if path == "/flaky":
        with LOCK:
            FLAKY["n"] += 1; n = FLAKY["n"]
        if n % 3 == 2:
            return h.send(500, h.page("<title>Error</title>", "<h1>Internal server error</h1>"))
        return h.send(200, h.page("<title>Flaky</title>", f"<h1>Flaky</h1>{prose('flaky')}"))
    if path.startswith("/r/") and path[3:] in "1234":
        n = int(path[3:])
        return h.send(302 if n % 2 else 301, "", headers={"Location": f"/r/{n + 1}" if n < 4 else "/landing"})
    if path == "/landing":
        return h.send(200, h.page("<title>Landing</title>", f"<h1>Landing</h1>{prose('landing')}"))
    if path in ("/loop/a", "/loop/b"):
        return h.send(302, "", headers={"Location": "/loop/b" if path.endswith("a") else "/loop/a"})
    if path == "/account":
        return h.send(401, h.page("<title>Log in</title>", "<h1>Please log in</h1>"), headers={"WWW-Authenticate": 'Basic realm="account"'})
    if path.startswith("/staff"):
        return h.send(403, h.page("<title>Forbidden</title>", "<h1>Forbidden</h1>"))
    if path.startswith("/private/"):
        return h.send(200, h.page("<title>Secret</title>", "<h1>robots.txt says no</h1>"))
    return h.send(404, h.page("<title>Not found</title>", "<h1>Not found</h1>"))


# ---- site B
DOCS = [f"/docs/chapter-{i}" for i in range(1, 11)] + ["/docs/changelog", "/docs/wrong-date", "/docs/old-install", "/docs/legacy", "/docs/gone"]
MEMBERS = [f"/members/{i}" for i in range(1, 5)]
def release(): return int(age() // RELEASE) + 1
def released(): return T0 + (release() - 1) * RELEASE


def site_b(h, path, query):
    base, n = h.base, release()
    if path == "/":
        return h.send(200, h.page('<title>Manual</title><link rel="alternate" type="application/atom+xml" href="/atom.xml">',
                                  "<h1>Manual</h1><p>Subscribe to our feed.</p>"))
    if path == "/atom.xml":
        entries = "".join(f'<entry><title>{p}</title><id>tag:manual,2026:{p}</id><link rel="alternate" href="{base}{p}"/><updated>{iso(released())}</updated></entry>'
                          for p in DOCS + ["/members/"])
        return h.send(200, f'<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom"><title>Manual</title><id>tag:manual,2026:feed</id><updated>{iso(released())}</updated>{entries}</feed>',
                      "application/atom+xml")
    if path.startswith("/members"):
        want = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if h.headers.get("Authorization") != want:
            return h.send(401, h.page("<title>Members only</title>", "<h1>Members only</h1>"), headers={"WWW-Authenticate": 'Basic realm="members"'})
        if path in ("/members", "/members/"):
            return h.send(200, h.page("<title>Members</title>", "<h1>Members</h1>" + "".join(f'<p><a href="{p}">{p}</a></p>' for p in MEMBERS)))
        if path in MEMBERS:
            return h.send(200, h.page(f"<title>{path}</title>", f"<h1>Member page {path}</h1>{prose(path)}<p>As of release {n}.</p>"))
    if path == "/docs/old-install" and age() > MOVED:
        return h.send(301, "", headers={"Location": "/docs/install-guide"})
    if path == "/docs/install-guide" and age() <= MOVED:
        return h.send(404, h.page("<title>Not found</title>", "<h1>Not found</h1>"))
    if path == "/docs/legacy" and age() > DELETED:
        return h.send(404, h.page("<title>Not found</title>", "<h1>Not found</h1>"))
    if path == "/docs/gone" and age() > DELETED:
        return h.send(410, h.page("<title>Gone</title>", "<h1>Gone</h1>"))
    if path in DOCS or path == "/docs/install-guide":
        body = h.page(f"<title>{path}</title>", f"<h1>Manual {path}</h1><p>This is the manual of release {n}.</p>{prose(path)}{prose((path + str(n)), 1)}")
        if path == "/docs/wrong-date":      # says that it has not changed since 2001, though it has
            if h.headers.get("If-Modified-Since"):
                return h.send(304, "")
            return h.send(200, body, headers={"Last-Modified": "Mon, 01 Jan 2001 00:00:00 GMT"}, etag=False)
        return h.send(200, body, modified=released())
    return h.send(404, h.page("<title>Not found</title>", "<h1>Not found</h1>"))


# ---- server
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def page(self, head, body):
        return f'<!doctype html><html lang="en"><head><meta charset="utf-8">{head}</head><body>{body}</body></html>'

    def send(self, code, text, kind="text/html; charset=utf-8", headers=(), modified=None, etag=True):
        data, head = text.encode(), dict(headers)
        if code == 200 and modified is not None:
            head["Last-Modified"] = formatdate(modified, usegmt=True)
            if etag:
                head["ETag"] = '"%s"' % hashlib.sha1(data).hexdigest()[:16]
                if self.headers.get("If-None-Match") == head["ETag"]:
                    code, data = 304, b""
        self.code = code
        self.send_response(code)
        for k, v in head.items():
            self.send_header(k, v)
        if code != 304:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD" and code != 304:
            self.wfile.write(data)

    def do_GET(self):
        began, self.code = time.time(), 0
        self.base = f"http://{self.server.server_address[0]}:{self.server.server_address[1]}"
        try:
            u = urlsplit(self.path)
            self.server.site(self, u.path, parse_qs(u.query))
        except (BrokenPipeError, ConnectionResetError):
            pass
        finally:
            row = {"time": round(began, 3), "at": iso(began), "site": self.server.name, "method": self.command, "path": self.path,
                   "code": self.code, "agent": self.headers.get("User-Agent", ""), "auth": bool(self.headers.get("Authorization")),
                   "conditional": bool(self.headers.get("If-None-Match") or self.headers.get("If-Modified-Since"))}
            with LOCK:
                self.server.out.write(json.dumps(row) + "\n"); self.server.out.flush()

    do_HEAD = do_GET
    def log_message(self, *a): pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    def handle_error(self, request, client_address): pass


def truth():
    return {"started": iso(T0), "now": iso(time.time()), "age_seconds": round(age()),
            "A": {"articles": count(), "newest": f"/news/{count()}", "new": {f"/news/{i}": iso(born(i)) for i in range(OLD + 1, count() + 1)},
                  "not_yet_in_sitemap": [f"/news/{i}" for i in range(OLD + 1, count() + 1) if time.time() - born(i) <= HIDDEN],
                  "edits": {f"/news/{i}": edits(i) for i in range(1, 9)}, "other_pages": ["/", "/about", "/contact", "/noisy/1", "/noisy/2", "/app", "/flaky", "/landing"],
                  "forbidden_by_robots": ["/private/secret"], "401": ["/account"], "403": ["/staff/", "/staff/list"],
                  "traps_and_copies": ["/calendar?month=*", "*;jsessionid=*", "*?sid=*", "*?utm_*", "*?fbclid=*", "/news/*/print", "/r/1-4", "/loop/a,b"]},
            "B": {"pages": ["/"] + DOCS, "release": release(), "released": iso(released()), "members": ["/members/"] + MEMBERS,
                  "moved": {"/docs/old-install": "/docs/install-guide"} if age() > MOVED else {},
                  "deleted": {"/docs/legacy": 404, "/docs/gone": 410} if age() > DELETED else {}, "wrong_last_modified": ["/docs/wrong-date"]}}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("port_a", type=int); p.add_argument("port_b", type=int)
    p.add_argument("--log", default="requests.jsonl"); p.add_argument("--truth", default="truth.json")
    a = p.parse_args()
    stop = threading.Event()
    for s in (signal.SIGTERM, signal.SIGINT):
        signal.signal(s, lambda *_: stop.set())
    with open(a.log, "a") as out:
        servers = []
        for name, ip, port, site in (("A", "127.0.0.1", a.port_a, site_a), ("B", "127.0.0.2", a.port_b, site_b)):
            s = Server((ip, port), Handler); s.name, s.site, s.out = name, site, out
            threading.Thread(target=s.serve_forever, kwargs={"poll_interval": 0.5}, daemon=True).start()
            servers.append(s)
            print(f"site {name}: http://{ip}:{port}/", flush=True)
        while True:
            with open(a.truth + ".tmp", "w") as f:
                json.dump(truth(), f, indent=1)
            os.replace(a.truth + ".tmp", a.truth)
            if stop.wait(5):
                break


if __name__ == "__main__":
    main()
