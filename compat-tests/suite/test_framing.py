"""Framing: the recorded byte examples, any fragmentation, any legal layout.

The hexadecimal bodies were recorded between the official client and the
reference server; requests are sent as they are, and replies show that the
raw client of this suite reads what the reference wrote.
"""

import socket

import pytest

import wire
from wire import oid

ID = oid(1)
ID2 = oid(2)
FLAT_EMPTY = "080000000400040004000000"
CREATE_100_3 = (
    "14000000000000000c002000080007000c0014000c0000000000000118000000640000000000000003000000"
    "000000000000000014000000<ID>00000000"
)
CREATE_10_0 = (
    "140000000000000000000a001800080007000c000a00000000000001100000000a0000000000000000000000"
    "14000000<ID>00000000"
)
CREATE_REPLY = (
    "1400000000000e0048001000140000000c0004000e00000008009a0000000000040000003800000004000000"
    "0000000040000000000000006400000000000000a400000000000000030000000000000000000000000000000000"
    "000014000000<ID>00000000"
)
CREATE_REPLY_EXISTS = (
    "1000000000000a003c000400080038000a0000003800000000000000000000000000000000000000000000000000"
    "00000000000000000000000000000000000000000000000000000100000014000000<ID>00000000"
)
SEAL = (
    "0c00000008000c000400080008000000080000002000000014000000<ID>00000000080000006aab256a7a124229"
    "00000000"
)
ONE_ID = "0c0000000000060008000400060000000400000014000000<ID>00000000"
CONTAINS_PRESENT = "0c00000008000c000400080008000000080000000100000014000000<ID>00000000"
GET_TWO = (
    "0c0000000000060008000400060000000400000002000000240000000400000014000000<ID2>00000000"
    "14000000<ID>00000000"
)
GET_REPLY_TWO = (
    "180000000000000000000e001800040008000c00100014000e0000001400000054000000b8000000bc000000c800"
    "000002000000240000000400000014000000<ID2>0000000014000000<ID>00000000020000000400000000000000"
    "40000000000000006400000000000000a40000000000000003000000000000000000000000000000000000000000"
    "00000000000000000000ffffffffffffffff00000000000000000000000000000000000000000000000000000000"
    "01000000040000000100000008009a00000000000000000000000000"
)
CREATE_AND_SEAL = (
    "1400000000000e001800080007000c00100014000e0000000000000110000000280000002c0000003000000014000"
    "000<ID>000000000200000064640000010000006d00000008000000766f464f63b3988400000000"
)
ERROR_1 = "0c00000000000600080004000600000001000000"
DELETE = "0c00000008000c0004000800080000000100000004000000010000000400000014000000<ID>00000000"
DELETE_REPLY = (
    "1000000000000a001000040008000c000a00000001000000080000002800000001000000040000001400000"
    "0<ID>000000000100000000000000"
)
EVICT_1 = "0c000000000006000c000400060000000100000000000000"
SET_OPTIONS = "10000000000000000800100004000800080000000c000000e803000000000000020000006e6d0000"
NOTIFICATION = (
    "100000000000000000000600080004000600000004000000010000001800000000001200200004000c0014000000"
    "000000000800120000002c0000001800000003000000000000000200000000000000000000000800000002020202"
    "020202020000000014000000<ID>00000000"
)
DELETION = (
    "0c00000000000600080004000600000004000000010000001800000014000c00080000000000000000000000000007"
    "0014000000000000010400000014000000<ID>00000000"
)


def body(text):
    return bytes.fromhex(text.replace("<ID2>", ID2.hex()).replace("<ID>", ID.hex()))


# The recorded examples.


def test_connect_example(store):
    """The header is spelt out here, not made by the raw client."""
    client = store(10_000_000).client()
    client.send_bytes(bytes.fromhex("0000000000000000" "1300000000000000" "0c00000000000000"))
    client.send_bytes(body(FLAT_EMPTY))
    head = client.recv_bytes(24)
    assert head[:16] == bytes.fromhex("0000000000000000" "1400000000000000")
    reply = client.recv_bytes(int.from_bytes(head[16:], "little"))
    assert wire.Table(reply).scalar(0, "q") == 10_000_000


