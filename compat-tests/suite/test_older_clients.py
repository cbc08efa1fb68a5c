"""Clients of releases before 0.17 speak dialects that are not served.

They are refused: the connection closes, and the log says which releases it was. The reference is
crashed by most of them, or answers with what makes the client abort.

The bodies are those that the wheels of these releases send.
"""

import pytest

import wire
from wire import int32, int64, oid, string, strings

ID = oid(1)
CONNECT_A, CONNECT_B = 15, 17

A = "Arrow 0.6 and 0.7"
B_TO_D = "Arrow 0.8 to 0.10"
E = "Arrow 0.11)"
F_TO_H = "Arrow 0.12 to 0.16"
E_TO_H = "Arrow 0.11 to 0.16"

CREATE = wire.encode(string(ID), int64(100), int64(3), int32(0))
SEAL = wire.encode(string(ID), string(wire.DIGEST))
GET = wire.encode(strings([ID, oid(2)]), int64(0))
ONE_ID = wire.encode(string(ID))


@pytest.mark.deviation("older clients")
@pytest.mark.parametrize(
    "first, kind, body, releases",
    [
        (CONNECT_A, CONNECT_A, wire.EMPTY, A),
        (CONNECT_B, 1, CREATE, B_TO_D),
        (CONNECT_B, 5, SEAL, B_TO_D),
        (CONNECT_B, 7, GET, B_TO_D),
        (CONNECT_B, 9, ONE_ID, B_TO_D),
        (CONNECT_B, 11, wire.delete_body([ID]), B_TO_D),
        (CONNECT_B, 24, wire.EMPTY, B_TO_D),
        (wire.CONNECT, 1, CREATE, E_TO_H),
        (wire.CONNECT, 3, ONE_ID, E),
        (wire.CONNECT, 5, SEAL, E),
        (wire.CONNECT, 7, GET, E),
        (wire.CONNECT, 9, ONE_ID, E),
        (wire.CONNECT, 11, wire.delete_body([ID]), E),
        (wire.CONNECT, 26, wire.EMPTY, E),
        (
            wire.CONNECT,
            3,
            wire.encode(string(ID), string(b"data"), string(b""), string(wire.DIGEST)),
            F_TO_H,
        ),
        (
            wire.CONNECT,
            32,
            wire.encode(strings([ID]), strings([b"x"]), strings([b""]), strings([wire.DIGEST])),
            F_TO_H,
        ),
    ],
)
def test_refused_by_name(store, first, kind, body, releases):
    server = store()
    other = server.client()
    client = wire.Client(server.path)
    if first != kind:
        client.send(first)
        client.recv()
    client.send(kind, body)
    client.assert_closed()
    wire.wait_until(lambda: releases in server.log(), "the log names the releases")
    assert other.list() == {}


def test_what_newer_clients_send_is_not_mistaken(store):
    """Sizes and flags in any legal place, and messages that look alike in both."""
    client = store().client()
    for number, size in enumerate((0, 1, 2, 100, 70_000)):
        client.create(oid(number), size, evict=bool(number % 2))
        client.abort(oid(number))
    assert client.request(17) is not None
    client.create_and_seal(ID, b"data", b"metadata")
    assert client.get([ID] * 20).available == [True] * 20
