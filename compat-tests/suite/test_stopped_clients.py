"""Clients that stop: at every byte of every request, and at every byte of its reply.

Others are served meanwhile, and whatever became of the stopped one, what it
held comes back when it is gone. Stopping is the same to a server whether the
process was stopped by a signal or just neither reads nor writes; so most
clients here are connections of one process.
"""

import os
import signal
import socket
import time

import pytest

import wire
from wire import oid

# Generous: it includes a newcomer, and a machine with much else to do.
SERVED_WITHIN = 2.0

MB = 1_000_000
TARGET, NEW = oid(1), 10**6
HELD, OWN = 2 * 10**6, 3 * 10**6


def message(kind, number):
    """A request of this kind by a client of this number; it holds HELD, and creates OWN."""
    new, own, held = oid(NEW + number), oid(OWN + number), oid(HELD + number)
    bodies = {
        "Connect": (wire.CONNECT, wire.EMPTY),
        "Create": (wire.CREATE, wire.create_body(new, 10, 3)),
        "CreateAndSeal": (wire.CREATE_AND_SEAL, wire.create_and_seal_body(new, b"d" * 20, b"m")),
        "Batch": (
            wire.BATCH,
            wire.batch_body([new], [b"data"], [b"metadata"], [wire.DIGEST]),
        ),
        "Abort": (wire.ABORT, wire.id_body(own)),
        "Seal": (wire.SEAL, wire.seal_body(own)),
        "Get": (wire.GET, wire.get_body([TARGET, held])),
        "waiting Get": (wire.GET, wire.get_body([TARGET, new], -1)),
        "Get for a while": (wire.GET, wire.get_body([TARGET, new], 1)),
        "Release": (wire.RELEASE, wire.id_body(held)),
        "Delete": (wire.DELETE, wire.delete_body([held, oid(2)])),
        "Contains": (wire.CONTAINS, wire.id_body(TARGET)),
        "List": (wire.LIST, wire.EMPTY),
        "Evict": (wire.EVICT, wire.evict_body(1)),
        "Subscribe": (wire.SUBSCRIBE, wire.EMPTY),
        "SetOptions": (wire.SET_OPTIONS, wire.options_body(b"name", 10)),
        "DebugString": (wire.DEBUG_STRING, wire.EMPTY),
        "RefreshLRU": (wire.REFRESH_LRU, wire.refresh_body([TARGET, held])),
        "Disconnect": (wire.DISCONNECT, wire.EMPTY),
    }
    return wire.message(*bodies[kind])


KINDS = [
    "Connect", "Create", "CreateAndSeal", "Batch", "Abort", "Seal", "Get", "waiting Get",
    "Get for a while", "Release", "Delete", "Contains", "List", "Evict", "Subscribe", "SetOptions",
    "DebugString", "RefreshLRU", "Disconnect",
]  # fmt: skip
CONTINUING = [kind for kind in KINDS if kind != "Disconnect"]
# They have a reply at once, whose length depends on nothing that others do.
ANSWERED = [
    "Connect", "Create", "CreateAndSeal", "Batch", "Abort", "Seal", "Get", "Get for a while",
    "Delete", "Contains", "SetOptions", "RefreshLRU",
]  # fmt: skip


class Scene:
    """A store, a bystander, and many clients that are stopped."""

    def __init__(self, server):
        self.server = server
        self.bystander = self.server.client()
        self.bystander.leave(TARGET, 100)
        self.descriptors = self.server.fd_count()
        self.clients = []

    def set_out(self, count):
        """Objects for so many clients to hold."""
        names = [oid(HELD + number) for number in range(count)]
        assert self.bystander.batch(names, [b"held"] * count) == wire.OK

    def stopped(self, content):
        """A client that holds an object, is making one, sends this and no more."""
        number = len(self.clients)
        client = self.server.client()
        self.clients.append(client)
        client.send_bytes(
            wire.message(wire.GET, wire.get_body([oid(HELD + number)]))
            + wire.message(wire.CREATE, wire.create_body(oid(OWN + number), 10))
            + content
        )
        return client

    def assert_served(self):
        """A client that was there and one that comes are served soon."""
        start = time.monotonic()
        newcomer = wire.Client(self.server.path)
        try:
            assert newcomer.create_and_seal(oid(3), b"contents") == wire.OK
            assert self.bystander.contents(oid(3))[0] == b"contents"
            assert newcomer.delete([oid(3)]) == [wire.OK]
        finally:
            newcomer.close()
        assert time.monotonic() - start < SERVED_WITHIN

    def assert_held(self, numbers):
        """These clients hold what they were to hold, and have begun what they were to make."""

        def held():
            infos = self.bystander.list()
            return all(
                oid(OWN + number) in infos and infos[oid(HELD + number)].ref_count == 1
                for number in numbers
            )

        wire.wait_until(held, "the clients hold their objects")

    def assert_all_comes_back(self):
        """Nobody but the bystander is left: nothing is held or unsealed, all can be evicted."""

        def is_back():
            infos = self.bystander.list().values()
            return all(info.sealed and info.ref_count == 0 for info in infos)

        wire.wait_until(is_back, "all is released")
        wire.wait_until(
            lambda: self.server.fd_count() <= self.descriptors, "the descriptors are closed"
        )
        self.bystander.evict(2**62)
        assert self.bystander.list() == {}
        assert self.bystander.debug_values()["allocated bytes"] == "0"
        assert self.bystander.debug_values()["num clients with quota"] == "0"

    # The ways of all clients.

    def close(self):
        for client in self.clients:
            client.close()

    def half_close(self):
        for client in self.clients:
            try:
                client.socket.shutdown(socket.SHUT_WR)
            except OSError as error:
                # The server has closed it: the request was to disconnect.
                assert error.errno == 107

    def assert_ended(self):
        """The server has closed all connections, which may have something to read left."""
        for client in self.clients:
            try:
                while client.socket.recv(1 << 16):
                    pass
            except ConnectionResetError:
                pass