def test_create_examples(store):
    client = store().client()
    reply = wire.CreateReply.parse(client.request(wire.CREATE, body(CREATE_100_3)))
    assert (reply.object_id, reply.error) == (ID, wire.OK)
    assert (reply.spec.data_size, reply.spec.metadata_size) == (100, 3)
    segment = wire.Segment(client.recv_fd(), reply.mmap_size)
    segment.close()
    reply = wire.CreateReply.parse(client.request(wire.CREATE, body(CREATE_10_0)))
    assert (reply.error, reply.spec, reply.store_fd, reply.mmap_size) == (
        wire.EXISTS,
        wire.NOTHING,
        0,
        0,
    )


def test_create_without_metadata_example(store):
    client = store().client()
    reply = wire.CreateReply.parse(client.request(wire.CREATE, body(CREATE_10_0)))
    assert (reply.error, reply.spec.data_size, reply.spec.metadata_size) == (wire.OK, 10, 0)


def test_seal_contains_and_release_examples(store):
    client = store().client()
    client.create(ID, 100, 3)
    assert client.request(wire.CONTAINS, body(ONE_ID)).scalar(1, "i") == 0
    reply = client.request(wire.SEAL, body(SEAL))
    assert (reply.string(0), reply.scalar(1, "i")) == (ID, wire.OK)
    assert client.request(wire.CONTAINS, body(ONE_ID)).scalar(1, "i") == 1
    info = client.list()[ID]
    assert (info.ref_count, info.digest.hex()) == (1, "6aab256a7a124229")
    client.send(wire.RELEASE, body(ONE_ID))
    assert client.list()[ID].ref_count == 0


def test_abort_example(store):
    client = store().client()
    client.create(ID, 1)
    assert client.request(wire.ABORT, body(ONE_ID)).string(0) == ID
    assert client.list() == {}


def test_get_example(store):
    client = store().client()
    client.leave(ID, 100, 3)
    client.send(wire.GET, body(GET_TWO))
    reply = client.recv_get()
    assert reply.object_ids == [ID, ID2]
    assert reply.available == [True, False]
    assert reply.specs[1] == wire.MISSING


def test_create_and_seal_and_delete_examples(store):
    client = store().client()
    assert client.request(wire.CREATE_AND_SEAL, body(CREATE_AND_SEAL)).scalar(0, "i") == wire.OK
    assert client.contents(ID) == (b"dd", b"m")
    assert client.request(wire.CREATE_AND_SEAL, body(CREATE_AND_SEAL)).scalar(0, "i") == wire.EXISTS
    assert client.request(wire.DELETE, body(DELETE)).scalars(2, "i") == [wire.OK]
    assert not client.contains(ID)


def test_evict_example(store):
    client = store().client()
    client.leave(ID, 100, 3)
    assert client.request(wire.EVICT, body(EVICT_1)).scalar(0, "Q") == 103


def test_set_options_example(store):
    client = store().client()
    assert client.request(wire.SET_OPTIONS, body(SET_OPTIONS)).scalar(0, "i") == wire.OK
    assert client.debug_values()["(nm) capacity"] == "1000"


def test_list_debug_string_and_subscribe_examples(store):
    client = store().client()
    assert client.request(wire.LIST, body(FLAT_EMPTY)).tables(0) == []
    assert client.request(wire.DEBUG_STRING, body(FLAT_EMPTY)).string(0) != b""
    subscription = client.subscribe()
    client.create_and_seal(ID, b"abc")
    assert subscription.next_one().object_id == ID


