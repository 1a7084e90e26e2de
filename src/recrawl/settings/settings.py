"""The settings of a crawl, read from the text of `recrawl.toml`.

Nothing is guessed: an unknown key, an invalid value and conflicting keys are errors, each with its
line.

Pure.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn

from recrawl.errors import InvalidSettings
from recrawl.parse.addresses import host_of, origin_of
from recrawl.plan.budget import Budget
from recrawl.settings.access_keys import DIRECT, split_access
from recrawl.settings.filters import DEFAULT_FILTERS, NO_FILTERS
from recrawl.settings.key_lines import MOST_PARTS, key_lines, long_key
from recrawl.settings.keys import BLOCKS, FILTERS, TOP, Key
from recrawl.settings.listing_keys import LISTING, NEEDED, OF_DETAILS, listing_rule
from recrawl.settings.notify_keys import NOTIFY, Recipient
from recrawl.settings.push_keys import PUSH, PushSettings
from recrawl.settings.rules import ANYWHERE, NO_RULE, Rule, RuleFinder, detail_rule
from recrawl.settings.sections import (
    PLAIN_KEYS,
    PLAIN_TITLE,
    SITE_KEYS,
    TABLES,
    TITLES,
    TOP_TITLE,
    read_value,
    shown,
)
from recrawl.settings.slots import slot_of
from recrawl.settings.webhook_keys import WEBHOOK, WEBHOOK_NEEDED, Webhook
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from recrawl.listings.live.rules import ListingRule
    from recrawl.settings.filters import Admission, Filters
    from recrawl.settings.key_lines import KeyPath
    from recrawl.settings.page_weights import WeightsFile

FILE_NAME = "recrawl.toml"
STORE_NAME = "recrawl.db"
MOST_CHARACTERS = 20_000_000  # of settings: 100,000 blocks of 200

_BUDGET = Budget(500.0)
_LEAST_VERSIONS = 2  # of a page, for what changed to be known
# Keys that another table has, too, or that say nothing alone.
_ATTRIBUTES = {("feed", "keep"): "feed_keep", ("feed", "chunks"): "feed_chunks"}
_AT_LINE = re.compile(r" \(at line (\d+), column \d+\)$")
# Lines that may hold a secret.
_NOT_SHOWN = re.compile(
    r"secret|whsec_|passw|token|headers|auth|cookie|session|api.?key|proxy|://\S*@", re.IGNORECASE
)
_HEADER = re.compile(r"\s*\[+\s*(?P<name>[\w.]*)")


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a crawl.

    Args:
        agent: User agent, with a contact.
        budget: Visits to all pages whose rule has no budget of its own.
        objective: What to optimise, a key of `OBJECTIVES`.
        policy: What decides when pages are visited, by name and parameters.
        weights: Name of a file with weights of single pages, from where the settings are; empty
            for none.
        discover: Days between looks at sitemaps and feeds; 0 where their pace is learned, infinite
            for no looks.
        delay: Fewest days between two requests to one host.
        together: Most requests to one host at a time.
        store: Name of the store's file, from where the settings are; or its address in PostgreSQL.
        versions: How many of the newest versions of a page are kept.
        keep: Days after which a version is dropped, unless it is the newest.
        size: Bytes that the store may take on disk; versions are dropped for it.
        slots: Parts that workers divide the crawl into, where its store is in PostgreSQL.
        feed_keep: Days after which an event of the change feed is dropped.
        feed_chunks: Whether the chunks of each new copy are listed with its event.
        proxy: Proxy of all pages whose rule has none of its own, as `AccessRule` has it.
        ca: File with certificates of authorities that are trusted besides the system's; empty for
            none.
        push: Where hubs reach the crawl; None where nobody pushes.
        rules: Rules of sites, in the order of the file, then those of pages. Those of listings
            whose objects have detail pages are added behind them.
        listings: Rules of listings, in the order of the file; of a part of a crawl, those whose
            detail pages may lie in it, too.
        webhooks: Programs that are told of events, in the order of the file.
        recipients: People who are told of changes, in the order of the file.
        weights_file: The file that `weights` names, once it is known where the settings are.
        whole: Settings of the crawl that these are a part of, where workers share it; None where
            they are those of all.
        slot: Number of that part.
        divided: What each slot may spend of the budget, where workers share the crawl and it is
            looked at as they have divided it; empty elsewhere.

    Attributes:
        delays: Delays of hosts whose rules have one, by name.

    Examples:
        >>> settings = Settings("bot (me@example.org)", rules=(Rule("https://example.org/a/"),))
        >>> settings.rule_of("https://example.org/a/b"), settings.rule_of("https://example.org/b")
        (0, -1)
    """

    agent: str
    budget: Budget = _BUDGET
    objective: str = "harmonic"
    policy: str = "recrawl"
    weights: str = ""
    discover: float = 0.0
    delay: float = 1 / SECONDS_A_DAY
    together: int = 1
    store: str = STORE_NAME
    versions: int = 10
    keep: float = 90.0
    size: int = 10 * 2**30
    slots: int = 16
    feed_keep: float = 90.0
    feed_chunks: bool = False
    proxy: str = DIRECT
    ca: str = ""
    push: PushSettings | None = None
    rules: tuple[Rule, ...] = ()
    listings: tuple[ListingRule, ...] = ()
    webhooks: tuple[Webhook, ...] = ()
    recipients: tuple[Recipient, ...] = ()
    weights_file: WeightsFile | None = field(default=None, repr=False, compare=False)
    whole: Settings | None = field(default=None, repr=False, compare=False)
    slot: int = field(default=0, repr=False, compare=False)
    divided: tuple[Budget, ...] = field(default=(), repr=False, compare=False)
    _finder: RuleFinder = field(init=False, repr=False, compare=False)
    _hosts: frozenset[str] = field(init=False, repr=False, compare=False)
    delays: Mapping[str, float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Add the rules of listings, and build the index of rules by address."""
        blocks = [rule for rule in self.rules if not rule.listing]
        details = [detail_rule(each) for each in self.listings if each.layout.detail]
        object.__setattr__(self, "rules", (*blocks, *details))
        object.__setattr__(self, "_finder", RuleFinder(self.rules))
        named = {host_of(rule.address) for rule in self.rules if rule.address != ANYWHERE}
        named |= {host_of(address) for listing in self.listings for address in listing.addresses}
        object.__setattr__(self, "_hosts", frozenset(named))
        object.__setattr__(self, "delays", _delays(self.rules))

    def is_elsewhere(self, address: str) -> bool:
        """Whether a canonical address is of a site of the crawl that lies in another slot."""
        whole = self.whole
        if whole is None or whole.rule_for(address) is None:
            return False
        return not self.has_in_slot(address)

    def has_in_slot(self, address: str) -> bool:
        """Whether a canonical address lies in the slot that these are of; all do, where of none."""
        return self.whole is None or slot_of(address, self.whole.slots) == self.slot

    @property
    def synced_listings(self) -> list[ListingRule]:
        """Listings that whoever has these settings syncs: the slot of the first address does."""
        return [each for each in self.listings if self.has_in_slot(each.addresses[0])]

    def admit(self, address: str) -> Admission:
        """What becomes of a canonical address that was found."""
        return self._finder.admit(address)

    def rule_of(self, address: str) -> int:
        """Number of the rule that a page at a canonical address has; -1 if none.

        There is none where no block covers the address, where its block leaves it out, and where
        its page is known under another address.
        """
        admission = self.admit(address)
        return admission.rule if admission.address == address else NO_RULE

    @property
    def detail_rules(self) -> dict[str, int]:
        """Number of the rule of each listing whose objects have detail pages, by its name."""
        return {rule.listing: row for row, rule in enumerate(self.rules) if rule.listing}

    @property
    def robots_agent(self) -> str:
        """Name of the crawler in robots.txt: the first word of the agent, without its version."""
        return self.agent.split(maxsplit=1)[0].partition("/")[0]

    def rule_for(self, address: str) -> Rule | None:
        """Rule of the block that covers a canonical address, left out or not; None for none."""
        number = self._finder.rule_of(address)
        return None if number == NO_RULE else self.rules[number]

    def has_host(self, address: str) -> bool:
        """Whether a canonical address is of a host that a site, page or listing is of."""
        return host_of(address) in self._hosts

    def is_local(self, address: str) -> bool:
        """Whether a canonical address may be on this machine or on a private network."""
        rule = self.rule_for(address)
        return rule is not None and rule.local

    def heeds_robots_tags(self, address: str) -> bool:
        """Whether what the page at a canonical address asks of crawlers is heeded."""
        rule = self.rule_for(address)
        return rule is None or rule.robots_tags

    def rules_of(self, addresses: Iterable[str]) -> list[int]:
        """Number of the rule of each page, by canonical addresses; -1 if none."""
        return list(map(self.rule_of, addresses))


def _delays(rules: Iterable[Rule]) -> dict[str, float]:
    """Delays of hosts whose blocks say one; the longest where several do."""
    found: dict[str, float] = {}
    for rule in rules:
        if rule.access.delay is not None:
            host = host_of(rule.address)
            found[host] = max(rule.access.delay, found.get(host, 0.0))
    return found


def read_settings(text: str, *, name: str = FILE_NAME) -> Settings:
    r"""Settings from TOML text; errors call it `name`.

    >>> read_settings('agent = "bot (me@example.org)"\nbudget = "24/1h"').budget.visits
    576.0
    """
    document = _Document.read(text, name)
    values = document.table((), TOP, TOP_TITLE, beside=TITLES)
    for table, keys in TABLES.items():
        if table in document.values and table not in ("filters", "push"):
            found = document.table((table,), keys, TITLES[table])
            values |= {_ATTRIBUTES.get((table, key), key): value for key, value in found.items()}
    if "agent" not in values:
        document.refuse((), f"agent must be {TOP['agent'].rule} (got none)")
    filters = document.filters()
    rules = [rule for kind in BLOCKS for rule in document.rules(kind, filters)]
    webhooks = document.webhooks()
    settings = Settings(
        **values,
        push=document.push(),
        rules=tuple(rules),
        listings=tuple(document.listings()),
        webhooks=tuple(webhooks),
        recipients=tuple(document.recipients({each.key for each in webhooks})),
    )
    document.check_recipients(settings)
    return settings


def plain_settings(values: Mapping[str, object], *, name: str) -> Settings:
    """Settings of few words for the pages of any host; errors call them `name`.

    Args:
        values: `agent`, `budget`, `objective`, `policy`, `delay`, `together`, as a file has them.
        name: What errors call them.

    Examples:
        >>> settings = plain_settings({"budget": "24/1h", "delay": "5s"}, name="plain")
        >>> settings.budget.visits, settings.rule_of("https://example.org/")
        (576.0, 0)
    """
    keys = dict(PLAIN_KEYS)
    # No network, so nobody who is visited needs a contact.
    keys["agent"] = Key(lambda value: value if isinstance(value, str) and value else None, "a name")
    found = _Document(name, values, {}).table((), keys, PLAIN_TITLE)
    return Settings(**{"agent": "recrawl", **found}, rules=(Rule(ANYWHERE),))


def read_rule(address: str, values: Mapping[str, object], *, page: bool = False) -> Rule:
    """Rule of a block; errors call it by its address.

    >>> read_rule("https://example.org", {"weight": 2}).weight
    2.0
    """
    kind = "page" if page else "site"
    (rule,) = _Document(address, {kind: [{"address": address, **values}]}, {}).rules(kind)
    return rule


@dataclass(frozen=True, slots=True)
class _Document:
    """A TOML text: its values, and their lines."""

    name: str
    values: Mapping[str, Any]
    lines: Mapping[KeyPath, int]

    @classmethod
    def read(cls, text: str, name: str) -> _Document:
        text = text.removeprefix("\ufeff")  # a byte order mark, which some editors write
        if len(text) > MOST_CHARACTERS:
            most = f"{MOST_CHARACTERS:,} characters"
            raise InvalidSettings(f"{name}: settings must have at most {most} (got more)")
        if line := long_key(text):
            raise InvalidSettings(
                f"{name}, line {line}: a key must have at most {MOST_PARTS} parts"
            )
        try:
            return cls(name, tomllib.loads(text), key_lines(text))
        except RecursionError:
            raise InvalidSettings(f"{name}: brackets are nested too deep") from None
        except ValueError as error:
            raise InvalidSettings(_syntax(str(error), text, name)) from None

    def refuse(self, path: KeyPath, sentence: str) -> NoReturn:
        """Raise for the value at a path."""
        where = f", line {self.lines[path]}" if path in self.lines else ""
        raise InvalidSettings(f"{self.name}{where}: {sentence}")

    def table(
        self,
        path: KeyPath,
        keys: Mapping[str, Key],
        title: str,
        beside: Iterable[str] = (),
    ) -> dict[str, Any]:
        """Values of the keys of a table, except those in `beside`."""
        table: Any = self.values
        for part in path:
            table = table[part]
        if not isinstance(table, dict):
            self.refuse(path, f"{path[0]} must be written as {title} (got {shown(table)})")
        found = {}
        for key, value in table.items():
            if key in beside:
                continue
            try:
                found[key] = read_value(keys, key, value, title)
            except InvalidSettings as error:
                self.refuse((*path, key), str(error))
        return found

    def _whole(
        self, path: KeyPath, keys: Mapping[str, Key], needed: Iterable[str]
    ) -> dict[str, Any]:
        """Values of a table or block that has all keys that it needs."""
        title = TITLES[str(path[0])]
        values = self.table(path, keys, title)
        for key in needed:
            if key not in values:
                self.refuse(path, f"{title} must have {key} (got none)")
        return values

    def filters(self) -> Filters:
        """Filters of blocks that have none of their own."""
        if "filters" not in self.values:
            return DEFAULT_FILTERS
        return replace(DEFAULT_FILTERS, **self.table(("filters",), FILTERS, TITLES["filters"]))

    def push(self) -> PushSettings | None:
        """Where hubs reach the crawl; None where nobody pushes."""
        if "push" not in self.values:
            return None
        return PushSettings(**self._whole(("push",), PUSH, PUSH))

    def rules(self, kind: str, filters: Filters = DEFAULT_FILTERS) -> list[Rule]:
        """Rules of all blocks of a kind, with these filters where they say nothing else."""
        title = TITLES[kind]
        rules: list[Rule] = []
        lines: dict[str, int] = {}
        lists: dict[str, str] = {}
        for path in self._paths(kind):
            access, values = split_access(self.table(path, SITE_KEYS, title))
            if "address" not in values:
                self.refuse(path, f"{title} must have an address (got none)")
            if conflict := access.conflict():
                self.refuse((*path, conflict[0]), conflict[1])
            own = {key: values.pop(key) for key in FILTERS if key in values}
            page = kind == "page"
            chosen = NO_FILTERS if page else replace(filters, **own)
            rule = Rule(**values, exact=page, access=access, filters=chosen)
            self._check(path, rule, {**values, **own})
            if rule.address in lines:
                said = f"{rule.address} is already a {title}, in line {lines[rule.address]}"
                self.refuse((*path, "address"), said)
            lines[rule.address] = self.lines.get((*path, "address"), 0)
            origin = origin_of(rule.address)
            for each in rule.changed:
                if lists.setdefault(each, origin) != origin:
                    said = f"{shown(each)} is a list of {lists[each]} already; each has its own"
                    self.refuse((*path, "changed"), said)
            rules.append(rule)
        return rules

    def listings(self) -> list[ListingRule]:
        """Rules of all listings."""
        title = TITLES["listing"]
        found: dict[str, ListingRule] = {}
        for path in self._paths("listing"):
            values = self._whole(path, LISTING, NEEDED)
            for key in OF_DETAILS:
                if key in values and "detail" not in values:
                    said = f"{key} of a {title} is for detail pages, so it needs detail (got none)"
                    self.refuse((*path, key), said)
            rule = listing_rule(values)
            self._check_bounds(path, rule)
            if rule.name in found:
                self.refuse((*path, "name"), f"{shown(rule.name)} is already a {title}")
            found[rule.name] = rule
        return list(found.values())

    def webhooks(self) -> list[Webhook]:
        """All webhooks."""
        title = TITLES["webhook"]
        found: dict[str, Webhook] = {}
        for path in self._paths("webhook"):
            values = self._whole(path, WEBHOOK, WEBHOOK_NEEDED)
            webhook = Webhook(parts=values.pop("with", ()), **values)
            if webhook.key in found:
                said = f"{shown(webhook.label)} is already a {title}; give each a name"
                self.refuse((*path, "address"), said)
            found[webhook.key] = webhook
        return list(found.values())

    def recipients(self, taken: set[str]) -> list[Recipient]:
        """All who are told of changes; none has a name of a webhook."""
        found: list[Recipient] = []
        for path in self._paths("notify"):
            recipient = Recipient(**self._whole(path, NOTIFY, ("address",)))
            if recipient.key in taken:
                said = f"{shown(recipient.label)} is already a [[notify]]; give each its own name"
                self.refuse((*path, "name" if recipient.name else "address"), said)
            taken.add(recipient.key)
            found.append(recipient)
        return found

    def check_recipients(self, settings: Settings) -> None:
        """Raise for recipients whose messages would come when what they are made of is dropped."""
        for path, recipient in zip(self._paths("notify"), settings.recipients, strict=True):
            if recipient.every >= settings.feed_keep:
                said = "every must be shorter than keep in [feed], after which events are dropped"
                self.refuse((*path, "every"), said)
            needs = "words" if recipient.words else "watch" if recipient.watch else ""
            if needs and settings.versions < _LEAST_VERSIONS:
                said = f"{needs} needs two versions of a page, but versions in [storage] is"
                self.refuse((*path, needs), f"{said} {settings.versions}")

    def _paths(self, kind: str) -> list[KeyPath]:
        """Paths of the blocks of a kind."""
        blocks = self.values.get(kind, [])
        if not isinstance(blocks, list):
            what = f"[{kind}]" if isinstance(blocks, dict) else shown(blocks)
            self.refuse((kind,), f"{kind} must be written as {TITLES[kind]} (got {what})")
        return [(kind, number) for number in range(len(blocks))]

    def _check(self, path: KeyPath, rule: Rule, values: Mapping[str, Any]) -> None:
        """Raise for a block with conflicting keys."""
        if not rule.exact and "?" in rule.address:
            said = "address of a [[site]] must not have a query; use a [[page]]"
            self.refuse((*path, "address"), f"{said} (got {shown(rule.address)})")
        if rule.exact and (filters := [key for key in (*FILTERS, "changed") if key in values]):
            said = f"{filters[0]} is for a [[site]]; a [[page]] is one address"
            self.refuse((*path, filters[0]), said)
        bounds = [key for key in ("minimum", "maximum") if key in values]
        if rule.interval is not None and bounds:
            said = f"interval excludes minimum and maximum (got {bounds[0]}, too)"
            self.refuse((*path, "interval"), said)
        self._check_bounds(path, rule)

    def _check_bounds(self, path: KeyPath, rule: Rule | ListingRule) -> None:
        """Raise for a minimum above the maximum."""
        if rule.minimum > rule.maximum:
            block: Any = self.values[str(path[0])][path[1]]
            said = f"(got {shown(block['minimum'])} above {shown(block['maximum'])})"
            self.refuse((*path, "minimum"), f"minimum must be at most maximum {said}")


def _syntax(said: str, text: str, name: str) -> str:
    """Message for invalid TOML, with its line."""
    match = _AT_LINE.search(said)
    what = said[: match.start()] if match else said.removesuffix(" (at end of document)")
    lines = text.split("\n")
    line = int(match[1]) if match else len(lines)
    got = shown(lines[line - 1].strip()) if match else "the end of the file"
    headers = (found["name"] for found in map(_HEADER.match, reversed(lines[:line])) if found)
    under = next(headers, "")
    hidden = _NOT_SHOWN.search(got) or under in {"webhook", "notify"} or under.endswith(".headers")
    got = "a line that may hold a secret" if hidden and match else got
    what = what[:1].lower() + what[1:]
    return f"{name}, line {line}: invalid TOML (texts need quotes): {what} (got {got})"
