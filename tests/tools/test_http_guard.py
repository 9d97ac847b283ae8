"""The outbound guard: whom the client calls, and whom never."""

import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from ipaddress import ip_address, ip_network
from types import MappingProxyType
from typing import Any

import pytest

from tests.servers.hostile import HostileServer, answer, hostile_server, in_turn, redirect, watched_dialling
from tickwork.tools.outbound.http import LOOPBACK, Blocked, Limits, Policy, Unreachable, request
from tickwork.tools.outbound.policy import FORBIDDEN, Network

PUBLIC = "93.184.216.34"
OPEN_HERE = Policy(allow_http=True, private=LOOPBACK)

NAMES: dict[str, Sequence[str]] = {
    "public.example": [PUBLIC],
    "localhost": ["127.0.0.1"],
    "inside.example": ["10.0.0.1"],
    "metadata.example": ["169.254.169.254"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "zoned.example": ["fe80::1%lo"],
    "one-of-two.example": [PUBLIC, "127.0.0.1"],
    "one-of-three.example": [PUBLIC, "2606:4700::1111", "::1"],
    "empty.example": [],
}

HOSTILE_HOSTS = r"""
    127.0.0.1 127.0.0.2 127.255.255.254 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0x7F.0.0.1 017700000001 0177.0.0.1
    127.0.0.01 127.0.0.1. 127.0.0.0x1 127.0.0.1.5 0x 00000.0 0 0.0.0.0 0.1.2.3 10.0.0.1 172.16.0.1 172.31.255.255
    192.168.1.1 169.254.169.254 169.254.170.2 2852039166 100.64.0.1 100.100.100.200 168.63.129.16 192.0.0.192 192.0.2.1
    192.88.99.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
    [::1] [::] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:0:127.0.0.1] [::127.0.0.1]
    [64:ff9b::7f00:1] [64:ff9b::169.254.169.254] [64:ff9b:1::7f00:1] [2002:7f00:1::] [2001:0:7f00:1::] [2001:2::1]
    [2001:10::1] [100::1] [2001:db8::1] [3fff::1] [5f00::1] [fc00::1] [fd00:ec2::254] [fe80::1] [fe80::1%lo]
    [fe80::1%25lo] [fec0::1] [ff02::1] [::1 ::1 [127.0.0.1] [v1.x] [] [::1]x localhost LocalHost localhost.
    inside.example metadata.example mapped.example zoned.example one-of-two.example one-of-three.example empty.example
    nowhere.example ①②⑦.0.0.1 127。0。0。1 １２７.0.0.1 ｐublic.example public。example localhoſt pub%6cic.example
    public.example. public..example .public.example -public.example public-.example public,example
    public.example%00.inside.example user@public.example user:secret@public.example public.example@127.0.0.1
    public.example\@127.0.0.1 127.0.0.1\@public.example 127.0.0.1#@public.example 127.0.0.1?@public.example
"""

OPEN_NEIGHBOURS = """
    1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15 168.63.129.17
    169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255
    198.20.0.0 223.255.255.255 2000::1 2001:200::1 2001:db7:ffff::1 2001:db9::1 2003::1 3ffe::1 3fff:1000::1
    2606:4700::1111
"""

OTHER_SCHEMES = "ftp file gopher ws wss data jar javascript httpss hтtp"
OTHER_PORTS = "0 00 080 65536 99999 -1 +80 8_0 ８０ http 22 25 5432 6379"

HOSTILE_URLS = [
    "",
    "/",
    "//public.example/",
    "public.example",
    "http:",
    "http://",
    "http:///public.example/",
    "http:/public.example/",
    "http:public.example",
    "http:\\\\public.example/",
    "http://:80/",
    *(f"{scheme}://public.example/" for scheme in OTHER_SCHEMES.split()),
    "file:///etc/passwd",
    "data:text/plain,x",
    *(f"http://public.example:{port}/" for port in OTHER_PORTS.split()),
    "http://public.example:/",
    " http://public.example/",
    "http://public.example/ ",
    "http://public.example/a b",
    "http://public.example/\r\nHost: inside.example",
    "http://public.example/%\n",
    "http://public.example\t/",
    "http://public\n.example/",
    "http://public.example/\x00",
    "http://public.example/\x7f",
    "http://public.example/\\x",
    "http://public.example/straße",
    "http://public.example/#\n",
    "ht\ntp://public.example/",
    f"http://{'a' * 64}.example/",
    f"http://{'a.' * 130}example/",
    f"http://public.example/{'a' * 9000}",
]


@pytest.fixture
def dialled() -> Iterator[list[tuple[str, int]]]:
    with watched_dialling() as addresses:
        yield addresses


@pytest.fixture
def server() -> Iterator[HostileServer]:
    with hostile_server(answer(b"inside")) as server:
        yield server


class Resolver:
    """Gives the answers for a name one after the other, the last one again and again; of other names, a public one."""

    def __init__(self, answers: Mapping[str, Sequence[Sequence[str]]] = MappingProxyType({})) -> None:
        self.asked: list[str] = []
        self._answers = {name: [addresses] for name, addresses in NAMES.items()}
        self._answers |= {name: list(each) for name, each in answers.items()}

    def __call__(self, host: str, port: int, **options: Any) -> list[tuple[Any, ...]]:
        self.asked.append(host)
        if host == "nowhere.example":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        left = self._answers.get(host, [[PUBLIC]])
        addresses = left.pop(0) if len(left) > 1 else left[0]
        return [(0, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]


@pytest.mark.parametrize("host", HOSTILE_HOSTS.split())
def test_no_hostile_host_is_ever_dialled(host: str, server: HostileServer, dialled: list[tuple[str, int]]) -> None:
    policy = Policy(allow_http=True, ports=frozenset({server.port}))

    with pytest.raises(Blocked) as refused:
        request("GET", f"http://{host}:{server.port}/", policy=policy, resolve=Resolver())

    assert (str(refused.value), refused.value.code) == (str(Blocked()), "ADDRESS_BLOCKED")
    assert (dialled, server.accepted) == ([], 0)


@pytest.mark.parametrize("url", HOSTILE_URLS)
def test_no_hostile_url_is_ever_dialled(url: str, dialled: list[tuple[str, int]]) -> None:
    with pytest.raises(Blocked) as refused:
        request("GET", url, policy=Policy(allow_http=True), resolve=Resolver())

    assert str(refused.value) == str(Blocked())
    assert dialled == []


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://public.example/", (PUBLIC, 80)),
        ("HTTP://Public.Example:8080?q={|}#part", (PUBLIC, 8080)),
        ("http://public.example/a/../b;c=%0d%0a?u=http://user@inside.example", (PUBLIC, 80)),
        (f"http://{PUBLIC}/", (PUBLIC, 80)),
        ("http://[2606:4700::1111]:8443/", ("2606:4700::1111", 8443)),
        ("http://xn--strae-oqa.example/", (PUBLIC, 80)),
        ("http://my_bucket.0x7f.example/", (PUBLIC, 80)),
    ],
)
def test_public_hosts_are_dialled(url: str, address: tuple[str, int], dialled: list[tuple[str, int]]) -> None:
    with pytest.raises(Unreachable):
        request("GET", url, policy=Policy(allow_http=True), resolve=Resolver())

    assert dialled == [address]