@pytest.fixture
def scene(store):
    return Scene(store(10 * MB))


@pytest.fixture
def scenes(store):
    """A scene for each of some requests, one after the other, in one store."""
    server = store(10 * MB)

    def scenes(kinds):
        for kind in kinds:
            print("request:", kind)
            yield kind, Scene(server)

    return scenes


def stop_at_every_byte(scene, kind):
    """One client for each number of bytes that can be missing."""
    size = len(message(kind, 0))
    scene.set_out(size + 1)
    for cut in range(size + 1):
        scene.stopped(message(kind, cut)[:cut])
    scene.assert_served()
    scene.assert_held(range(size))


def skip_to(client, kind):
    """Read on to the end of a reply of this kind, and of the descriptors that come with it."""
    while True:
        found, body = client.recv()
        pairs = []
        if found == wire.CREATE_REPLY:
            reply = wire.CreateReply.parse(wire.Table(body))
            pairs = [(reply.store_fd, reply.mmap_size)] if reply.error == wire.OK else []
        if found == wire.GET_REPLY:
            reply = wire.GetReply.parse(wire.Table(body))
            pairs = zip(reply.store_fds, reply.mmap_sizes)
        for store_fd, mmap_size in pairs:
            client._receive_segment(store_fd, mmap_size)
        if found == kind:
            return


def skip_what_is_held(client):
    """The replies that each stopped client gets first."""
    skip_to(client, wire.GET_REPLY)
    skip_to(client, wire.CREATE_REPLY)


# In the middle of a request.


@pytest.mark.defect("D1")
def test_stopped_in_a_request_and_killed(scenes):
    for kind, scene in scenes(KINDS):
        stop_at_every_byte(scene, kind)
        scene.close()
        scene.assert_served()
        scene.assert_all_comes_back()


@pytest.mark.defect("D1")
def test_stopped_in_a_request_and_half_closed(scenes):
    """Will send no more: counts as closed, and need not be closed by the client."""
    for kind, scene in scenes(KINDS):
        stop_at_every_byte(scene, kind)
        scene.half_close()
        scene.assert_served()
        scene.assert_all_comes_back()
        scene.assert_ended()


@pytest.mark.defect("D1")
def test_stopped_in_a_request_and_continued(scenes):
    """As if nothing had been."""
    for kind, scene in scenes(CONTINUING):
        stop_at_every_byte(scene, kind)
        ours, theirs = socket.socketpair()
        with ours, theirs:
            for cut, client in enumerate(scene.clients):
                client.send_bytes(message(kind, cut)[cut:])
                if kind == "Subscribe":
                    client.send_fds([theirs.fileno()])
                client.send(wire.CONNECT)
                skip_to(client, wire.CONNECT_REPLY)
        scene.assert_served()
        scene.close()
        scene.assert_all_comes_back()


# A large request.


@pytest.mark.defect("D1")
@pytest.mark.parametrize("kind", [wire.CREATE_AND_SEAL, wire.BATCH])
def test_stopped_in_a_large_request(scene, kind):
    """At steps that meet all places in a page, here and there."""
    data = bytes(300_000)
    body = {
        wire.CREATE_AND_SEAL: wire.create_and_seal_body(oid(NEW), data),
        wire.BATCH: wire.batch_body([oid(NEW)], [data], [b""], [wire.DIGEST]),
    }[kind]
    content = wire.message(kind, body)
    cuts = range(1, len(content), 4099)
    scene.set_out(len(cuts))
    before = scene.server.status_kib("RssAnon")
    for cut in cuts:
        client = scene.server.client()
        scene.clients.append(client)
        client.send_bytes(content[:cut])
    scene.assert_served()
    scene.close()
    scene.assert_all_comes_back()
    wire.wait_until(
        lambda: scene.server.status_kib("RssAnon") < before + 8192, "the memory is given back"
    )


# Between a request and its reply, and in the middle of a reply.


