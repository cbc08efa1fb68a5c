"""Clients that break the rules harm nobody but themselves.

A message that violates the protocol closes its own connection. Everything
else goes on: a bystander that was connected before is served afterwards, and
so is a newcomer.
"""

import os
import random
import socket
import struct
import time

import pytest

import wire
from wire import oid

MB = 1_000_000
ID = oid(1)
DATA = bytes(range(40))

# One good body of every request that is parsed.
BODIES = {
    wire.CREATE: wire.create_body(ID, 10, 3),
    wire.CREATE_AND_SEAL: wire.create_and_seal_body(ID, DATA, b"metadata"),
    wire.BATCH: wire.batch_body(
        [ID, oid(2)], [DATA, b""], [b"", b"metadata"], [wire.DIGEST, wire.DIGEST]
    ),
    wire.ABORT: wire.id_body(ID),
    wire.SEAL: wire.seal_body(ID),
    wire.GET: wire.get_body([ID, oid(2)], 1),
    wire.RELEASE: wire.id_body(ID),
    wire.DELETE: wire.delete_body([ID, oid(2)]),
    wire.CONTAINS: wire.id_body(ID),
    wire.EVICT: wire.evict_body(1),
    wire.SET_OPTIONS: wire.options_body(b"name", 10),
    wire.REFRESH_LRU: wire.refresh_body([ID, oid(2)]),
}
NAMES = {
    wire.CREATE: "Create",
    wire.CREATE_AND_SEAL: "CreateAndSeal",
    wire.BATCH: "CreateAndSealBatch",
    wire.ABORT: "Abort",
    wire.SEAL: "Seal",
    wire.GET: "Get",
    wire.RELEASE: "Release",
    wire.DELETE: "Delete",
    wire.CONTAINS: "Contains",
    wire.EVICT: "Evict",
    wire.SET_OPTIONS: "SetOptions",
    wire.REFRESH_LRU: "RefreshLRU",
}


def every_request(function):
    return pytest.mark.parametrize("kind", BODIES, ids=NAMES.get)(function)


class Scene:
    """A store, and a bystander with a subscription and a held object."""

    def __init__(self, server):
        self.server = server
        self.bystander = server.client()
        self.spec = self.bystander.create(oid(99), 8)
        self.bystander.write(self.spec, b"bystands")
        self.bystander.seal(oid(99))
        self.subscription = self.bystander.subscribe()
        assert self.subscription.events(1) == [(oid(99), False)]

    def assert_unharmed(self):
        assert self.bystander.read(self.bystander.hold(oid(99)))[0] == b"bystands"
        assert self.bystander.list()[oid(99)].ref_count == 1
        self.server.assert_serves()

    def assert_closes(self, content):
        """These bytes make the server close their connection, without an answer."""
        client = wire.Client(self.server.path)
        try:
            try:
                client.send_bytes(content)
            except wire.Closed:
                pass
            client.assert_closed()
        finally:
            client.close()

    def survives(self, content):
        """Whether these bytes are answered or ignored; closing is as good."""
        client = wire.Client(self.server.path)
        try:
            # The probe behind them makes sure that something comes back.
            client.send_bytes(content + wire.message(wire.CONNECT))
            while True:
                kind, body = client.recv()
                if kind == wire.CONNECT_REPLY:
                    return True
                if kind == wire.CREATE_REPLY:
                    if wire.CreateReply.parse(wire.Table(body)).error == wire.OK:
                        os.close(client.recv_fd())
                if kind == wire.GET_REPLY:
                    for _ in wire.GetReply.parse(wire.Table(body)).store_fds:
                        os.close(client.recv_fd())
        except wire.Closed:
            return False
        finally:
            client.close()


@pytest.fixture
def scene(store):
    return Scene(store(MB))


# Headers.