@pytest.mark.parametrize("network", FORBIDDEN, ids=str)
def test_both_ends_of_each_forbidden_network_are_closed(network: Network) -> None:
    policy = Policy()

    assert not policy.permits(network[0], 443)
    assert not policy.permits(network[-1], 443)


@pytest.mark.parametrize("address", OPEN_NEIGHBOURS.split())
def test_the_neighbours_of_forbidden_networks_are_open(address: str) -> None:
    assert Policy().permits(ip_address(address), 443)


def test_http_is_refused_unless_the_operator_allows_it(dialled: list[tuple[str, int]]) -> None:
    with pytest.raises(Blocked):
        request("GET", "http://public.example/", policy=Policy(), resolve=Resolver())

    assert dialled == []


def test_a_private_network_is_open_at_every_port_once_the_operator_says_so(server: HostileServer) -> None:
    assert request("GET", server.url(), policy=OPEN_HERE).body == b"inside"
    for url in ("http://10.0.0.1/", "http://127.0.0.1:65536/", "http://127.0.0.1:0/"):
        with pytest.raises(Blocked):
            request("GET", url, policy=OPEN_HERE)


def test_a_mapped_address_does_not_pass_for_an_open_one(server: HostileServer) -> None:
    with pytest.raises(Blocked):
        request("GET", f"http://[::ffff:127.0.0.1]:{server.port}/", policy=OPEN_HERE)


def test_what_the_operator_blocks_stays_blocked_though_public_or_open(dialled: list[tuple[str, int]]) -> None:
    policy = Policy(allow_http=True, private=LOOPBACK, blocked=(ip_network("127.0.0.1"), ip_network(PUBLIC)))

    for url in ("http://127.0.0.1/", "http://public.example/"):
        with pytest.raises(Blocked):
            request("GET", url, policy=policy, resolve=Resolver())

    assert dialled == []


def test_a_name_is_asked_for_once_and_the_checked_address_dialled(
    server: HostileServer, dialled: list[tuple[str, int]]
) -> None:
    resolver = Resolver({"rebinding.example": [["127.0.0.1"], ["169.254.169.254"]]})

    response = request("GET", server.url(host="rebinding.example"), policy=OPEN_HERE, resolve=resolver)

    assert response.body == b"inside"
    assert resolver.asked == ["rebinding.example"]
    assert dialled == [("127.0.0.1", server.port)]
    assert server.requests[0].headers["host"] == f"rebinding.example:{server.port}"


