"""How addresses are asked for: by which proxy, whom we trust there, and what we show of ourselves.

The settings say where secrets are; here they are read, once, when a crawl begins. Nothing keeps
them but this table, and the last moment before a request is sent takes them out of it: a `Request`
never holds one, so that whatever writes requests down cannot.

Each key of a `[[site]]` holds for all under its address, unless a longer address has the same key.
What no block holds, such as the robots.txt and sitemaps of a site, is asked for as the first block
of its origin says. An origin (scheme, host and port) never gets what is another's.

Touches: files, the environment, the clock.
"""

from __future__ import annotations

import ssl
import time
from base64 import b64encode
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Generic, TypeVar
from urllib.request import (  # type: ignore[attr-defined] # typeshed lacks the second
    getproxies_environment,
    proxy_bypass_environment,
)

from recrawl.errors import InvalidInput, InvalidSettings, MissingExtra, reason
from recrawl.fetch.references import read_reference
from recrawl.parse.addresses import host_of, origin_of
from recrawl.parse.cookies import MOST_BYTES, cookie_header, host_name, read_cookies
from recrawl.parse.proxy_addresses import SOCKS, read_proxy_address
from recrawl.parse.secrets import Secret
from recrawl.settings.access_keys import DIRECT, ENVIRONMENT, is_header_value
from recrawl.settings.rules import NO_RULE, RuleFinder
from recrawl.settings.webhook_keys import is_reference
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from recrawl.fetch.fetcher import RequestLimits
    from recrawl.parse.cookies import Cookie
    from recrawl.parse.proxy_addresses import ProxyAddress
    from recrawl.settings.access_keys import AccessRule
    from recrawl.settings.rules import Rule
    from recrawl.settings.settings import Settings

T = TypeVar("T")
_Headers = tuple[tuple[str, Secret], ...]
_LEAST_HIDDEN = 8  # letters of a secret; shorter ones are words that pages have anyway
_HIDDEN = b"(secret)"
_SETS_COOKIES = frozenset({"set-cookie", "set-cookie2"})  # which may be as good as a password


@dataclass(frozen=True, slots=True)
class Access:
    """How one address is asked for.

    Args:
        headers: What is sent besides our own headers.
        hidden: Secrets in them that no response may repeat.
        proxy: The proxy to go through; None for none.
        tls: Which certificates to trust; None for those that the system trusts.
        timeout_seconds: What the whole request may take; None for what others may.
        page_bytes: How large the page may be; None for as large as others.
        problem: Why it cannot be asked for: what the settings refer to is missing; empty where
            nothing is.
    """

    headers: _Headers = ()
    hidden: tuple[Secret, ...] = ()
    proxy: ProxyAddress | None = None
    tls: ssl.SSLContext | None = None
    timeout_seconds: float | None = None
    page_bytes: int | None = None
    problem: str = ""

    def limits(self, usual: RequestLimits) -> RequestLimits:
        """What a request may cost, by what requests may cost usually."""
        if self.timeout_seconds is not None:
            most = self.timeout_seconds
            connect = min(usual.connect_seconds, most)
            usual = replace(usual, total_seconds=most, idle_seconds=most, connect_seconds=connect)
        if self.page_bytes is not None:
            usual = replace(usual, raw_bytes=self.page_bytes, decoded_bytes=self.page_bytes)
        return usual

    def hide(self, text: bytes) -> bytes:
        """Bytes that a host has sent, without the secrets that it was sent."""
        for secret in self.hidden:
            raw = secret.reveal().encode()
            if raw in text:
                text = text.replace(raw, _HIDDEN)
        return text

    def without_secrets(self, headers: dict[str, str]) -> dict[str, str]:
        """Headers of a response, without what whoever is logged in alone may see."""
        if not self.headers:
            return headers
        return {
            name: self.hide(value.encode()).decode()
            for name, value in headers.items()
            if name not in _SETS_COOKIES
        }


NO_ACCESS = Access()