def test_recorded_replies_are_understood():
    """No server: the reader of this suite against what the reference wrote."""
    reply = wire.CreateReply.parse(wire.Table(body(CREATE_REPLY)))
    assert reply == wire.CreateReply(
        ID, wire.Spec(4, 64, 100, 164, 3, 0), wire.OK, 4, 10_092_552
    )
    reply = wire.CreateReply.parse(wire.Table(body(CREATE_REPLY_EXISTS)))
    assert reply == wire.CreateReply(ID, wire.NOTHING, wire.EXISTS, 0, 0)
    reply = wire.GetReply.parse(wire.Table(body(GET_REPLY_TWO)))
    assert reply == wire.GetReply(
        [ID, ID2], [wire.Spec(4, 64, 100, 164, 3, 0), wire.MISSING], [4], [10_092_552]
    )
    assert wire.Table(body(CONTAINS_PRESENT)).scalar(1, "i") == 1
    assert wire.Table(body(ERROR_1)).scalar(0, "i") == wire.EXISTS
    assert wire.Table(body(DELETE_REPLY)).scalars(2, "i") == [wire.OK]
    sealed = wire.ObjectInfo.parse(wire.Table(body(NOTIFICATION)).tables(0)[0])
    assert sealed == wire.ObjectInfo(ID, 3, 2, 0, 0, 0, b"\2" * 8, False)
    deletion = wire.ObjectInfo.parse(wire.Table(body(DELETION)).tables(0)[0])
    assert deletion == wire.ObjectInfo(ID, 0, 0, 0, 0, 0, None, True)


# Framing in general.

PARSELESS = [wire.CONNECT, wire.LIST, wire.DEBUG_STRING]


@pytest.mark.parametrize("kind", PARSELESS)
def test_body_of_length_zero(store, kind):
    client = store().client()
    client.request(kind, b"")
    client.sync()


def test_subscribe_with_a_body_of_length_zero(store):
    client = store().client()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.setblocking(False)
        client.send(wire.SUBSCRIBE, b"")
        client.send_fds([theirs.fileno()])
        assert client.create_and_seal(ID) == wire.OK
        assert ours.recv(8) != b""


def test_header_and_body_in_one_write(store):
    client = store().client()
    client.send_bytes(wire.message(wire.CONTAINS, wire.id_body(ID)))
    client.expect(wire.CONTAINS_REPLY)


def test_four_separate_writes(store):
    client = store().client()
    content = wire.message(wire.CONTAINS, wire.id_body(ID))
    for part in (content[:8], content[8:16], content[16:24], content[24:]):
        client.send_bytes(part)
    client.expect(wire.CONTAINS_REPLY)


def test_byte_by_byte(store):
    """A whole session, subscription included, arrives one byte at a time."""
    client = store().client()

    def dribble(content):
        for index in range(len(content)):
            client.send_bytes(content[index : index + 1])

    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.setblocking(False)
        dribble(wire.message(wire.SUBSCRIBE))
        client.send_fds([theirs.fileno()])
        dribble(wire.message(wire.CREATE_AND_SEAL, wire.create_and_seal_body(ID, b"data", b"me")))
        assert client.expect(wire.CREATE_AND_SEAL_REPLY).scalar(0, "i") == wire.OK
        assert ours.recv(8) != b""
    dribble(wire.message(wire.GET, wire.get_body([ID])))
    assert client.read(client.recv_get().specs[0]) == (b"data", b"me")
    dribble(wire.message(wire.RELEASE, wire.id_body(ID)))
    dribble(wire.message(wire.DELETE, wire.delete_body([ID])))
    assert client.expect(wire.DELETE_REPLY).scalars(2, "i") == [wire.OK]


@pytest.mark.parametrize("size", [1, 7, 23, 24, 25, 100, 4096])
def test_pipelined_requests_in_pieces_of_any_size(store, size):
    """Pieces that end in the middle of a message; replies keep the order."""
    client = store().client()
    ids = [oid(n) for n in range(60)]
    stream = b"".join(wire.message(wire.CONTAINS, wire.id_body(i)) for i in ids)
    for start in range(0, len(stream), size):
        client.send_bytes(stream[start : start + size])
    assert [client.expect(wire.CONTAINS_REPLY).string(0) for _ in ids] == ids


