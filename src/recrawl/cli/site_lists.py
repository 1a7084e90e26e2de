"""Lists of addresses that verbs take in place of addresses.

Touches: files, the standard streams.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recrawl.parse.site_lists import SiteList


def listed(name: str) -> SiteList | None:
    """The list in a file or on the standard input; None for what is an address."""
    from recrawl.errors import InvalidAddress, InvalidInput, reason
    from recrawl.parse.site_lists import MOST_BYTES, read_site_list

    try:
        if name == "-":
            body = sys.stdin.buffer.read(MOST_BYTES + 1)
        elif "://" in name:
            return None
        else:
            with Path(name).open("rb") as file:
                body = file.read(MOST_BYTES + 1)
        return read_site_list(body)
    except FileNotFoundError:
        said = f"{name} is neither a file nor an address; addresses begin with http:// or https://"
        raise InvalidAddress(said) from None
    except InvalidInput as error:
        raise InvalidInput(f"{name}: {error}") from None
    except OSError as error:
        raise InvalidInput(f"{name} cannot be read ({reason(error)})") from None
