"""`recrawl import`: visits of other systems as a visit log, or into a store; git as a world.

Touches: files, processes, the standard streams.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from recrawl.adapters.tables.table_options import COLUMN_OPTION, TableOptions, change_words_of
from recrawl.cli import bulk, options, screen, shared
from recrawl.errors import InvalidParameter
from recrawl.store.places import place_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recrawl.adapters.imports.foreign_visits import ForeignVisits, ImportReading

_SOURCES = typer.Argument(
    metavar="SOURCE",
    help=(
        "Files, patterns such as 'logs/*.gz', folders, a git repository, or - for standard input."
    ),
    show_default=False,
)
_AS = typer.Option(
    "--format",
    metavar="KIND",
    help="Format: warc, arc, cdx, cdxj, zipnum, cc-index, access-log, squid, w3c, crawl-log, "
    "table, store or git.  [default: recognised by content]",
    show_default=False,
)
_INTO = typer.Option(
    "--into",
    metavar="STORE",
    help="Write to a store instead of a file: a new one, or one without visits.",
    show_default=False,
    parser=place_of,
)
_SITE = typer.Option(
    "--site",
    metavar="URL",
    help="Scheme and host for an access log that has paths only, e.g. https://example.org.",
    show_default=False,
)
_AGENT = typer.Option(
    "--user-agent",
    metavar="PATTERN",
    help=(
        "For access logs: only requests whose user agent contains this, or matches e.g. 'MyBot/*'."
    ),
    show_default=False,
)
_CLIENT = typer.Option(
    "--client",
    metavar="ADDRESS",
    help="For access logs: only requests from this client address.",
    show_default=False,
)
_BY_KEY = typer.Option(
    "--by-key",
    help="For CDX, CDXJ and cc-index: name pages by key, as in org,example)/, so that http, "
    "https and www are one page.",
)
_COLUMN = typer.Option(
    metavar="OURS=THEIRS",
    help="For tables: name of a column if it differs, e.g. page=url, or page=request.url for "
    "a nested field; may be repeated.",
    show_default=False,
)
_SKIP = typer.Option("--skip-bad-rows", help="For tables: skip malformed rows and count them.")
_PATHS = typer.Option(
    "--paths",
    metavar="PATH",
    help="For a git repository: only files under this path; may be repeated.",
    show_default=False,
)
_BASE = typer.Option(
    "--base",
    metavar="URL",
    help="For a git repository: address that paths are appended to.",
    show_default=False,
)
_OUTPUT = typer.Option(
    "--output",
    "-o",
    metavar="FILE",
    help=(
        "Write to FILE: .csv, .jsonl, .parquet or .feather; for a git repository, a folder DIR/."
    ),
    show_default=False,
)
_SHOWN_DIGEST = 8
_HEADER = ("page", "visited at", "status", "changed", "digest")


class _ReadAs(NamedTuple):
    """What options say of sources; see `ImportReading`, which is slow to load."""

    site: str
    table: TableOptions
    agent: str
    client: str
    by_key: bool


def _options(
    *,
    site: Annotated[str, _SITE] = "",
    agent: Annotated[str, _AGENT] = "",
    client: Annotated[str, _CLIENT] = "",
    by_key: Annotated[bool, _BY_KEY] = False,
    column: Annotated[list[str] | None, _COLUMN] = None,
    skip_bad_rows: Annotated[bool, _SKIP] = False,
    delimiter: Annotated[str, shared.DELIMITER] = "",
    tz: Annotated[str, shared.TIME_ZONE] = "",
    time_format: Annotated[str, shared.TIME_FORMAT] = "",
    encoding: Annotated[str, shared.ENCODING] = "",
    true_words: Annotated[str, shared.TRUE] = "",
    false_words: Annotated[str, shared.FALSE] = "",
) -> _ReadAs:
    """How sources are read, checked before any is."""
    from recrawl.adapters.imports.visit_tables import OPTIONAL
    from recrawl.parse.addresses import canonical, origin_of

    address = canonical(site) if site else ""
    if address is None:
        said = f"--site must be an address such as https://example.org (got {site!r})"
        raise InvalidParameter(said)
    table = replace(
        shared.table_options(
            delimiter=delimiter, tz=tz, time_format=time_format, encoding=encoding
        ),
        columns=options.renamed(column or [], ("page", "visited_at", *OPTIONAL)),
        skip_bad_rows=skip_bad_rows,
        change_words=change_words_of(true_words, false_words),
        rename=COLUMN_OPTION,
    )
    return _ReadAs(origin_of(address) if address else "", table, agent, client, by_key)


@shared.with_options(_options, "read_as")
def import_visits(
    sources: Annotated[list[str], _SOURCES],
    *,
    kind: Annotated[str, _AS] = "",
    paths: Annotated[list[str] | None, _PATHS] = None,
    base: Annotated[str, _BASE] = "",
    into: Annotated[Path | None, _INTO] = None,
    engine: Annotated[str, bulk.ENGINE] = "",
    jobs: Annotated[int, bulk.JOBS] = 0,
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[str | None, _OUTPUT] = None,
    read_as: _ReadAs,
) -> None:
    """Read visits from archives, indexes and access logs.

    Takes WARC and ARC files, CDX, CDXJ and ZipNum indexes, the columnar index of
    Common Crawl, access logs (common and combined formats, Squid, CloudFront and
    other W3C logs), the log of `recrawl crawl --visit-log`, stores, and tables. Packed
    files are unpacked as they are read. Writes a visit log with one row per visit
    (page, visited_at, status, changed, digest, last_modified) for `recrawl
    estimate` and the others, or with --into a store that `recrawl crawl` goes on
    from. Of a git repository it writes the pages and changes that `recrawl
    simulate history` reads. Sources are not changed.

    With --engine every file, and every shard of a ZipNum index, is a partition: -o
    names a folder, which gets one visit log per file.

    \b
    Examples:
        recrawl import crawl.warc.gz -o visits.parquet
        recrawl import 'logs/access.log*' --site https://example.org -o visits.csv
        recrawl import access.log --site https://a.org --user-agent MyBot -o visits.csv
        recrawl import index.cdxj --into recrawl.db
        recrawl import site/ --paths content/ --base https://example.org/ -o world/
        recrawl import cluster.idx --engine local -o visits/
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.adapters.imports.foreign_visits import ImportReading
    from recrawl.adapters.imports.sources import GIT, KINDS, find_sources, read_sources
    from recrawl.analysis.bulk.imports import ImportJob

    if kind and kind not in KINDS:
        raise InvalidParameter(f"--format must be one of {', '.join(KINDS)} (got {kind!r})")
    if engine:
        others = {
            "--into": into,
            "--paths": paths,
            "--base": base,
            "--json": as_json,
            "--csv or --spreadsheet": as_csv is not None,
        }
        job = ImportJob(kind, *read_as)
        bulk.import_visits(sources, bulk.folder(output, others), job, engine=engine, jobs=jobs)
        return
    bulk.refuse_jobs(jobs)
    file = None if output is None else Path(output)
    found, passed = find_sources(sources, kind)
    repositories = [source.path for source in found if source.kind == GIT]
    if repositories:
        if len(found) > 1 or into is not None or as_csv is not None or as_json:
            raise typer.BadParameter("a git repository is imported alone, with -o DIR/")
        _import_world(repositories[0], paths or [], base, output)
        return
    if paths or base:
        raise typer.BadParameter("--paths and --base are for a git repository")
    if into is not None and (file is not None or as_csv is not None or as_json):
        raise typer.BadParameter("--into excludes --csv, --json and -o")
    inputs = [source.path for source in found]
    out = shared.Output.of(*inputs, as_csv=as_csv, as_json=as_json, file=file)
    _check_options(read_as, {source.kind for source in found}, into)
    reading = ImportReading(**read_as._asdict(), any_name=into is None)
    with screen.progress("reading visits") as progress:
        visits = read_sources(found, reading, progress)
        if into is not None:
            said, rows = _write_store(into, visits), None
        else:
            said, rows = _write(visits, out)
    if rows is not None:
        shared.show(_HEADER, rows.cells, total=rows.total, unit="visit", left=range(len(_HEADER)))
    screen.remark(said)
    _remarks(reading, passed)


