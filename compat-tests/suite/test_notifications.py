"""Subscribe: what is pushed, in which order, and how subscriptions end.

Nothing is ever sent for Create, Abort, spill or restore; a later event that
must arrive next proves it.
"""

import socket
import threading

import pytest

import wire
from wire import oid


def sealed(object_id, data_size, metadata_size, digest=wire.DIGEST):
    return wire.ObjectInfo(object_id, data_size, metadata_size, 0, 0, 0, digest, False)


def deleted(object_id):
    return wire.ObjectInfo(object_id, 0, 0, 0, 0, 0, None, True)


def test_seal(store):
    client = store().client()
    subscription = client.subscribe()
    client.create(oid(1), 3, 2)
    client.seal(oid(1), b"\2" * 8)
    assert subscription.next() == [sealed(oid(1), 3, 2, b"\2" * 8)]


def test_create_and_seal_and_delete(store):
    client = store().client()
    subscription = client.subscribe()
    client.create_and_seal(oid(1), b"abc", b"de")
    client.delete([oid(1)])
    assert subscription.next() == [sealed(oid(1), 3, 2)]
    assert subscription.next() == [deleted(oid(1))]


def test_absent_fields(store):
    """On deletion, sizes and digest are absent; the list-only fields never come."""
    client = store().client()
    subscription = client.subscribe()
    client.create_and_seal(oid(1), b"abc", b"de")
    client.delete([oid(1)])
    seal = wire.Table(subscription.recv_frame()).tables(0)[0]
    deletion = wire.Table(subscription.recv_frame()).tables(0)[0]
    assert [seal.has(index) for index in range(8)] == [True] * 3 + [False] * 3 + [True, False]
    assert [deletion.has(index) for index in range(8)] == [True] + [False] * 6 + [True]


def test_no_event_for_create_and_abort(store):
    client = store().client()
    subscription = client.subscribe()
    client.create(oid(1), 10)
    client.abort(oid(1))
    client.create(oid(2), 10)
    client.create_and_seal(oid(3))
    assert subscription.events(1) == [(oid(3), False)]


def test_no_event_for_unsealed_objects_of_a_closed_connection(store):
    server = store()
    client, creator = server.client(), server.client()
    subscription = client.subscribe()
    creator.create(oid(1), 10)
    server.hang_up(creator)
    client.create_and_seal(oid(2))
    assert subscription.events(1) == [(oid(2), False)]


def test_no_event_for_failures(store):
    client = store().client()
    subscription = client.subscribe()
    assert client.try_create(oid(1), 2**40).error == wire.FULL
    assert client.delete([oid(1)]) == [wire.NOT_FOUND]
    assert client.evict(1) == 0
    client.create_and_seal(oid(2))
    assert client.create_and_seal(oid(2)) == wire.EXISTS
    client.create_and_seal(oid(3))
    assert subscription.events(2) == [(oid(2), False), (oid(3), False)]


def test_batch_is_one_frame(store):
    client = store().client()
    subscription = client.subscribe()
    client.batch([oid(1), oid(2)], [b"12345", b"123456"], [b"1", b"12"], [b"a" * 8, b"b" * 8])
    assert subscription.next() == [
        sealed(oid(1), 5, 1, b"a" * 8),
        sealed(oid(2), 6, 2, b"b" * 8),
    ]


def test_existing_sealed_objects_are_pushed_at_once(store):
    """One frame each, in any order; unsealed ones are skipped."""
    client = store().client()
    for number in range(10):
        client.leave(oid(number), number, 1)
    client.put(oid(10), 10, 1)
    client.create(oid(11), 11, 1)
    subscription = client.subscribe()
    entries = [subscription.next_one() for _ in range(11)]
    entries.sort(key=lambda entry: entry.object_id)
    assert entries == [sealed(oid(n), n, 1) for n in range(11)]
    client.create_and_seal(oid(12))
    assert subscription.events(1) == [(oid(12), False)]


def test_deletion_pending_objects_are_pushed_too(store):
    client = store().client()
    client.put(oid(1), 5)
    client.delete([oid(1)])
    subscription = client.subscribe()
    assert subscription.next() == [sealed(oid(1), 5, 0)]
    client.release(oid(1))
    assert subscription.next() == [deleted(oid(1))]


