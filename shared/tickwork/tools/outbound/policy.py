"""Which addresses may be called."""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

from tickwork.settings import Settings, networks_of

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Listed, because `ipaddress.is_private` and `is_global` differ between versions of Python and leave some of them out.
FORBIDDEN = tuple(
    map(
        ip_network,
        [
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",  # private
            "100.64.0.0/10",  # carrier's NAT
            "127.0.0.0/8",  # loopback
            "168.63.129.16/32",  # Azure's inner server, at a public address
            "169.254.0.0/16",  # link-local, the clouds' metadata
            "172.16.0.0/12",  # private
            "192.0.0.0/24",  # protocol assignments
            "192.0.2.0/24",  # documentation
            "192.88.99.0/24",  # 6to4 relays
            "192.168.0.0/16",  # private
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, broadcast
            "2001::/23",  # protocol assignments, Teredo
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4
            "3fff::/20",  # documentation
        ],
    )
)

# The rest of IPv6 is local, reserved, or has an IPv4 address inside.
GLOBAL_IPV6 = IPv6Network("2000::/3")

LOOPBACK: tuple[Network, ...] = (IPv4Network("127.0.0.0/8"), IPv6Network("::1/128"))
USUAL_PORTS = frozenset({80, 443, 8080, 8443})


@dataclass(frozen=True)
class Policy:
    """What the operator allows; never the tenant's to decide.

    `private` networks are open at every port. `blocked` ones are closed whatever else is said: the place for public
    addresses of the deployment itself. `authorities` is a file of certificates to trust beside the system's.
    """

    allow_http: bool = False
    private: tuple[Network, ...] = ()
    blocked: tuple[Network, ...] = ()
    ports: frozenset[int] = USUAL_PORTS
    authorities: str | None = None

    def permits(self, address: Address, port: int) -> bool:
        if _is_in(self.blocked, address):
            return False
        if _is_in(self.private, address):
            return True
        return port in self.ports and _is_public(address)


def policy_of(settings: Settings) -> Policy:
    """Public addresses by https, unless the operator has said otherwise."""
    return Policy(
        allow_http=settings.outbound_http,
        private=networks_of(settings.outbound_allow),
        blocked=networks_of(settings.outbound_block),
        authorities=settings.outbound_authorities,
    )


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address) and address not in GLOBAL_IPV6:
        return False
    return not _is_in(FORBIDDEN, address)


def _is_in(networks: Iterable[Network], address: Address) -> bool:
    return any(address in network for network in networks)