def test_a_name_that_turns_private_between_two_hops_is_blocked_at_the_second(
    server: HostileServer, dialled: list[tuple[str, int]]
) -> None:
    server.reply = redirect("/again")
    resolver = Resolver({"rebinding.example": [["127.0.0.1"], ["169.254.169.254"]]})

    with pytest.raises(Blocked):
        request(
            "GET",
            server.url(host="rebinding.example"),
            policy=OPEN_HERE,
            limits=Limits(redirects=3),
            resolve=resolver,
        )

    assert dialled == [("127.0.0.1", server.port)]


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data/",
        "//10.0.0.1/",
        "http://[::ffff:127.0.0.1]/",
        "http://2130706433/",
        "http://inside.example/",
        "http://user:secret@public.example/",
        "http://public.example:22/",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "ht\ttp://public.example/",
        "/\t/10.0.0.1/",
        "\\\\10.0.0.1\\",
        "http://[::1/",
        "/stra\xdfe",
        "",
    ],
)
def test_a_redirect_is_checked_like_the_first_address(
    location: str, server: HostileServer, dialled: list[tuple[str, int]]
) -> None:
    server.reply = redirect(location)

    with pytest.raises(Blocked) as refused:
        request("GET", server.url(), policy=OPEN_HERE, limits=Limits(redirects=3), resolve=Resolver())

    assert str(refused.value) == str(Blocked())
    assert dialled == [("127.0.0.1", server.port)]


def test_a_name_server_that_fails_is_worth_a_retry_and_a_missing_name_is_not() -> None:
    def failing(*_: Any, **__: Any) -> list[tuple[Any, ...]]:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    with pytest.raises(Unreachable) as refused:
        request("GET", "https://public.example/", policy=Policy(), resolve=failing)

    assert refused.value.code == "NAME_NOT_RESOLVED"
    with pytest.raises(Blocked):
        request("GET", "https://nowhere.example/", policy=Policy(), resolve=Resolver())


def test_the_next_address_is_dialled_when_one_refuses(server: HostileServer, dialled: list[tuple[str, int]]) -> None:
    resolver = Resolver({"two.example": [["127.0.0.9", "127.0.0.1"]]})

    response = request("GET", server.url(host="two.example"), policy=OPEN_HERE, resolve=resolver)

    assert response.status == 200
    assert dialled == [("127.0.0.9", server.port), ("127.0.0.1", server.port)]


def test_a_silent_address_leaves_time_for_the_next(server: HostileServer, dialled: list[tuple[str, int]]) -> None:
    resolver = Resolver({"two.example": [["127.0.0.9", "127.0.0.1"]]})
    with socket.create_server(("127.0.0.9", server.port), backlog=0), ExitStack() as waiting:
        # Once as many wait as may, the system answers no more.
        for _ in range(4):
            caller = waiting.enter_context(socket.socket())
            caller.setblocking(False)
            caller.connect_ex(("127.0.0.9", server.port))
        dialled.clear()

        url = server.url(host="two.example")
        response = request("GET", url, policy=OPEN_HERE, limits=Limits(connect_seconds=1), resolve=resolver)

    assert response.status == 200
    assert dialled == [("127.0.0.9", server.port), ("127.0.0.1", server.port)]


def test_a_name_with_many_addresses_gets_few_connections(dialled: list[tuple[str, int]]) -> None:
    many = [f"93.184.216.{last}" for last in range(1, 200)]

    with pytest.raises(Unreachable):
        request("GET", "https://many.example/", policy=Policy(), resolve=Resolver({"many.example": [many]}))

    assert len(dialled) == 4


def test_ipv6_is_spoken() -> None:
    with hostile_server(answer(b"six"), host="::1") as server:
        assert request("GET", server.url(), policy=OPEN_HERE).body == b"six"
        assert server.requests[0].headers["host"] == f"[::1]:{server.port}"


def test_proxies_of_the_environment_are_ignored(server: HostileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with hostile_server(answer(b"proxy")) as proxy:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url())
            monkeypatch.setenv(name.lower(), proxy.url())

        assert request("GET", server.url(), policy=OPEN_HERE).body == b"inside"
        assert proxy.accepted == 0


def test_each_hop_may_lead_to_another_open_host(server: HostileServer) -> None:
    with hostile_server(answer(b"there"), host="127.0.0.2") as other:
        server.reply = in_turn(redirect("next?page=2"), redirect(other.url("/end#part")))

        response = request("GET", server.url("/a/b"), policy=OPEN_HERE, limits=Limits(redirects=2))

        assert (response.body, response.url) == (b"there", other.url("/end"))
        assert [seen.target for seen in server.requests + other.requests] == ["/a/b", "/a/next?page=2", "/end"]