def length_of_reply(client):
    """How many bytes the next reply has."""
    skip_what_is_held(client)
    return 24 + int.from_bytes(client.recv_bytes(24)[16:], "little")


@pytest.mark.parametrize("how", ["close", "half_close"])
def test_stopped_in_a_reply(scenes, how):
    """Each client reads one byte more than the one before."""
    for kind, scene in scenes(ANSWERED):
        scene.set_out(400)
        size = length_of_reply(scene.stopped(message(kind, 0)))
        assert size < 398
        for count in range(size + 1):
            client = scene.stopped(message(kind, count + 1))
            skip_what_is_held(client)
            client.recv_bytes(count)
        scene.assert_served()
        getattr(scene, how)()
        scene.assert_served()
        scene.assert_all_comes_back()
        if how == "half_close":
            scene.assert_ended()


def test_stopped_before_the_first_descriptor(scene):
    """In the replies that bring what is held, and the descriptor behind the first."""
    scene.set_out(300)
    for count in range(300):
        scene.stopped(b"").recv_bytes(count)
    scene.assert_served()
    scene.assert_held(range(300))
    scene.close()
    scene.assert_all_comes_back()


# Never reading at all.


def send_until_stuck(client, content):
    """Send requests until the server takes no more for a while, or 4 MB."""
    client.socket.setblocking(False)
    sent, idle_since = 0, time.monotonic()
    while sent < 4 * MB and time.monotonic() - idle_since < 0.05:
        try:
            sent += client.socket.send(content[sent % len(content) :])
            idle_since = time.monotonic()
        except BlockingIOError:
            time.sleep(0.001)
        except (BrokenPipeError, ConnectionResetError):
            return


REPEATED = [kind for kind in KINDS if kind not in ("Abort", "Seal", "Subscribe", "Disconnect")]


@pytest.mark.defect("D2")
@pytest.mark.parametrize("how", ["close", "half-closed, then closed"])
def test_never_reading(scene, how):
    """A client of each kind, stuck for good; half of a connection is no reason to wait."""
    scene.set_out(len(REPEATED))
    for number, kind in enumerate(REPEATED):
        client = scene.stopped(b"")
        send_until_stuck(client, message(kind, number) * 200)
        scene.assert_served()
    if how != "close":
        scene.half_close()
        scene.assert_served()
    scene.close()
    scene.assert_served()
    scene.assert_all_comes_back()


@pytest.mark.defect("D2")
def test_never_reading_and_continued(scene):
    """All replies come when it reads again."""
    scene.set_out(1)
    client = scene.stopped(b"")
    count = 0
    content = message("Contains", 0) * 100
    client.socket.settimeout(0.3)
    try:
        for _ in range(400):
            client.socket.sendall(content)
            count += 100
    except socket.timeout:
        pass
    scene.assert_served()
    client.socket.settimeout(wire.TIMEOUT)
    skip_to(client, wire.CREATE_REPLY)
    for _ in range(count):
        client.expect(wire.CONTAINS_REPLY)
    scene.close()
    scene.assert_all_comes_back()


@pytest.mark.parametrize("blocking", [False, True])
def test_subscribers_that_stop(scene, blocking):
    """Notifications for those who stop reading them hold up nobody; all goes with them."""
    scene.set_out(20)
    subscriptions = []
    for _ in range(20):
        client = scene.stopped(b"")
        subscriptions.append(client.subscribe())
    for round_number in range(20):
        names = [oid(NEW + 100 * round_number + number) for number in range(100)]
        assert scene.bystander.batch(names, [b"x"] * 100) == wire.OK
    scene.assert_served()
    scene.close()
    for subscription in subscriptions:
        subscription.close()
    scene.assert_all_comes_back()


# Processes.


def in_child(action):
    """The id of a process that does this, and then nothing."""
    child = os.fork()
    if child == 0:
        try:
            action()
            while True:
                time.sleep(60)
        finally:
            os._exit(1)
    return child


@pytest.mark.parametrize("first", ["stopped", "killed at once"])
@pytest.mark.parametrize("waits", [True, False])
def test_stopped_process_of_the_official_client(scene, first, waits):
    """Holding an object, making one, and perhaps waiting for a third, stopped by a signal."""
    from pyarrow import plasma

    scene.set_out(1)

    def use():
        client = plasma.connect(scene.server.path)
        held = client.get_buffers([plasma.ObjectID(oid(HELD))])
        made = client.create(plasma.ObjectID(oid(OWN)), 1000)
        if waits:
            client.get_buffers([plasma.ObjectID(oid(NEW))])
        time.sleep(60)
        del held, made

    child = in_child(use)
    try:
        scene.assert_held([0])
        if first == "stopped":
            os.kill(child, signal.SIGSTOP)
            scene.assert_served()
            # What it waits for comes, and is held by it from now on.
            assert scene.bystander.create_and_seal(oid(NEW), b"x") == wire.OK
            expected = 1 if waits else 0
            assert scene.bystander.list()[oid(NEW)].ref_count == expected
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    scene.assert_served()
    scene.assert_all_comes_back()
