"""Many clients, many objects, and an idle server.

Nothing here measures speed; the bounds are on memory, descriptors and on
using no processor time when there is nothing to do.
"""

import threading
import time

import pytest

import wire
from wire import oid

MB = 1_000_000


def test_idle_server_uses_no_cpu(store):
    """With connections, a waiting Get and a subscription open."""
    server = store()
    clients = [server.client() for _ in range(20)]
    clients[0].send_get([oid(1)], -1)
    subscription = clients[1].subscribe()
    clients[1].sync()
    time.sleep(0.1)
    before = server.cpu_ticks()
    time.sleep(2)
    assert server.cpu_ticks() == before
    subscription.close()


def worker(server, number, failures):
    """Everything that a client does, on ids of its own, with all contents checked."""
    try:
        client = wire.Client(server.path)
        for step in range(20):
            object_id = b"worker%04d-step%05d" % (number, step)
            data = bytes([number]) * (1000 + step)
            client.write(client.create(object_id, len(data), 3), data, b"abc")
            assert client.seal(object_id) == wire.OK
            assert client.read(client.hold(object_id)) == (data, b"abc")
            client.release(object_id)
            if step % 2:
                assert client.delete([object_id]) == [wire.OK]
        client.close()
    except Exception as error:
        failures.append(error)


