"""Addresses that strangers must not make us ask."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.fetch.http.guard import allowed

PUBLIC = ["93.184.215.14", "1.1.1.1", "2606:4700::1111", "2a00:1450:4001::1", "64:ff9b::101:101"]
LOCAL = [
    *("127.0.0.1", "127.255.255.254", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"),
    *("100.64.0.1", "::1", "fd12:3456:789a::1", "64:ff9b::a00:1", "64:ff9b::7f00:1"),
]
NEVER = [
    *("0.0.0.0", "0.1.2.3", "169.254.0.1", "224.0.0.1", "239.255.255.255", "240.0.0.1"),  # noqa: S104 - not bound to
    *("255.255.255.255", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1"),
    *("::", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "100::1", "2001:db8::1", "3fff::1"),
    *("::ffff:127.0.0.1", "::ffff:1.1.1.1", "::127.0.0.1", "::ffff:0:127.0.0.1"),  # wrapped
    *("2002:7f00:1::1", "2002:101:101::1", "2001:0:4136:e378::1", "64:ff9b:1::1"),
    *("64:ff9b::a9fe:a9fe", "64:ff9b::a83f:8110"),  # clouds' addresses in the translation prefix
    *("", "localhost", "127.1", "0x7f.0.0.1", "1.1.1.1 ", "[::1]", "2130706433"),
]


# Where clouds tell a machine its own secrets, and the services beside them.
CLOUDS = {
    "Akamai (Linode)": ("169.254.169.254", "fd00:a9fe:a9fe::1"),
    "Alibaba": ("100.100.100.200", "100.100.2.136"),
    "Amazon EC2": ("169.254.169.254", "fd00:ec2::254"),
    "Amazon ECS and EKS": ("169.254.170.2", "169.254.170.23", "fd00:ec2::23"),
    "Amazon names and time": ("169.254.169.253", "fd00:ec2::253", "169.254.169.123"),
    "Azure": ("169.254.169.254", "168.63.129.16"),
    "DigitalOcean": ("169.254.169.254",),
    "Equinix Metal (Packet)": ("192.80.8.124",),
    "Exoscale": ("169.254.169.254",),
    "Google": ("169.254.169.254", "fd20:ce::254"),
    "Hetzner": ("169.254.169.254",),
    "Huawei": ("169.254.169.254",),
    "IBM": ("169.254.169.254", "161.26.0.10", "166.8.0.1"),
    "OpenStack": ("169.254.169.254", "fe80::a9fe:a9fe", "fe80::a9fe:a9fe%eth0"),
    "Oracle": ("169.254.169.254", "192.0.0.192", "fd00:c1::a9fe:a9fe"),
    "Rancher": ("169.254.169.250",),
    "Scaleway": ("169.254.42.42", "fd00:42::42"),
    "Tencent": ("169.254.0.23", "169.254.169.254"),
    "UpCloud": ("169.254.169.254",),
    "Vultr": ("169.254.169.254",),
    "Yandex": ("169.254.169.254",),
}
# IANA's registries of addresses for special use, IPv4 and IPv6, all but the two that are judged
# by what they are to us (`LOCAL`) or by what they wrap (64:ff9b::/96).
SPECIAL = [
    *("0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24"),
    *("192.52.193.0/24", "192.88.99.0/24", "192.175.48.0/24", "198.18.0.0/15"),
    *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32"),
    *("::/128", "::ffff:0:0/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23"),
    *("2001:2::/48", "2001:3::/32", "2001:4:112::/48", "2001:10::/28", "2001:20::/28"),
    *("2001:30::/28", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"),
    *("5f00::/16", "fe80::/10", "ff00::/8"),
]


@pytest.mark.parametrize("cloud", CLOUDS)
def test_a_cloud_tells_us_none_of_its_secrets(cloud):
    """Not even where private addresses are fine."""
    for text in CLOUDS[cloud]:
        assert not allowed(text)
        assert not allowed(text, local=True)


@pytest.mark.parametrize("network", SPECIAL)
def test_no_address_for_special_use_is_asked(network):
    """First and last of each network, and one in its midst."""
    first, last = ip_network(network)[0], ip_network(network)[-1]
    middle = ip_address((int(first) + int(last)) // 2)

    for address in (first, middle, last):
        assert not allowed(str(address), local=True)


@pytest.mark.parametrize("text", PUBLIC)
def test_public_addresses_may_be_asked(text):
    assert allowed(text)
    assert allowed(text, local=True)


@pytest.mark.parametrize("text", LOCAL)
def test_addresses_of_our_own_networks_only_if_told_so(text):
    assert not allowed(text)
    assert allowed(text, local=True)


@pytest.mark.parametrize("text", NEVER)
def test_some_are_never_asked(text):
    assert not allowed(text)
    assert not allowed(text, local=True)


@given(st.ip_addresses())
def test_what_python_calls_not_global_is_never_asked(address):
    """An oracle with a table of its own; ours may refuse more."""
    translated = address in ip_network("64:ff9b::/96")
    if allowed(str(address)) and not translated:
        assert address.is_global
        assert not address.is_multicast


@given(st.integers(0, 2**32 - 1))
def test_wrapping_an_address_opens_nothing(number):
    """However IPv6 carries an IPv4 address, what is refused plainly is refused wrapped."""
    plain = str(IPv4Address(number))
    wrapped = [
        IPv6Address(0xFFFF << 32 | number),
        IPv6Address(number),
        IPv6Address(int(ip_address("64:ff9b::")) | number),
        IPv6Address(0x2002 << 112 | number << 80),
        IPv6Address(0x20010000 << 96 | (number ^ 0xFFFF_FFFF)),
    ]

    if not allowed(plain):
        assert not any(allowed(str(address)) for address in wrapped)