@pytest.mark.defect("D4")
@pytest.mark.parametrize("version", [1, -1, 2**32, 0x0102030405060708])
def test_wrong_version(scene, version):
    scene.assert_closes(wire.header(wire.CONNECT, len(wire.EMPTY), version) + wire.EMPTY)
    scene.assert_unharmed()


REPLIES = [2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 29, 31, 33, 35]


@pytest.mark.defect("D4")
@pytest.mark.parametrize("kind", [*REPLIES, 24, 25, 26, 27, 36, 37, 1000, -1, 2**31, -(2**63)])
def test_types_that_no_client_sends(scene, kind):
    scene.assert_closes(wire.message(kind, wire.id_body(ID)))
    scene.assert_closes(wire.message(kind, b""))
    scene.assert_unharmed()


@pytest.mark.defect("D4")
def test_type_is_64_bits_wide(scene):
    """The low 32 bits alone would be a ConnectRequest."""
    scene.assert_closes(wire.message(wire.CONNECT + 2**32))
    scene.assert_unharmed()


LENGTHS = [-1, -(2**63), 2**31 + 1, 2**33, 2**40, 2**63 - 1]


@pytest.mark.defect("D7")
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("kind", [wire.CONNECT, wire.CONTAINS, wire.CREATE_AND_SEAL])
def test_impossible_body_length(scene, kind, length):
    scene.assert_closes(wire.header(kind, length))
    scene.assert_unharmed()


@pytest.mark.defect("D1", "D7")
def test_announced_length_takes_no_memory(scene):
    """Only what arrives needs memory."""
    before = scene.server.status_kib("RssAnon")
    clients = [scene.server.client() for _ in range(20)]
    for client in clients:
        client.send_bytes(wire.header(wire.CREATE_AND_SEAL, 500_000_000) + b"start")
    scene.assert_unharmed()
    assert scene.server.status_kib("RssAnon") - before < 16_384


@pytest.mark.defect("D7")
def test_memory_of_a_large_message_is_given_back(store):
    server = store(100 * MB)
    client = server.client()
    before = server.status_kib("RssAnon")
    assert client.create_and_seal(ID, bytes(60 * MB)) == wire.OK
    client.sync()
    wire.wait_until(
        lambda: server.status_kib("RssAnon") - before < 16_384, "the memory is given back"
    )


# Bodies that are no FlatBuffers, or not the right ones.


@pytest.mark.defect("D3", "D27")
@every_request
def test_truncated_at_every_length(scene, kind):
    """A body that lacks a part of its table is never filled up from elsewhere."""
    body = BODIES[kind]
    # The padding and the final NUL may be missing without harm.
    needed = len(body.rstrip(b"\0")) if kind != wire.EVICT else len(body) - 7
    scene.bystander.contains(oid(98))
    for length in range(needed):
        scene.assert_closes(wire.message(kind, body[:length]))
    for length in range(needed, len(body)):
        scene.survives(wire.message(kind, body[:length]))
    scene.assert_unharmed()


@pytest.mark.defect("D27")
@every_request
def test_empty_body(scene, kind):
    scene.assert_closes(wire.message(kind, b""))
    scene.assert_unharmed()


def garbage(random_source):
    """Bodies of random bytes, of small numbers, and of plausible offsets."""
    size = random_source.choice([1, 3, 4, 8, 12, 24, 60, 200])
    style = random_source.randrange(3)
    if style == 0:
        return random_source.randbytes(size)
    if style == 1:
        return bytes(random_source.randrange(4) for _ in range(size))
    return b"".join(
        struct.pack("<i", random_source.choice([0, 4, 8, -4, -8, 12, 2**31 - 1, -(2**31)]))
        for _ in range(size)
    )


@pytest.mark.defect("D3")
@every_request
def test_random_bodies(scene, kind):
    random_source = random.Random(1000 + kind)
    for _ in range(300):
        scene.survives(wire.message(kind, garbage(random_source)))
    scene.assert_unharmed()