def _check_options(read_as: _ReadAs, kinds: set[str], into: Path | None) -> None:
    """Refuse options that none of the sources heeds."""
    from recrawl.adapters.imports.sources import ACCESS_LOGS, INDEXES

    given = {
        "--site, --user-agent and --client are for access logs": (
            read_as.site or read_as.agent or read_as.client,
            ACCESS_LOGS,
        ),
        "--by-key is for CDX and CDXJ indexes and the columnar index": (read_as.by_key, INDEXES),
        "--column, --tz and the other options of tables are for tables": (
            read_as.table != TableOptions(),
            ("table",),
        ),
    }
    for rule, (said, heeding) in given.items():
        if said and not kinds & set(heeding):
            raise typer.BadParameter(f"{rule} (got {', '.join(sorted(kinds))})")
    if read_as.by_key and into is not None:
        raise typer.BadParameter(
            "--by-key names pages by key, but a store needs addresses; leave out --by-key or --into"
        )


class _FirstRows(NamedTuple):
    """The first visits for people, and how many there are."""

    cells: list[list[str]]
    total: int


def _write(visits: Iterable[ForeignVisits], out: shared.Output) -> tuple[str, _FirstRows | None]:
    """Write all visits, or keep the first of them to be shown; says what was done."""
    from recrawl.adapters.imports.foreign_visits import COLUMNS
    from recrawl.report.words import counted

    batches = iter(visits)
    first, count = next(batches), 0  # raises for a bad input before anything is written
    if out.interactive:
        count = len(first) + sum(len(some) for some in batches)
        return f"{counted(count, 'visit')}.", _FirstRows(_cells(first), count)
    with out.writer(COLUMNS) as writer:
        for some in chain([first], batches):
            writer.write(some.page, some.columns())
            count += len(some)
    where = "" if out.file is None else f" to {out.file}"
    return f"Wrote {counted(count, 'visit')}{where}.", None


