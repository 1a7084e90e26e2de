"""Faults by hand, each of which would let a host be asked early or against its will.

A fault that has no effect is none: where two things guard the same rule, as the slot and the look
at it when a request is sent, only faults that get past both are here.

Pure.
"""

from __future__ import annotations

from tests.politeness.code import Fault

_TABLE = "recrawl.frontier.host_table"
_SLOTS = "recrawl.fetch.host_slots"
_POLITE = "recrawl.fetch.polite"
_ROBOTS = "recrawl.fetch.robots_cache"

FAULTS = {
    # The host table.
    "one request too many at a time": Fault(
        _TABLE,
        "self._asked[host] >= self.together",
        "self._asked[host] > self.together",
        "together",
        "slow answers",
    ),
    "slots are not counted": Fault(
        _TABLE, "self._asked[host] += 1", "pass", "together", "slow leases"
    ),
    "a slot that ends frees two": Fault(
        _TABLE, "self._asked[host] -= 1", "self._asked[host] -= 2", "together", "several together"
    ),
    "the delay runs from the start of a request": Fault(
        _TABLE, "if self.together == 1:", "if self.together == 0:", "delay", "slow answers"
    ),
    "the delay runs from the slot": Fault(
        _TABLE,
        "self._run_from(host, now)\n        self._put_off(host)\n\n    def end(",
        "self._since[host] = self._last[host]\n\n    def end(",
        "delay",
        "many wait for a limit",
    ),
    "a request may be sent whenever it has a slot": Fault(
        _TABLE,
        "return max(self._blocked[host], self._since[host] + self._pause[host])",
        "return self._blocked[host]",
        "delay",
        "one waits for a connection",
    ),
    "a request that has a slot does not hear of a Retry-After": Fault(
        _TABLE,
        "return max(self._blocked[host], self._since[host] + self._pause[host])",
        "return self._since[host] + self._pause[host]",
        "left alone",
        "left alone while others wait",
    ),
    "Crawl-delay is ignored": Fault(
        _TABLE,
        "asked_for = self._delay[host]",
        "asked_for = self._least[host]",
        "delay",
        "Crawl-delay",
    ),
    "a short Crawl-delay goes before the settings": Fault(
        _TABLE,
        "self._delay[host] = max(delay, self._least[host])",
        "self._delay[host] = delay",
        "delay",
        "a short Crawl-delay",
    ),
    "a shorter wait takes the place of a longer one": Fault(
        _TABLE,
        "self._blocked[host] = max(self._blocked[host], until)\n"
        "        self._next[host] = max(self._next[host], until)",
        "self._blocked[host] = self._next[host] = until",
        "left alone",
        "two say how long",
    ),
    "a restart does not wait": Fault(
        _TABLE,
        "self.block(row, self._began + self.delay(row))",
        "self.block(row, self._began)",
        "start",
        "restart at once",
    ),
    "a host that is named later need not wait since the start": Fault(
        _TABLE,
        "self._row[self.names[row]] = row\n        self.restart_delay(row)",
        "self._row[self.names[row]] = row",
        "start",
        "restart at once",
    ),
    "a restart forgets who wants to be left alone": Fault(
        _TABLE,
        "self.block(row, (host.blocked_until_seconds or 0.0) / SECONDS_A_DAY)",
        "pass",
        "left alone",
        "left alone across a restart",
    ),
    # Slots.
    "what is sent is not looked at": Fault(
        _SLOTS, "if ready > now:", "if False:", "delay", "many wait for a limit"
    ),
    "what is sent is not noted": Fault(
        _SLOTS,
        "self._hosts.sent(slot.host, now)",
        "pass",
        "delay",
        "one waits for a connection",
    ),
    "a slot that is waited for is not taken": Fault(
        _SLOTS, "hosts.begin(host, max(ready, now))", "pass", "together", "several together"
    ),
    "a slot is given back twice": Fault(
        _SLOTS,
        "if not slot.held:\n            return",
        "if not slot.held:\n            pass",
        "together",
        "many wait for a robots.txt in trouble",
    ),
    "a slot is given back that was never held": Fault(
        _SLOTS, "if slot.held:", "if True:", "together", "slow answers"
    ),
    # The polite client.
    "a redirect on a host is followed at once": Fault(
        _POLITE,
        "await self._slots.reacquire(slot, chain.latency, chain.patience)",
        "pass",
        "delay",
        "redirects on a host",
    ),
    "a redirect to another host waits for no slot there": Fault(
        _POLITE,
        "chain.slot = await self._acquire(target, chain.patience)",
        "pass",
        "start",
        "redirects to another host",
    ),
    "a request is repeated at once": Fault(
        _POLITE,
        "await self._slots.reacquire(chain.slot, None, chain.patience)\n"
        "            response = await",
        "response = await",
        "delay",
        "a reset on a kept connection",
    ),
    "429 is ignored": Fault(
        _POLITE,
        "_BUSY = (_TOO_MANY, _UNAVAILABLE)",
        "_BUSY = (_UNAVAILABLE,)",
        "left alone",
        "left alone while others wait",
    ),
    "429 without a time asks for nothing": Fault(
        _POLITE, "days = _RETRY_AFTER", "return", "left alone", "429 without a time"
    ),
    "Retry-After is written down and not obeyed": Fault(
        _POLITE,
        "self._hosts.block(host, now + days)",
        "pass",
        "left alone",
        "Retry-After by date",
    ),
    "Retry-After is obeyed and not written down": Fault(
        _POLITE,
        "self._write(\n            HostSeen(",
        "str(\n            HostSeen(",
        "left alone",
        "left alone across a restart",
    ),
    "when a Retry-After came is written, not when it ends": Fault(
        _POLITE,
        "blocked_until_seconds=(now + days) * SECONDS_A_DAY",
        "blocked_until_seconds=now * SECONDS_A_DAY",
        "left alone",
        "left alone across a restart",
    ),
    "a date of a host is read by our own clock": Fault(
        _POLITE,
        "now * SECONDS_A_DAY if today is None else today",
        "now * SECONDS_A_DAY",
        "left alone",
        "Retry-After by date",
    ),
    "a robots.txt may expire while a request waits": Fault(
        _POLITE,
        "if chain.allowed_until <= now:",
        "if False:",
        "robots",
        "robots.txt expires meanwhile",
    ),
    "a robots.txt may expire before a repeat": Fault(
        _POLITE,
        "chain.allowed_until = permission.until",
        "pass",
        "robots",
        "robots.txt expires before a repeat",
    ),
    "what is forbidden is asked for": Fault(
        _POLITE,
        "if not permission.robots.allows(address):",
        "if False:",
        "robots",
        "forbidden",
    ),
    "who waited for another's robots.txt in vain asks without a slot": Fault(
        _POLITE,
        "if not slot.held:  # the others could not have it",
        "if False:",
        "together",
        "a robots.txt elsewhere cannot be had in time",
    ),
    "a redirect needs no robots.txt": Fault(
        _POLITE,
        "response = await self._ask_if_allowed(chain, request, stranger=request is not first)",
        "response = await (self._ask(chain, request) if request is not first else\n"
        "                    self._ask_if_allowed(chain, request, stranger=False))",
        "robots",
        "a redirect to what is forbidden",
    ),
    # robots.txt files.
    "a robots.txt is as good as new after a restart": Fault(
        _ROBOTS,
        "at = read.at_seconds / SECONDS_A_DAY\n        permission",
        "at = now\n        permission",
        "robots",
        "robots.txt expires after a restart",
    ),
    "a robots.txt holds for two days": Fault(
        "recrawl.parse.robots",
        "_VALID_DAYS = 1.0",
        "_VALID_DAYS = 2.0",
        "robots",
        "robots.txt expires",
    ),
    "the origin that was read last decides on the delay": Fault(
        _ROBOTS,
        "self._hosts.set_delay(host, max(self._delays[host].values()))",
        "self._hosts.set_delay(host, delay)",
        "delay",
        "two origins of a host",
    ),
    "the delay of a robots.txt is not heard": Fault(
        _ROBOTS,
        "self._keep_delay(host, origin, permission.robots.delay)",
        "pass",
        "delay",
        "robots.txt is elsewhere",
    ),
    "a robots.txt is not written down": Fault(
        _ROBOTS,
        'if not private and self._is_ours(origin + "/"):',
        "if False:",
        "start",
        "Crawl-delay across a restart",
    ),
    "a restart knows no Crawl-delay": Fault(
        _ROBOTS,
        "self._keep_delay(host, each.origin, each.delay)",
        "pass",
        "start",
        "Crawl-delay across a restart",
    ),
    "a restart waits for our own delay alone": Fault(
        _ROBOTS,
        "self._hosts.restart_delay(host)",
        "pass",
        "start",
        "Crawl-delay across a restart",
    ),
    "trouble makes a Crawl-delay forgotten": Fault(
        _ROBOTS,
        "delay = self._delays.get(host, {}).get(origin)",
        "delay = None",
        "start",
        "Crawl-delay of a host in trouble",
    ),
    # The clock.
    "the system's clock is followed when it is set": Fault(
        "recrawl.clock",
        "return (self._steady() + self._ahead) / SECONDS_A_DAY",
        "return self._wall() / SECONDS_A_DAY",
        "delay",
        "the clock is set ahead",
    ),
    # The agenda, the scheduler, a crawl that is opened.
    "a lease takes no slot": Fault(
        "recrawl.frontier.pool",
        "table.hosts.begin(int(table.host[page]), now)",
        "pass",
        "together",
        "a crawl",
    ),
    "pages of a host that must wait are leased": Fault(
        "recrawl.frontier.queue",
        "            if ready > now:\n",
        "            if False:\n",
        "together",
        "a crawl",
    ),
    "an answer ends when its lease was given": Fault(
        "recrawl.frontier.agenda",
        "self.hosts.end(lease.host, now, wait)",
        "self.hosts.end(lease.host, lease.at, wait)",
        "delay",
        "due",
    ),
    "an agenda looks ahead": Fault(
        "recrawl.scheduler.crawl_schedule",
        "self.crawl.agenda.take(self.clock.now(), most)",
        "self.crawl.agenda.take(self.clock.now() + 1 / SECONDS_A_DAY, most)",
        "start",
        "due",
    ),
    "a page is given back while it is visited": Fault(
        "recrawl.scheduler.crawl_schedule",
        "return [DuePage(*each) for each in zip(addresses, leases, strict=True)]",
        "pages = [DuePage(*each) for each in zip(addresses, leases, strict=True)]\n"
        "        self.release(pages[0])\n        return pages",
        "together",
        "due",
    ),
    "a scheduler forgets when it was opened": Fault(
        "recrawl.state.opening",
        "delays=settings.delays, began=now",
        "delays=settings.delays",
        "start",
        "due after restarts",
    ),
    "a crawl has a host table for more at a time": Fault(
        "recrawl.state.opening",
        "together=settings.together, delays=settings.delays, began=now",
        "together=settings.together + 1, delays=settings.delays, began=now",
        "together",
        "a crawl",
    ),
    "a crawl begins without what was read of robots.txt": Fault(
        "recrawl.crawl.crawler",
        "robots.resume(reader.robots_read())",
        "pass",
        "start",
        "a crawl goes on",
    ),
    "a crawl does not write down who wants to be left alone": Fault(
        "recrawl.crawl.crawler",
        "write=ledger.put,\n            on_release",
        "write=bool,\n            on_release",
        "left alone",
        "a crawl that is told to wait goes on",
    ),
}