@pytest.mark.defect("D3")
@every_request
def test_bodies_with_single_bytes_changed(scene, kind):
    """Every byte in turn: offsets that lead astray, sizes that are too large."""
    body = BODIES[kind]
    for index in range(len(body)):
        for value in (0x00, 0x7F, 0xFF):
            changed = bytearray(body)
            changed[index] = value
            scene.survives(wire.message(kind, bytes(changed)))
    scene.assert_unharmed()


REQUIRING = [kind for kind in BODIES if kind not in (wire.DELETE, wire.EVICT)]


@pytest.mark.defect("D3")
@pytest.mark.parametrize("kind", REQUIRING, ids=NAMES.get)
def test_required_fields_are_absent(scene, kind):
    for room in (0, 5):
        scene.assert_closes(wire.message(kind, wire.encode(room=room)))
    scene.assert_unharmed()


@pytest.mark.parametrize("kind", [wire.DELETE, wire.EVICT], ids=NAMES.get)
def test_nothing_is_required(scene, kind):
    for room in (0, 5):
        assert scene.survives(wire.message(kind, wire.encode(room=room)))
    scene.assert_unharmed()


MISSING_ONE = [
    (wire.CREATE_AND_SEAL, wire.encode(None, None, *map(wire.string, (b"d", b"m", wire.DIGEST)))),
    (wire.CREATE_AND_SEAL, wire.encode(wire.string(ID), None, None, wire.string(b"m"),
                                       wire.string(wire.DIGEST))),
    (wire.CREATE_AND_SEAL, wire.encode(wire.string(ID), None, wire.string(b"d"), None,
                                       wire.string(wire.DIGEST))),
    (wire.CREATE_AND_SEAL, wire.encode(wire.string(ID), None, wire.string(b"d"),
                                       wire.string(b"m"))),
    (wire.SEAL, wire.encode(None, wire.string(wire.DIGEST))),
    (wire.SEAL, wire.encode(wire.string(ID))),
    (wire.GET, wire.encode(None, wire.int64(0))),
    (wire.DELETE, wire.encode(wire.int32(1))),
    (wire.SET_OPTIONS, wire.encode(None, wire.int64(10))),
    (wire.BATCH, wire.encode(wire.strings([ID]), None, wire.strings([b"d"]),
                             wire.strings([b"m"]))),
    (wire.BATCH, wire.encode(wire.strings([ID]), None, wire.strings([b"d"]), None,
                             wire.strings([wire.DIGEST]))),
]  # fmt: skip


@pytest.mark.defect("D3")
@pytest.mark.parametrize("kind, body", MISSING_ONE)
def test_one_required_field_is_absent(scene, kind, body):
    scene.assert_closes(wire.message(kind, body))
    scene.assert_unharmed()


@pytest.mark.defect("D3")
@pytest.mark.parametrize("count", [100, 1, 3, -1, 0, 2**31 - 1, -(2**31)])
def test_delete_count_is_not_the_number_of_ids(scene, count):
    scene.assert_closes(wire.message(wire.DELETE, wire.delete_body([ID, oid(2)], count)))
    scene.assert_unharmed()


@pytest.mark.defect("D3")
@pytest.mark.parametrize("short", range(4))
def test_batch_vectors_of_different_length(scene, short):
    vectors = [[ID, oid(2)], [b"a", b"b"], [b"", b""], [wire.DIGEST, wire.DIGEST]]
    vectors[short] = vectors[short][:1]
    scene.assert_closes(wire.message(wire.BATCH, wire.batch_body(*vectors)))
    vectors[short] = []
    scene.assert_closes(wire.message(wire.BATCH, wire.batch_body(*vectors)))
    assert list(scene.bystander.list()) == [oid(99)]
    scene.assert_unharmed()