def _cells(visits: ForeignVisits) -> list[list[str]]:
    """Cells of the first visits, for people."""
    import numpy as np

    some = visits.take(np.arange(min(len(visits), screen.most_rows())))
    columns = some.columns()
    at = np.datetime_as_string(some.at.view("datetime64[us]"), unit="s").tolist()
    rows = zip(
        some.page.tolist(),
        [text.replace("T", " ") for text in at],
        columns["status"].tolist(),
        columns["changed"].tolist(),
        [text[:_SHOWN_DIGEST] for text in some.digest.tolist()],
        strict=True,
    )
    return [list(row) for row in rows]


def _write_store(store: Path, visits: Iterable[ForeignVisits]) -> str:
    from recrawl.adapters.imports.into_store import import_into
    from recrawl.report.words import counted

    done = import_into(store, visits)
    return (
        f"Wrote {counted(done.visits, 'visit')} to {counted(done.pages, 'page')} into {store}. "
        "No copies are in it yet: `recrawl crawl` fetches them once recrawl.toml names this store "
        "and `recrawl add` has added their sites."
    )


def _import_world(repository: Path, paths: Sequence[str], base: str, output: str | None) -> None:
    from recrawl.adapters.git.world import import_world
    from recrawl.adapters.tables.formats import is_table
    from recrawl.report.words import counted

    if output is None:
        raise typer.BadParameter("a git repository needs -o DIR/, because two files are written")
    folder = Path(output)
    if is_table(folder.name) and not output.endswith("/") and not folder.is_dir():
        raise InvalidParameter(
            "-o must be a folder DIR/ for a git repository, because two files are written "
            f"(got {output!r})"
        )
    with screen.progress("reading commits") as progress:
        done = import_world(repository, folder, paths=paths, base=base, progress=progress)
    screen.remark(
        f"Wrote {counted(done.pages, 'page')} and {counted(done.changes, 'change')} of "
        f"{counted(done.commits, 'commit')} to {folder}/."
    )
    screen.remark(
        f"{done.bulk:,} of the changes are bulk changes (more than a fifth of the site at "
        f"once); {done.reverts:,} bring back earlier content."
    )


def _remarks(reading: ImportReading, passed: int) -> None:
    """Print what was left out, and how weak the evidence is."""
    for sentence in reading.sentences():
        screen.remark(sentence)
    if passed:
        files = "1 file is" if passed == 1 else f"{passed:,} files are"
        screen.remark(f"{files} of other kinds, and left out.")