def test_64_clients_at_once(store):
    server = store(100 * MB)
    failures = []
    threads = [
        threading.Thread(target=worker, args=(server, number, failures), daemon=True)
        for number in range(64)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert failures == []
    assert not any(thread.is_alive() for thread in threads)
    infos = server.client().list()
    assert len(infos) == 64 * 10
    assert all(info.ref_count == 0 and info.sealed for info in infos.values())


@pytest.mark.limit(60)
def test_1500_connected_clients(store):
    """All are served, and what they needed is given back."""
    server = store(nofile=4096)
    first = server.client()
    first.leave(oid(1), 100)
    first.hold(oid(1))
    first.sync()
    fds, memory = server.fd_count(), server.status_kib("RssAnon")
    clients = [server.client() for _ in range(1500)]
    for number, client in enumerate(clients):
        client.hold(oid(1))
        if number % 3 == 0:
            client.create(oid(10 + number), 100)
    assert first.list()[oid(1)].ref_count == 1501
    assert server.fd_count() >= fds + 1500
    for client in clients:
        client.sync()
    for client in clients:
        client.close()
    wire.wait_until(lambda: server.fd_count() <= fds, "the descriptors are closed")
    assert list(first.list()) == [oid(1)]
    assert first.list()[oid(1)].ref_count == 1
    wire.wait_until(
        lambda: server.status_kib("RssAnon") - memory < 8192, "the memory is given back"
    )


def test_connections_that_come_and_go(store):
    server = store()
    first = server.client()
    first.sync()
    fds = server.fd_count()
    for number in range(2000):
        client = wire.Client(server.path)
        if number % 2:
            client.sync()
        client.close()
    wire.wait_until(lambda: server.fd_count() <= fds, "the descriptors are closed")
    first.sync()


def test_100000_objects(store):
    """Ids that share their first 16 bytes; List shows them all."""
    client = store(100 * MB).client()
    count = 100_000
    ids = [b"shared-prefix-16" + number.to_bytes(4, "big") for number in range(count)]
    for start in range(0, count, 5000):
        assert client.batch(ids[start : start + 5000], [b"12345678"] * 5000) == wire.OK
    assert client.contains(ids[0]) and client.contains(ids[-1])
    body = wire.Table(client.request(wire.LIST).buffer)
    assert len(body.tables(0)) == count
    assert client.debug_values()["(global lru) num objects"] == str(count)
    assert client.delete(ids) == [wire.OK] * count
    assert client.list() == {}


def test_a_large_object_for_many_small_ones(store):
    """Tens of thousands of objects go, and others are served in between."""
    server = store(20 * MB)
    client, other = server.client(), server.client()
    count = 100_000
    ids = [b"small-object-" + number.to_bytes(7, "big") for number in range(count)]
    for start in range(0, count, 5000):
        assert client.batch(ids[start : start + 5000], [bytes(200)] * 5000) == wire.OK
    client.send(wire.CREATE, wire.create_body(oid(1), 18 * MB))
    other.sync()
    reply = wire.CreateReply.parse(client.expect(wire.CREATE_REPLY))
    assert reply.error == wire.OK
    left = int(other.debug_values()["(global lru) num objects"])
    assert 0 < left <= 2 * MB // 200
    assert other.contains(ids[-1]) and not other.contains(ids[0])


@pytest.mark.defect("D2")
def test_requests_that_take_several_turns(store):
    """Others are served in between, and what the client asks for next comes after them."""
    server = store(20 * MB)
    client, waiting, other = server.client(), server.client(), server.client()
    count = 20_000
    ids = [b"one-of-many-" + number.to_bytes(8, "big") for number in range(count)]
    waiting.send_get(ids, -1)

    def then_contains():
        client.send(wire.CONTAINS, wire.id_body(ids[-1]))
        other.sync()

    blank = [b""] * count
    client.send(wire.BATCH, wire.batch_body(ids, blank, blank, [wire.DIGEST] * count))
    then_contains()
    assert client.expect(wire.BATCH_REPLY).scalar(0, "i") == wire.OK
    assert client.expect(wire.CONTAINS_REPLY).scalar(1, "i") == 1
    reply = waiting.recv_get()
    assert reply.object_ids == ids and all(spec.data_size == 0 for spec in reply.specs)

    client.send(wire.LIST)
    then_contains()
    listed = client.expect(wire.LIST_REPLY).tables(0)
    assert sorted(row.string(0) for row in listed) == ids
    assert client.expect(wire.CONTAINS_REPLY).scalar(1, "i") == 1

    client.send_get(ids)
    then_contains()
    reply = client.recv_get()
    assert reply.object_ids == ids and all(spec.data_size == 0 for spec in reply.specs)
    assert client.expect(wire.CONTAINS_REPLY).scalar(1, "i") == 1

    client.send(wire.REFRESH_LRU, wire.refresh_body(ids))
    then_contains()
    client.expect(wire.REFRESH_LRU_REPLY)
    assert client.expect(wire.CONTAINS_REPLY).scalar(1, "i") == 1

    # They are in use, and go with those who use them.
    assert client.delete(ids) == [wire.IN_USE] * count
    waiting.close()
    client.close()
    wire.wait_until(lambda: other.list() == {}, "all are gone")


def test_a_large_object_that_arrives_whole(store):
    """Its bytes are written in several turns."""
    server = store(200 * MB)
    client, other = server.client(), server.client()
    data = bytes(range(256)) * 200_000
    client.send(wire.CREATE_AND_SEAL, wire.create_and_seal_body(oid(1), data, b"metadata"))
    other.sync()
    assert client.expect(wire.CREATE_AND_SEAL_REPLY).scalar(0, "i") == wire.OK
    assert other.contents(oid(1)) == (data, b"metadata")


@pytest.mark.deviation("limits")
def test_a_late_subscriber_of_many_objects(store):
    """It is told of all, however slowly it reads and however little may wait for it."""
    server = store(20 * MB, "--max-notifications", "300000")
    client, other = server.client(), server.client()
    count = 20_000
    ids = [b"told-later-" + number.to_bytes(9, "big") for number in range(count)]
    for start in range(0, count, 5000):
        assert client.batch(ids[start : start + 5000], [b"1"] * 5000) == wire.OK
    subscription = client.subscribe()
    other.sync()
    # One that it is not told of yet, most likely, and one that it may know.
    assert other.delete([ids[-1], ids[0]]) == [wire.OK] * 2
    told, gone = set(), set()
    while len(told) < count - 1 or len(told - gone) > count - 2:
        event = subscription.next_one()
        (gone if event.is_deletion else told).add(event.object_id)
    assert gone <= {ids[0], ids[-1]} and gone <= told
    assert set(ids[1:-1]) <= told


def test_a_client_that_leaves_many_objects(store):
    server = store(20 * MB)
    client, other = wire.Client(server.path), server.client()
    ids = [b"unsealed-" + number.to_bytes(11, "big") for number in range(20_000)]
    # The first one brings a descriptor, the others only replies.
    client.create(oid(1), 8)
    for start in range(0, len(ids), 100):
        for object_id in ids[start : start + 100]:
            client.send(wire.CREATE, wire.create_body(object_id, 8))
        for _ in range(100):
            client.expect(wire.CREATE_REPLY)
    assert other.try_create(ids[-1], 8).error == wire.EXISTS
    client.close()
    wire.wait_until(lambda: other.list() == {}, "all are gone")
    assert other.create_and_seal(ids[-1], b"again") == wire.OK


def test_thousands_of_waiting_gets(store):
    server = store()
    reader, writer = server.client(), server.client()
    count = 3000
    for number in range(count):
        reader.send_get([oid(number), oid(count)], -1)
        if number % 100 == 0:
            reader.quiet()
    ids = [oid(number) for number in range(count)]
    assert writer.batch(ids, [b""] * count) == wire.OK
    assert reader.quiet()
    # Replies are read while they come.
    writer.send(wire.CREATE_AND_SEAL, wire.create_and_seal_body(oid(count)))
    assert [reader.recv_get().object_ids[0] for _ in range(count)] == ids
    assert writer.expect(wire.CREATE_AND_SEAL_REPLY).scalar(0, "i") == wire.OK


def test_churn_leaves_nothing_behind(store):
    """Anonymous memory does not grow with the number of objects that were."""
    server = store(MB)
    client = server.client()

    def churn(first, count):
        for number in range(first, first + count):
            client.create_and_seal(oid(number), bytes(number % 1000), b"m")
            if number % 2:
                client.delete([oid(number)])

    churn(0, 5000)
    memory, fds = server.status_kib("RssAnon"), server.fd_count()
    churn(5000, 20_000)
    assert server.status_kib("RssAnon") - memory < 8192
    assert server.fd_count() <= fds
