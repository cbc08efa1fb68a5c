"""Limits: each can be set, and going beyond it costs only who does.

All of them are our server's own; the reference has none of the flags.
"""

import os
import socket

import pytest

import wire
from wire import oid

pytestmark = pytest.mark.deviation("limits")


def logged(server, words):
    wire.wait_until(lambda: words in server.log(), "the log says %r" % words)


def test_connections(store):
    server = store(10**6, "--max-connections", "3")
    clients = [server.client() for _ in range(3)]
    late = wire.Client(server.path)
    late.send(wire.CONNECT)
    assert late.quiet(0.3)
    logged(server, "new connections have to wait")
    clients[0].close()
    assert late.expect(wire.CONNECT_REPLY).scalar(0, "q") == 10**6
    late.close()


@pytest.mark.parametrize("kind", [wire.GET, wire.DELETE, wire.REFRESH_LRU, wire.BATCH])
def test_ids_of_one_request(store, kind):
    server = store(10**6, "--max-ids", "5")
    other = server.client()

    def body(count):
        ids = [oid(number) for number in range(count)]
        return {
            wire.GET: lambda: wire.get_body(ids),
            wire.DELETE: lambda: wire.delete_body(ids),
            wire.REFRESH_LRU: lambda: wire.refresh_body(ids),
            wire.BATCH: lambda: wire.batch_body(
                ids, [b""] * count, [b""] * count, [wire.DIGEST] * count
            ),
        }[kind]()

    client = server.client()
    client.request(kind, body(5))
    client.send(kind, body(6))
    client.assert_closed()
    logged(server, "names 6 objects; the limit is 5")
    other.sync()


def test_waiting_gets(store):
    server = store(10**6, "--max-gets", "4")
    other = server.client()
    client = server.client()
    for number in range(4):
        client.send_get([oid(number)], -1)
    # What need not wait is no part of the limit.
    assert client.get([oid(9)], 0).available == [False]
    client.send_get([oid(4)], -1)
    client.assert_closed()
    other.sync()


def test_ids_that_gets_wait_for(store):
    server = store(10**6, "--max-ids", "10")
    client = server.client()
    for start in range(0, 100, 10):
        client.send_get([oid(start + number) for number in range(10)], -1)
    client.sync()
    client.send_get([oid(100)], -1)
    client.assert_closed()


@pytest.mark.parametrize(
    "flag, kind, body",
    [
        ("--max-list-body", wire.GET, wire.get_body([oid(n) for n in range(50)])),
        ("--max-list-body", wire.DELETE, wire.delete_body([oid(n) for n in range(50)])),
    ],
)
def test_length_of_lists(store, flag, kind, body):
    server = store(10**6, flag, "1000B")
    client = server.client()
    client.get([oid(1)])
    client.send(kind, body)
    client.assert_closed()
    logged(server, "is not allowed for request %d" % kind)
    server.client().sync()


def test_length_of_other_requests(store):
    server = store(10**6, "--max-small-body", "1KB")
    client = server.client()
    client.request(wire.CONTAINS, wire.id_body(oid(1)).ljust(1000, b"\0"))
    client.send_bytes(wire.header(wire.CONTAINS, 1001))
    client.assert_closed()
    logged(server, "a body of 1001 bytes is not allowed for request 15")


def test_length_of_payloads(store):
    """Too long to be kept is answered like too long for the store."""
    client = store(10**6, "--max-payload-body", "10KB").client()
    assert client.create_and_seal(oid(1), bytes(9000)) == wire.OK
    assert client.create_and_seal(oid(2), bytes(11000)) == wire.FULL
    assert client.batch([oid(3)], [bytes(11000)]) == wire.FULL
    client.sync()


def test_objects(store):
    server = store(10**6, "--max-objects", "10")
    client = server.client()
    for number in range(10):
        client.create(oid(number), 1)
        client.seal(oid(number))
    assert client.try_create(oid(10), 1).error == wire.FULL
    client.release(oid(0))
    client.release(oid(1))
    # An object that nobody holds makes place for another.
    client.create(oid(10), 1)
    assert (client.contains(oid(0)), client.contains(oid(1))) == (False, True)
    assert client.try_create(oid(11), 1, evict=False).error == wire.FULL


def test_notifications_that_nobody_reads(store):
    """30,000 of them are kept for a subscriber that does not read, and no more than the limit."""
    server = store(10**7, "--max-notifications", "8MB")
    client = server.client()
    lazy, eager = server.client().subscribe(), server.client().subscribe()
    rounds = 30
    for number in range(rounds):
        ids = [oid(number * 1000 + index) for index in range(1000)]
        for object_id in ids:
            client.send(wire.CREATE_AND_SEAL, wire.create_and_seal_body(object_id))
        for _ in ids:
            client.expect(wire.CREATE_AND_SEAL_REPLY)
        assert len(eager.events(1000)) == 1000
    events = lazy.events(rounds * 1000)
    assert [event[0] for event in events] == [oid(number) for number in range(rounds * 1000)]


def test_too_many_notifications(store):
    server = store(10**7, "--max-notifications", "100KB")
    client = server.client()
    subscriber = server.client()
    lazy = subscriber.subscribe()
    for number in range(5000):
        client.create_and_seal(oid(number))
    logged(server, "the subscription of client")
    # The connection itself goes on.
    subscriber.sync()
    wire.wait_until(lambda: ended_after_draining(lazy), "the socket is closed")
    client.sync()


def ended_after_draining(subscriber):
    try:
        while subscriber.socket.recv(1 << 20, socket.MSG_DONTWAIT):
            pass
        return True
    except BlockingIOError:
        return False


def test_replies_that_nobody_reads(store):
    """Replies that come by themselves pile up only to the limit."""
    server = store(10**7, "--max-output", "200KB")
    lazy, other = server.client(), server.client()
    count = 9000
    for number in range(count):
        lazy.send_get([oid(number)], -1)
    lazy.quiet(0.1)
    for start in range(0, count, 100):
        ids = [oid(number) for number in range(start, start + 100)]
        assert other.batch(ids, [b""] * 100) == wire.OK
    logged(server, "bytes of replies wait to be read")
    # What it held is not held any more.
    wire.wait_until(
        lambda: all(info.ref_count == 0 for info in other.list().values()), "all is released"
    )


def test_log_of_many_violations_is_short(store):
    server = store(10**6)
    for _ in range(300):
        client = wire.Client(server.path)
        client.send_bytes(wire.header(99, 0))
        client.assert_closed()
        client.close()
    assert server.log().count("there is no request number 99") <= 10
    logged(server, "left out")


@pytest.mark.parametrize(
    "flag, value",
    [
        ("--max-connections", "0"),
        ("--max-ids", "x"),
        ("--max-output", "5QB"),
        ("--max-gets", "-1"),
        ("--socket-mode", "999"),
        ("--allow-uid", "root"),
        ("--allow-gid", ""),
    ],
)
def test_values_that_make_no_sense(store, flag, value):
    server = store.prepare(10**6, flag, value)
    server.start()
    assert server.wait_end() == 1
    assert "illegal value" in server.log()
    assert not os.path.exists(server.path)