def test_replies_keep_the_order_of_mixed_requests(store):
    client = store().client()
    client.send_bytes(
        wire.message(wire.CREATE_AND_SEAL, wire.create_and_seal_body(ID, b"x"))
        + wire.message(wire.CONTAINS, wire.id_body(ID))
        + wire.message(wire.DELETE, wire.delete_body([ID]))
        + wire.message(wire.CONTAINS, wire.id_body(ID))
        + wire.message(wire.CONNECT)
    )
    assert client.expect(wire.CREATE_AND_SEAL_REPLY).scalar(0, "i") == wire.OK
    assert client.expect(wire.CONTAINS_REPLY).scalar(1, "i") == 1
    assert client.expect(wire.DELETE_REPLY).scalars(2, "i") == [wire.OK]
    assert client.expect(wire.CONTAINS_REPLY).scalar(1, "i") == 0
    client.expect(wire.CONNECT_REPLY)


def test_extra_bytes_behind_the_flatbuffer(store):
    client = store().client()
    extra = b"\xff" * 37
    client.put(ID, 5)
    assert client.request(wire.CONTAINS, wire.id_body(ID) + extra).scalar(1, "i") == 1
    assert client.request(wire.CONNECT, wire.EMPTY + extra).scalar(0, "q") == 10_000_000
    client.send(wire.RELEASE, wire.id_body(ID) + extra)
    assert client.request(wire.DELETE, wire.delete_body([ID]) + extra).scalars(2, "i") == [wire.OK]


def test_tables_with_unknown_further_fields(store):
    """A vtable may be longer than this version of the schema knows."""
    client = store().client()
    request = wire.encode(wire.string(ID), room=20)
    assert client.request(wire.CONTAINS, request).scalar(1, "i") == 0


def test_defaults_may_be_absent(store):
    """CreateRequest of an empty object: only the id is there."""
    client = store().client()
    reply = wire.CreateReply.parse(client.request(wire.CREATE, wire.encode(wire.string(ID))))
    assert (reply.error, reply.spec.data_size, reply.spec.metadata_size) == (wire.OK, 0, 0)
    client.recv_fd()
    assert client.seal(ID) == wire.OK
    reply = wire.GetReply.parse(client.request(wire.GET, wire.encode(wire.strings([ID]))))
    assert reply.available == [True]
    assert client.request(wire.EVICT, wire.encode()).scalar(0, "Q") == 0
    assert client.request(wire.SET_OPTIONS, wire.encode(wire.string(b"n"))).scalar(0, "i") == 0


def test_vectors_may_share_strings(store):
    """Two offsets of a vector may lead to the same string."""
    client = store().client()
    request = bytearray(wire.refresh_body([ID, ID]))
    # Both offsets are relative to their own place, 4 bytes apart.
    first = request.index(ID) - 4
    place = first - 8
    request[place : place + 4] = (first - place).to_bytes(4, "little")
    request[place + 4 : place + 8] = (first - place - 4).to_bytes(4, "little")
    client.request(wire.REFRESH_LRU, bytes(request))


def test_any_request_may_come_first(store):
    """No handshake is needed."""
    server = store()
    assert not server.client().contains(ID)
    assert server.client().list() == {}
    assert server.client().create_and_seal(ID, b"x") == wire.OK


def test_connect_any_number_of_times(store):
    client = store(123_456_789).client()
    assert [client.capacity() for _ in range(10)] == [123_456_789] * 10


@pytest.mark.parametrize("cut", [1, 8, 23, 24, 30])
def test_peer_that_closes_in_the_middle_of_a_message(store, cut):
    server = store()
    client = server.client()
    client.send_bytes(wire.message(wire.CONTAINS, wire.id_body(ID))[:cut])
    client.close()
    server.assert_serves()


def test_disconnect_message(store):
    """Type 0 has no reply: the server closes, and cleans up as after a hang-up."""
    server = store()
    client, other = server.client(), server.client()
    client.create(ID, 10)
    client.put(ID2, 10)
    client.send(wire.DISCONNECT)
    client.assert_closed()
    infos = other.list()
    assert list(infos) == [ID2] and infos[ID2].ref_count == 0


def test_disconnect_message_without_body(store):
    client = store().client()
    client.send(wire.DISCONNECT, b"")
    client.assert_closed()
