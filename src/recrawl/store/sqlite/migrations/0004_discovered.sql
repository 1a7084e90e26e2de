-- When new pages of a site were last looked for. Written as it happens: a crawl that is killed must
-- not ask for every sitemap again.
CREATE TABLE discovered (
    address TEXT PRIMARY KEY, -- of the site, as the settings have it
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