def with_id(kind, object_id):
    return {
        wire.CREATE: lambda: wire.create_body(object_id, 1),
        wire.CREATE_AND_SEAL: lambda: wire.create_and_seal_body(object_id, b"x"),
        wire.BATCH: lambda: wire.batch_body(
            [ID, object_id], [b"x"] * 2, [b""] * 2, [wire.DIGEST] * 2
        ),
        wire.ABORT: lambda: wire.id_body(object_id),
        wire.SEAL: lambda: wire.seal_body(object_id),
        wire.GET: lambda: wire.get_body([ID, object_id]),
        wire.RELEASE: lambda: wire.id_body(object_id),
        wire.DELETE: lambda: wire.delete_body([ID, object_id]),
        wire.CONTAINS: lambda: wire.id_body(object_id),
        wire.REFRESH_LRU: lambda: wire.refresh_body([ID, object_id]),
    }[kind]()


WITH_ID = [kind for kind in BODIES if kind not in (wire.EVICT, wire.SET_OPTIONS)]


@pytest.mark.defect("D28")
@pytest.mark.parametrize("kind", WITH_ID, ids=NAMES.get)
def test_object_id_of_the_wrong_length(scene, kind):
    for length in (0, 1, 19, 21, 40, 1000):
        scene.assert_closes(wire.message(kind, with_id(kind, b"i" * length)))
    assert list(scene.bystander.list()) == [oid(99)]
    scene.assert_unharmed()


@pytest.mark.defect("D5", "D3")
@pytest.mark.parametrize("kind", [wire.SEAL, wire.CREATE_AND_SEAL, wire.BATCH], ids=NAMES.get)
def test_digest_of_the_wrong_length(scene, kind):
    scene.bystander.create(oid(3), 10)
    for length in (0, 1, 7, 9, 16, 1000):
        digest = b"d" * length
        body = {
            wire.SEAL: wire.seal_body(oid(3), digest),
            wire.CREATE_AND_SEAL: wire.create_and_seal_body(ID, b"x", digest=digest),
            wire.BATCH: wire.batch_body([ID], [b"x"], [b""], [digest]),
        }[kind]
        scene.assert_closes(wire.message(kind, body))
    assert not scene.bystander.contains(oid(3))
    assert set(scene.bystander.list()) == {oid(3), oid(99)}
    scene.assert_unharmed()


@pytest.mark.parametrize("kind", [wire.CONNECT, wire.LIST, wire.DEBUG_STRING])
def test_bodies_that_are_never_parsed(scene, kind):
    """Anything may be in them; a server may close all the same."""
    random_source = random.Random(kind)
    for _ in range(50):
        scene.survives(wire.message(kind, garbage(random_source)))
    scene.assert_unharmed()


@pytest.mark.defect("D3", "D4", "D7")
def test_streams_of_random_bytes(scene):
    for seed in range(100):
        client = wire.Client(scene.server.path)
        try:
            client.send_bytes(random.Random(seed).randbytes(2000))
            client.assert_closed()
        except wire.Closed:
            pass
        finally:
            client.close()
    scene.assert_unharmed()


# Requests that make no sense.


def assert_request_closes(scene, client, kind, body):
    client.send(kind, body)
    client.assert_closed()
    scene.assert_unharmed()


@pytest.mark.defect("D5")
def test_seal_of_an_unknown_id(scene):
    """Error 2, which the official client turns into an exception."""
    client = scene.server.client()
    assert client.seal(ID) == wire.NOT_FOUND
    client.sync()
    scene.assert_unharmed()


@pytest.mark.defect("D5")
@pytest.mark.parametrize("held", [True, False])
def test_seal_of_a_sealed_object(scene, held):
    client = scene.server.client()
    client.put(ID, 10)
    if not held:
        client.release(ID)
    assert_request_closes(scene, client, wire.SEAL, wire.seal_body(ID, b"changed!"))
    assert scene.bystander.list()[ID].digest == wire.DIGEST


@pytest.mark.defect("D5")
def test_abort_of_an_unknown_id(scene):
    assert_request_closes(scene, scene.server.client(), wire.ABORT, wire.id_body(ID))


