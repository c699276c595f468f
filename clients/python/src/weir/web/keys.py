"""Who a request is counted for."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
IPV6_PREFIX = 64


@dataclass(frozen=True)
class Caller:
    """A request as keys see it. `request` is the framework's own: the scope of ASGI, Flask's and Django's request."""

    peer: str | None  # the address at the other end of the connection
    header: Callable[[str], str | None]
    method: str
    path: str
    user: str | None  # who has logged in, where the framework knows
    request: Any


Key = Callable[[Caller], str]


def by_address(trusted: Sequence[str] = (), header: str = "X-Forwarded-For") -> Key:
    """The caller's address; of IPv6 the first 64 bits, since one caller has as many addresses as it likes.

    `trusted` names the proxies in front, as addresses or networks. From one of them the header is read from its end,
    up to the first address that is none of them: what stands before that anybody may have written.
    """
    networks = [ipaddress.ip_network(name) for name in trusted]

    def is_trusted(address: Address) -> bool:
        return any(address in network for network in networks)

    def key(caller: Caller) -> str:
        found = _address(caller.peer or "")
        if found is None:
            return "address:unknown"
        if is_trusted(found):
            for word in reversed((caller.header(header) or "").split(",")):
                hop = _address(word)
                if hop is None:
                    break
                found = hop
                if not is_trusted(hop):
                    break
        return f"address:{_group(found)}"
    return key


def _address(word: str) -> Address | None:
    """An address as proxies write it: with a port, in brackets, IPv4 as IPv6."""
    word = word.strip().strip('"')
    if word.startswith("["):
        word = word[1:].split("]", 1)[0]
    elif word.count(":") == 1:
        word = word.split(":", 1)[0]
    try:
        address = ipaddress.ip_address(word.split("%", 1)[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _group(address: Address) -> str:
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    return str(ipaddress.ip_network((address, IPV6_PREFIX), strict=False))


def by_header(name: str, otherwise: Key | None = None) -> Key:
    """The value of a header, such as an API key; callers without it by `otherwise`, which is their address."""
    fallback = otherwise or by_address()

    def key(caller: Caller) -> str:
        value = caller.header(name)
        return f"header:{value}" if value else fallback(caller)
    return key


def by_user(otherwise: Key | None = None) -> Key:
    """Who has logged in; others by `otherwise`, which is their address."""
    fallback = otherwise or by_address()

    def key(caller: Caller) -> str:
        return f"user:{caller.user}" if caller.user else fallback(caller)
    return key


def per_route(key: Key) -> Key:
    """Each method and path of a caller by itself."""
    return lambda caller: f"{key(caller)}:{caller.method}:{caller.path}"
