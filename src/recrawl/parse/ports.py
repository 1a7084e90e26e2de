"""Ports that no page is asked for at: those of other services, by the Fetch standard.

A request that a page causes can reach a mail server as easily as a web server, and one that reads
commands line by line may obey it. Browsers ask for nothing at these ports, and nor do we.

Reference: https://fetch.spec.whatwg.org/#port-blocking

Pure.
"""

from __future__ import annotations

# fmt: off
BLOCKED_PORTS = frozenset({
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101,
    102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427,
    465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990,
    993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667,
    6668, 6669, 6679, 6697, 10080,
})
# fmt: on


def blocked_port(port: int | None) -> str:
    """Why nothing is asked at a port; empty where pages may be there, as at that of a scheme.

    >>> blocked_port(25)
    'port 25 is not one that web servers use; no requests are made to it'
    >>> blocked_port(8080), blocked_port(None)
    ('', '')
    """
    blocked = port in BLOCKED_PORTS
    return (
        f"port {port} is not one that web servers use; no requests are made to it"
        if blocked
        else ""
    )