def test_every_subscriber_sees_the_same(store):
    """A connection is also told about its own objects."""
    server = store()
    clients = [server.client() for _ in range(8)]
    subscriptions = [client.subscribe() for client in clients]
    for client in clients:
        client.sync()
    expected = []
    for number in range(40):
        client = clients[number % 8]
        client.create_and_seal(oid(number))
        expected.append((oid(number), False))
        if number % 3 == 0:
            client.delete([oid(number)])
            expected.append((oid(number), True))
    for subscription in subscriptions:
        assert subscription.events(len(expected)) == expected


def test_notification_comes_before_the_replies(store):
    """Before the GetReply of a waiter, hence before the SealReply."""
    server = store()
    subscriber, reader, writer = (server.client() for _ in range(3))
    subscription = subscriber.subscribe()
    subscriber.sync()
    for number in range(50):
        reader.send_get([oid(number)], -1)
        reader.sync()
        writer.create(oid(number), 10)
        writer.send(wire.SEAL, wire.seal_body(oid(number)))
        reader.recv_get()
        assert subscription.ready()
        assert subscription.events(1) == [(oid(number), False)]
        writer.expect(wire.SEAL_REPLY)


def test_deletions_come_in_the_order_of_the_request(store):
    client = store().client()
    ids = [oid(n) for n in range(200)]
    client.batch(ids, [b"x"] * 200)
    subscription = client.subscribe()
    assert sorted(subscription.events(200)) == [(i, False) for i in ids]
    client.delete(ids[::-1])
    assert subscription.events(200) == [(i, True) for i in ids[::-1]]


def test_frames_queue_without_loss(store):
    """20,000 events are kept for a subscriber that reads later."""
    client = store(100_000_000).client()
    subscription = client.subscribe()
    count = 10_000
    for number in range(count):
        client.create_and_seal(oid(number), b"12", b"3")
    for number in range(count):
        client.send(wire.DELETE, wire.delete_body([oid(number)]))
        client.expect(wire.DELETE_REPLY)
    for number in range(count):
        assert subscription.next() == [sealed(oid(number), 2, 1)]
    assert subscription.events(count) == [(oid(n), True) for n in range(count)]


def test_slow_and_fast_reader(store):
    """A reader that is always behind gets everything, in order, meanwhile too."""
    server = store()
    client = server.client()
    slow, fast = client.subscribe(), server.client().subscribe()
    client.sync()
    count, got = 6000, []

    def read_all():
        got.extend(slow.events(count))

    reader = threading.Thread(target=read_all, daemon=True)
    for number in range(count):
        client.create_and_seal(oid(number))
        if number == count // 2:
            reader.start()
        assert fast.next_one().object_id == oid(number)
    reader.join(10)
    assert got == [(oid(n), False) for n in range(count)]


def test_one_frame_can_be_read_with_two_receives(store):
    """Readers of the bare socket take 8 bytes and then do one recv."""
    client = store().client()
    subscription = client.subscribe()
    for number in range(100):
        client.create_and_seal(oid(number), b"x" * number)
        length = int.from_bytes(subscription.socket.recv(8), "little")
        frame = subscription.socket.recv(length)
        assert len(frame) == length
        assert wire.Table(frame).tables(0)[0].string(0) == oid(number)


def test_subscription_ends_with_its_connection(store):
    server = store()
    client, other = server.client(), server.client()
    subscription = client.subscribe()
    client.sync()
    other.create_and_seal(oid(1))
    assert subscription.events(1) == [(oid(1), False)]
    server.hang_up(client)
    assert subscription.ended()


def test_queued_frames_are_dropped_with_the_connection(store):
    server = store()
    before = server.fd_count()
    client = server.client()
    subscription = client.subscribe()
    for number in range(3000):
        client.create_and_seal(oid(number))
    server.hang_up(client)
    wire.wait_until(lambda: server.fd_count() <= before, "the descriptors are closed")
    subscription.close()


def test_subscriber_that_closes(store):
    """Events go on for the others, and its main connection lives."""
    server = store()
    client, other = server.client(), server.client()
    closing, staying = client.subscribe(), other.subscribe()
    client.sync()
    other.sync()
    closing.close()
    for number in range(10):
        assert client.create_and_seal(oid(number)) == wire.OK
    assert staying.events(10) == [(oid(n), False) for n in range(10)]


def test_subscriber_that_closes_with_frames_queued(store):
    server = store()
    client = server.client()
    subscription = client.subscribe()
    for number in range(3000):
        client.create_and_seal(oid(number))
    subscription.close()
    for number in range(3000, 3010):
        assert client.create_and_seal(oid(number)) == wire.OK
    client.sync()