class AccessTable:
    """How every address of a crawl is asked for.

    Args:
        settings: The settings.
        folder: Where relative paths in them begin.
        needed: Addresses that will be asked for; None for all. What other origins need may be
            missing: then `Access.problem` says so.

    Raises:
        InvalidSettings: A secret, a cookie, a certificate or a proxy is not where it should be, or
            is none.

    Examples:
        >>> from pathlib import Path
        >>> from recrawl.settings.settings import Settings
        >>> table = AccessTable(Settings("bot (me@example.org)"), Path())
        >>> table.of("https://example.org/") == NO_ACCESS
        True
    """

    def __init__(
        self, settings: Settings, folder: Path, needed: Collection[str] | None = None
    ) -> None:
        self._settings = settings
        files = _Files(folder)
        rules = [rule for rule in settings.rules if not rule.listing]
        origins = None if needed is None else {origin_of(address) for address in needed}
        self._problems: dict[str, str] = {}

        def by_rule(
            is_set: Callable[[AccessRule], object], read: Callable[[Rule], T]
        ) -> _ByRule[T]:
            pairs = []
            for rule in rules:
                if not is_set(rule.access):
                    continue
                try:
                    pairs.append((rule, _told(read, rule)))
                except (InvalidSettings, MissingExtra) as error:
                    origin = origin_of(rule.address)
                    if origins is None or origin in origins:
                        raise
                    self._problems[origin] = str(error)
            return _ByRule(pairs)

        self._headers = by_rule(lambda access: access.headers, files.headers)
        self._logins = by_rule(lambda access: access.user or access.token, files.login)
        self._cookies = by_rule(lambda access: access.cookies, files.cookies)
        self._proxies = by_rule(lambda access: access.proxy, lambda r: files.proxy(r.access.proxy))
        self._tls = by_rule(lambda access: access.ca, lambda rule: files.tls(rule.access.ca))
        self._timeouts = by_rule(lambda access: access.timeout, _timeout_seconds)
        self._sizes = by_rule(lambda access: access.page_size, lambda r: r.access.page_size or 0)
        self._proxy = files.proxy(settings.proxy)
        self._trusted = files.tls(settings.ca) if settings.ca else None
        by_rules = (
            *(self._headers, self._logins, self._cookies, self._proxies),
            *(self._tls, self._timeouts, self._sizes),
        )
        own = any(each.pairs for each in by_rules) or self._problems or self._trusted is not None
        self._is_empty = not (own or self._proxy.leads_anywhere)

    def of(self, address: str, *, credentials: bool = True) -> Access:
        """How a canonical address is asked for.

        Args:
            address: The address.
            credentials: Whether headers, cookies and a login of the settings are sent.
        """
        if self._is_empty:  # as nearly always
            return NO_ACCESS
        if problem := self._problems.get(origin_of(address)):
            return Access(problem=problem)
        route = self._look_up(self._proxies, address) or self._proxy
        headers, hidden = self._shown_there(address) if credentials else ((), ())
        return Access(
            headers,
            hidden,
            route.of(address),
            self._look_up(self._tls, address) or self._trusted,
            self._look_up(self._timeouts, address),
            self._look_up(self._sizes, address),
        )

    def expired(self) -> Iterator[str]:
        """A sentence for each site whose cookies have all expired."""
        now = time.time()
        for rule, cookies in self._cookies.pairs:
            if not any(now < each.expires_seconds for each in cookies):
                yield f"{rule.access.cookies}: all cookies for {host_of(rule.address)} have expired"

    def _look_up(self, values: _ByRule[T], address: str) -> T | None:
        if not values.pairs:
            return None
        is_held = self._settings.rule_for(address) is not None
        return values.of(address, is_held=is_held)

    def _shown_there(self, address: str) -> tuple[_Headers, tuple[Secret, ...]]:
        """Headers for an address, and which secrets are in them."""
        headers: _Headers
        headers, hidden = self._look_up(self._headers, address) or ((), ())
        login = self._look_up(self._logins, address)
        if login is not None:
            value, *secrets = login
            headers, hidden = (*headers, ("Authorization", value)), (*hidden, *secrets)
        cookies = self._look_up(self._cookies, address)
        if cookies and (sent := cookie_header(cookies, address, time.time())):
            headers = (*headers, ("Cookie", sent))
            hidden = (*hidden, sent, *(each.value for each in cookies))
        return headers, tuple(each for each in hidden if len(each.reveal()) >= _LEAST_HIDDEN)


class _ByRule(Generic[T]):
    """Values of one key, by the blocks that have it."""

    def __init__(self, pairs: Sequence[tuple[Rule, T]]) -> None:
        self.pairs = pairs
        self._finder = RuleFinder([rule for rule, _ in pairs])
        self._first: dict[str, T] = {}
        for rule, value in pairs:
            self._first.setdefault(origin_of(rule.address), value)

    def of(self, address: str, *, is_held: bool) -> T | None:
        """The value for an address; None where there is none."""
        row = self._finder.rule_of(address)
        if row != NO_RULE:
            return self.pairs[row][1]
        return None if is_held else self._first.get(origin_of(address))


def _told(read: Callable[[Rule], T], rule: Rule) -> T:
    """What is read for a block; errors name it."""
    try:
        return read(rule)
    except InvalidSettings as error:
        raise InvalidSettings(f"{rule.address}: {error}") from None


def _parts(name: str, value: Secret) -> list[Secret]:
    """Parts of a header that a host may show alone: what follows a scheme, values of cookies."""
    text = value.reveal()
    if name.lower() == "cookie":
        return [Secret(pair.partition("=")[2].strip()) for pair in text.split(";")]
    return [Secret(text.rpartition(" ")[2])]


def _timeout_seconds(rule: Rule) -> float:
    return (rule.access.timeout or 0.0) * SECONDS_A_DAY