@pytest.mark.defect("D5")
def test_abort_of_a_sealed_object(scene):
    client = scene.server.client()
    client.put(ID, 10)
    assert_request_closes(scene, client, wire.ABORT, wire.id_body(ID))
    assert scene.bystander.contains(ID)


@pytest.mark.defect("D5")
def test_abort_of_another_connections_object(scene):
    scene.bystander.create(ID, 10)
    assert_request_closes(scene, scene.server.client(), wire.ABORT, wire.id_body(ID))
    assert scene.bystander.seal(ID) == wire.OK


@pytest.mark.defect("D8")
@pytest.mark.parametrize(
    "sizes",
    [
        (-1, 0),
        (0, -1),
        (-1, -1),
        (2**63 - 1, 2**63 - 1),
        (2**62, -(2**62) + 100),
        (-(2**63), 0),
        (2**63 - 1, 1),
        (2**64 - 1, 2),
        (-100, 200),
    ],
)
def test_sizes_that_overflow(scene, sizes):
    """Error 3, and nothing is evicted for them."""
    client = scene.server.client()
    client.leave(oid(2), 1000)
    for evict in (True, False):
        reply = client.try_create(ID, *sizes, evict=evict)
        assert reply == wire.CreateReply(ID, wire.NOTHING, wire.FULL, 0, 0)
    assert set(client.list()) == {oid(2), oid(99)}
    client.create(ID, 10)
    scene.assert_unharmed()


# Clients that stall.


@pytest.mark.defect("D1")
@pytest.mark.parametrize("sent", [1, 8, 23, 24, 40])
def test_partial_message_holds_up_nobody(scene, sent):
    content = wire.message(wire.CONTAINS, wire.id_body(ID))
    stalled = [scene.server.client() for _ in range(10)]
    for client in stalled:
        client.send_bytes(content[:sent])
    scene.assert_unharmed()
    # And it goes on where it stopped.
    for client in stalled:
        client.send_bytes(content[sent:])
        assert client.expect(wire.CONTAINS_REPLY).string(0) == ID


@pytest.mark.defect("D1", "D25")
def test_sigterm_while_a_client_stalls(store):
    """The end of the test sends it."""
    server = store()
    client = server.client()
    client.send_bytes(wire.message(wire.CONNECT)[:30])
    # Kept open to the end: the socket is not among those closed before.
    server.clients.remove(client)
    time.sleep(0.05)
    server.finish()
    client.close()