def test_byte_without_descriptor_is_ignored(store):
    """There is no subscription then, and a line in the log; the connection lives."""
    server = store()
    client = server.client()
    before = server.log_size()
    client.send(wire.SUBSCRIBE)
    client.send_bytes(b"\0")
    assert client.create_and_seal(oid(1)) == wire.OK
    assert client.contains(oid(1))
    wire.wait_until(lambda: server.log_size() > before, "there is a line in the log")


def test_two_descriptors_are_ignored(store):
    """They are closed, there is no subscription, and the connection lives."""
    server = store()
    client = server.client()
    client.sync()
    before = server.fd_count()
    ours, theirs = socket.socketpair()
    ours.settimeout(wire.TIMEOUT)
    with ours:
        with theirs:
            theirs.setblocking(False)
            client.send(wire.SUBSCRIBE)
            client.send_fds([theirs.fileno(), theirs.fileno()])
        assert client.create_and_seal(oid(1)) == wire.OK
        assert ours.recv(1) == b""
    assert server.fd_count() == before


def test_descriptors_elsewhere_are_dropped(store):
    """A descriptor attached to ordinary bytes is closed by the kernel."""
    server = store()
    client = server.client()
    client.sync()
    before = server.fd_count()
    ours, theirs = socket.socketpair()
    ours.settimeout(wire.TIMEOUT)
    with ours:
        with theirs:
            client.send_fds([theirs.fileno()], wire.message(wire.CONNECT))
        client.expect(wire.CONNECT_REPLY)
        assert ours.recv(1) == b""
    assert server.fd_count() == before


# Defects.


def other_client_is_served(server):
    other = server.client()
    assert other.create_and_seal(b"the other client's 1", b"x") == wire.OK
    assert other.contains(b"the other client's 1")


@pytest.mark.defect("D14")
def test_second_subscription_replaces_the_first(store):
    """Its byte and descriptor are consumed, and the stream stays in step."""
    server = store()
    client = server.client()
    first = client.subscribe()
    client.create_and_seal(oid(1))
    assert first.events(1) == [(oid(1), False)]
    second = client.subscribe()
    client.create_and_seal(oid(2))
    assert sorted(second.events(2)) == [(oid(1), False), (oid(2), False)]
    assert first.ended()
    for _ in range(20):
        last = client.subscribe()
    client.create_and_seal(oid(3))
    assert sorted(last.events(3)) == [(oid(1), False), (oid(2), False), (oid(3), False)]
    other_client_is_served(server)


@pytest.mark.defect("D14")
def test_subscribe_without_its_byte_holds_up_nobody(store):
    server = store()
    client = server.client()
    client.send(wire.SUBSCRIBE)
    other_client_is_served(server)
    # The next byte is taken for the missing one, whenever it comes.
    ours, theirs = socket.socketpair()
    ours.settimeout(wire.TIMEOUT)
    with ours:
        with theirs:
            client.send_fds([theirs.fileno()])
        client.sync()
        assert ours.recv(8) != b""


@pytest.mark.defect("D2")
def test_blocking_socket_that_is_never_read_holds_up_nobody(store):
    server = store()
    client, other = server.client(), server.client()
    unread = client.subscribe(blocking=True)
    client.sync()
    for number in range(3000):
        assert other.create_and_seal(oid(number)) == wire.OK
    assert unread.ready()
    other_client_is_served(server)


@pytest.mark.defect("D15")
def test_socket_closed_by_the_subscriber_is_closed_once(store):
    """Its number may be another connection's by the time the subscriber leaves."""
    server = store()
    subscriber, writer = server.client(), server.client()
    subscription = subscriber.subscribe()
    subscriber.sync()
    subscription.close()
    writer.create_and_seal(oid(1))
    writer.create_and_seal(oid(2))
    newcomers = [server.client() for _ in range(4)]
    for newcomer in newcomers:
        newcomer.sync()
    server.hang_up(subscriber)
    for newcomer in newcomers:
        newcomer.sync()


@pytest.mark.defect("D16")
def test_frame_larger_than_the_socket_takes(store):
    server = store()
    client = server.client()
    subscription = client.subscribe()
    ids = [oid(n) for n in range(4000)]
    assert client.batch(ids, [b"x"] * 4000) == wire.OK
    client.create_and_seal(oid(4000))
    assert [entry.object_id for entry in subscription.next()] == ids
    assert subscription.events(1) == [(oid(4000), False)]
    other_client_is_served(server)