class _Route:
    """The proxy for an address: always the same one, none, or what the environment says."""

    def __init__(self, always: ProxyAddress | None, named: Mapping[str, str] | None = None) -> None:
        self._always = always
        self._named = named or {}
        self._by_scheme = {
            scheme: _environment_proxy(scheme, text)
            for scheme, text in self._named.items()
            if scheme in {"http", "https", "all"}
        }

    @property
    def leads_anywhere(self) -> bool:
        """Whether there is a proxy for any address."""
        return self._always is not None or bool(self._by_scheme)

    def of(self, address: str) -> ProxyAddress | None:
        """The proxy for a canonical address; None for none."""
        if not self._by_scheme or proxy_bypass_environment(host_of(address), self._named):
            return self._always
        scheme = address.partition(":")[0]
        return self._by_scheme.get(scheme) or self._by_scheme.get("all")


def _environment_proxy(scheme: str, text: str) -> ProxyAddress:
    """A proxy that the environment names; many leave out what it speaks."""
    found = read_proxy_address(text if "://" in text else f"http://{text}")
    if found is None:
        raise InvalidSettings(f"proxy environment: {scheme}_proxy is not the address of a proxy")
    return _usable(found)


def _usable(proxy: ProxyAddress) -> ProxyAddress:
    """A proxy that we can speak with."""
    if proxy.scheme == SOCKS and find_spec("aiohttp_socks") is None:
        raise MissingExtra("a socks5 proxy", "socks")
    return proxy


class _Files:
    """Reads what settings refer to; certificates and proxies once, for connections are theirs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._contexts: dict[str, ssl.SSLContext] = {}
        self._routes: dict[str, _Route] = {}

    def headers(self, rule: Rule) -> tuple[_Headers, tuple[Secret, ...]]:
        """Headers of a block, and which of them are secrets."""
        found, hidden = [], []
        for name, text in rule.access.headers:
            value = self._secret(text, name) if is_reference(text) else Secret(text)
            found.append((name, value))
            if is_reference(text):
                hidden += [value, *_parts(name, value)]
        return tuple(found), tuple(hidden)

    def login(self, rule: Rule) -> tuple[Secret, ...]:
        """Value of the `Authorization` header of a block, and the secrets in it."""
        access = rule.access
        if access.token:
            token = self._secret(access.token, "token")
            return Secret(f"Bearer {token.reveal()}"), token
        password = read_reference(access.password, self._folder, "password")
        encoded = b64encode(f"{access.user}:{password.reveal()}".encode()).decode()
        return Secret(f"Basic {encoded}"), Secret(encoded), password

    def _secret(self, reference: str, what: str) -> Secret:
        """A secret that is sent as it is, or as the last part of a header."""
        secret = read_reference(reference, self._folder, what)
        if not is_header_value(secret.reveal()):
            raise InvalidSettings(f"{what} {reference}: it must be one line of plain ASCII")
        return secret

    def cookies(self, rule: Rule) -> tuple[Cookie, ...]:
        """Cookies of a block's file for its host."""
        name, host = rule.access.cookies, host_name(rule.address)
        try:
            found = read_cookies(self._read(name).decode(), host)
        except UnicodeDecodeError:
            raise InvalidSettings(f"{name} is not UTF-8 text") from None
        except InvalidInput as error:
            if isinstance(error, InvalidSettings):
                raise
            raise InvalidSettings(f"{name}, {error}") from None
        if not found:
            raise InvalidSettings(f"{name} has no cookie for {host}")
        return found

    def _read(self, name: str) -> bytes:
        try:
            with (self._folder / name).open("rb") as file:
                raw = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise InvalidSettings(f"{name} cannot be read ({reason(error)})") from None
        if len(raw) > MOST_BYTES:
            raise InvalidSettings(f"{name} has more than {MOST_BYTES:,} bytes")
        return raw

    def proxy(self, said: str) -> _Route:
        """The proxy of a block, or of all."""
        if said not in self._routes:
            self._routes[said] = self._route(said)
        return self._routes[said]

    def _route(self, said: str) -> _Route:
        if said == DIRECT:
            return _Route(None)
        if said == ENVIRONMENT:
            return _Route(None, getproxies_environment())
        text = said
        if is_reference(said):
            text = read_reference(said, self._folder, "proxy").reveal()
        found = read_proxy_address(text)
        if found is None:
            rule = "it must be an address such as http://proxy.example.org:3128"
            raise InvalidSettings(f"proxy {said}: {rule}")
        return _Route(_usable(found))

    def tls(self, name: str) -> ssl.SSLContext:
        """Trust in the system's authorities and in those of a file."""
        if name not in self._contexts:
            context = ssl.create_default_context()
            context.set_alpn_protocols(["http/1.1"])
            try:
                context.load_verify_locations(cadata=self._read(name).decode("ascii"))
            except (ssl.SSLError, UnicodeDecodeError):
                said = "is not a file of certificates that begin with -----BEGIN CERTIFICATE-----"
                raise InvalidSettings(f"{name} {said}") from None
            self._contexts[name] = context
        return self._contexts[name]