@pytest.mark.defect("D1")
def test_stalled_subscribe_and_message_in_one(scene):
    """Stalled between the parts of all kinds of input."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        stalled = scene.server.client()
        stalled.send(wire.SUBSCRIBE)
        large = scene.server.client()
        body = wire.create_and_seal_body(ID, bytes(500_000))
        large.send_bytes(wire.message(wire.CREATE_AND_SEAL, body)[:400_000])
        scene.assert_unharmed()
        stalled.send_fds([theirs.fileno()])
        stalled.sync()
        large.send_bytes(wire.message(wire.CREATE_AND_SEAL, body)[400_000:])
        assert large.expect(wire.CREATE_AND_SEAL_REPLY).scalar(0, "i") == wire.OK


@pytest.mark.defect("D2")
@pytest.mark.parametrize("kind", [wire.CONTAINS, wire.DEBUG_STRING])
def test_client_that_never_reads_holds_up_nobody(scene, kind):
    """It may be made to wait or be closed; memory stays bounded."""
    client = scene.server.client()
    client.socket.setblocking(False)
    content = wire.message(kind, BODIES.get(kind, wire.EMPTY)) * 100
    sent, idle_since = 0, time.monotonic()
    try:
        # Until 64 MB were taken, or nothing more is for a while.
        while sent < 64 * MB and time.monotonic() - idle_since < 0.5:
            try:
                sent += client.socket.send(content[sent % len(content) :])
                idle_since = time.monotonic()
            except BlockingIOError:
                time.sleep(0.001)
    except (BrokenPipeError, ConnectionResetError):
        pass
    scene.assert_unharmed()
    assert scene.server.status_kib("RssAnon") < 200 * 1024


@pytest.mark.defect("D2")
def test_large_replies_that_are_never_read(scene):
    """List of many objects, asked for again and again."""
    client = scene.server.client()
    for start in range(0, 5000, 1000):
        ids = [oid(1000 + n) for n in range(start, start + 1000)]
        assert client.batch(ids, [b"x"] * 1000) == wire.OK
    before = scene.server.status_kib("RssAnon")
    lazy = scene.server.client()
    try:
        for _ in range(500):
            lazy.send(wire.LIST)
    except (wire.Closed, socket.timeout):
        pass
    scene.assert_unharmed()
    assert scene.server.status_kib("RssAnon") - before < 200 * 1024


def test_client_that_reads_late_gets_everything(scene):
    """A few unread replies are no offence."""
    client = scene.server.client()
    ids = [oid(n) for n in range(50)]
    for object_id in ids:
        client.send(wire.CONTAINS, wire.id_body(object_id))
    time.sleep(0.05)
    assert [client.expect(wire.CONTAINS_REPLY).string(0) for _ in ids] == ids


def test_client_that_closes_without_reading(scene):
    for _ in range(20):
        client = scene.server.client()
        for number in range(100):
            client.send(wire.CREATE, wire.create_body(oid(number), 10))
        client.close()
    wire.wait_until(
        lambda: list(scene.bystander.list()) == [oid(99)], "the unsealed objects are gone"
    )
    scene.assert_unharmed()


def test_client_that_shuts_down_its_sending_side(scene):
    """Half closed counts as closed."""
    client = scene.server.client()
    client.create(ID, 10)
    client.socket.shutdown(socket.SHUT_WR)
    client.assert_closed()
    assert list(scene.bystander.list()) == [oid(99)]
    scene.assert_unharmed()


def test_waiting_client_that_shuts_down_its_reading_side(scene):
    client = scene.server.client()
    client.send_get([ID], -1)
    client.quiet(0.02)
    client.socket.shutdown(socket.SHUT_RD)
    assert scene.bystander.create_and_seal(ID) == wire.OK
    scene.assert_unharmed()


def test_closed_connections_are_cleaned_up(scene):
    """A connection closed by the server loses its unsealed objects and its holds."""
    client = scene.server.client()
    client.create(ID, 10)
    client.put(oid(2), 10)
    client.send(wire.DISCONNECT)
    client.assert_closed()
    infos = scene.bystander.list()
    assert ID not in infos and infos[oid(2)].ref_count == 0


@pytest.mark.defect("D4")
def test_connections_closed_for_an_offence_are_cleaned_up(scene):
    client = scene.server.client()
    client.create(ID, 10)
    client.put(oid(2), 10)
    client.send(1000)
    client.assert_closed()
    infos = scene.bystander.list()
    assert ID not in infos and infos[oid(2)].ref_count == 0
    scene.assert_unharmed()


@pytest.mark.defect("D4")
def test_requests_before_the_offence_are_answered(scene):
    """Pipelined: the good ones take effect, the ones behind it do not."""
    client = scene.server.client()
    client.send_bytes(
        wire.message(wire.CREATE_AND_SEAL, wire.create_and_seal_body(ID, b"x"))
        + wire.message(1000)
        + wire.message(wire.CREATE_AND_SEAL, wire.create_and_seal_body(oid(2), b"x"))
    )
    assert client.expect(wire.CREATE_AND_SEAL_REPLY).scalar(0, "i") == wire.OK
    client.assert_closed()
    assert set(scene.bystander.list()) == {ID, oid(99)}
    scene.assert_unharmed()
