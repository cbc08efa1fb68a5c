"""Segments and descriptors: who gets which, when, and what they look like."""

import fcntl
import os
import time

import pytest

import wire
from wire import oid

MB = 1_000_000


def place(spec):
    return (spec.segment, spec.data_offset)


def test_descriptor_comes_in_a_message_of_its_own(store):
    """The reply is complete first; then one byte with one descriptor."""
    client = store().client()
    client.send(wire.CREATE, wire.create_body(oid(1), 10))
    client.recv()
    fd = client.recv_fd()
    os.close(fd)
    client.sync()


def test_descriptor_is_sent_once_per_connection(store):
    server = store()
    client, other = server.client(), server.client()
    client.put(oid(1), 10)
    for number in range(2, 30):
        client.leave(oid(number), 10)
        client.hold(oid(number))
    assert len(client.segments) == 1
    assert client.quiet()
    # The other connection has to get it too, here with its first Get.
    other.hold(oid(1))
    other.hold(oid(2))
    other.create(oid(50), 10)
    assert len(other.segments) == 1
    assert other.quiet()


def test_get_reply_lists_segments_that_were_sent_earlier(store):
    client = store().client()
    spec = client.put(oid(1), 10)
    reply = client.get([oid(2), oid(1)])
    assert reply.store_fds == [spec.segment]
    assert reply.mmap_sizes == [client.segments[spec.segment].mmap_size]


def test_failed_create_sends_no_descriptor(store):
    server = store()
    client, other = server.client(), server.client()
    client.create(oid(1), 10)
    assert other.try_create(oid(1), 10).error == wire.EXISTS
    assert other.try_create(oid(2), 2**40).error == wire.FULL
    assert other.quiet()


def test_missing_objects_list_no_segment(store):
    server = store()
    client, other = server.client(), server.client()
    client.create(oid(1), 10)
    reply = other.get([oid(1), oid(2)])
    assert (reply.store_fds, reply.mmap_sizes) == ([], [])
    assert other.quiet()


def test_segment(store):
    """Mappable for reading and writing, and as long as announced."""
    client = store().client()
    spec = client.create(oid(1), 100, 3)
    segment = client.segments[spec.segment]
    assert segment.file_size >= segment.mmap_size - 8
    assert (segment.mmap_size - 8) % os.sysconf("SC_PAGE_SIZE") == 0
    assert spec.segment >= 1
    assert spec.metadata_offset + spec.metadata_size <= segment.mmap_size - 8
    client.write(spec, b"d" * 100, b"m" * 3)
    assert client.read(spec) == (b"d" * 100, b"m" * 3)
    assert fcntl.fcntl(segment.fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDWR


def test_offsets_are_multiples_of_64(store):
    client = store().client()
    for number, (data, metadata) in enumerate([(1, 0), (63, 1), (64, 2), (65, 3), (1000, 4)] * 20):
        spec = client.create(oid(number), data, metadata)
        assert spec.data_offset % 64 == 0
        assert spec.metadata_offset == spec.data_offset + data


def test_objects_do_not_overlap(store):
    client = store().client()
    taken = {}
    for number in range(500):
        size = 1 + 7919 * number % 3001
        spec = client.create(oid(number), size, number % 5)
        end = spec.data_offset + size + number % 5
        for start, stop in taken.setdefault(spec.segment, []):
            assert end <= start or stop <= spec.data_offset
        taken[spec.segment].append((spec.data_offset, end))
        if number % 3 == 0:
            client.abort(oid(number))
            taken[spec.segment].pop()


def test_all_connections_see_the_same_memory(store):
    server = store()
    writer, reader = server.client(), server.client()
    spec = writer.put(oid(1), 5)
    assert place(reader.hold(oid(1))) == place(spec)
    writer.write(spec, b"later")
    assert reader.read(reader.hold(oid(1)))[0] == b"later"


def test_a_closed_connection_keeps_its_mapping(store):
    server = store()
    writer, reader = server.client(), server.client()
    writer.create_and_seal(oid(1), b"contents")
    spec = reader.hold(oid(1))
    reader.socket.close()
    assert reader.read(spec)[0] == b"contents"


def fragment(client):
    """Objects all over the store with gaps between them; about half of it is free."""
    for number in range(100):
        client.leave(oid(number), 100_000)
    client.delete([oid(n) for n in range(0, 100, 2)])


def test_further_segments_have_new_ids(store):
    """Whatever segments there are: distinct ids, own sizes that never change."""
    server = store(10 * MB)
    client, late = server.client(), server.client()
    fragment(client)
    for number in range(200, 205):
        client.leave(oid(number), 1_000_000, evict=False)
    sizes = {}
    for object_id, info in client.list().items():
        reply = late.get([object_id])
        assert reply.specs[0].data_size == info.data_size
        for segment, size in zip(reply.store_fds, reply.mmap_sizes):
            assert sizes.setdefault(segment, size) == size
    assert set(sizes) == set(late.segments)
    inodes = {os.fstat(segment.fd).st_ino for segment in late.segments.values()}
    assert len(inodes) == len(late.segments)


def test_segments_of_a_get_come_in_order_of_first_appearance(store):
    server = store(10 * MB)
    client, reader = server.client(), server.client()
    fragment(client)
    client.leave(oid(200), 5 * MB, evict=False)
    ids = [oid(200), oid(1), oid(300), oid(200), oid(3)]
    reply = reader.get(ids)
    order = []
    for spec in reply.specs:
        if spec.available and spec.segment not in order:
            order.append(spec.segment)
    assert reply.store_fds == order
    assert reader.quiet()


def test_new_segments_are_announced_to_known_connections(store):
    """A connection that has one segment gets only the new one."""
    server = store(10 * MB)
    client, reader = server.client(), server.client()
    fragment(client)
    reader.hold(oid(1))
    client.leave(oid(200), 5 * MB, evict=False)
    spec = reader.hold(oid(200))
    reader.sync()
    assert spec.segment in reader.segments


def test_use_by_many_connections_leaves_no_descriptor(store):
    server = store()
    before = server.fd_count()
    for number in range(100):
        client = server.client()
        client.leave(oid(number), 10)
        client.subscribe().close()
        client.sync()
        client.close()
    wire.wait_until(lambda: server.fd_count() <= before, "the descriptors are closed")


def test_files_go_with_the_server(store):
    """The segment has no name that would stay behind."""
    client = store().client()
    spec = client.create(oid(1), 10)
    assert os.fstat(client.segments[spec.segment].fd).st_nlink == 0


# Defects.


@pytest.mark.defect("D9")
@pytest.mark.parametrize("size", [0, 4096, 2**33])
def test_a_client_cannot_change_the_size_of_a_segment(store, size):
    server = store()
    client = server.client()
    spec = client.create(oid(1), 10)
    with pytest.raises(PermissionError):
        os.ftruncate(client.segments[spec.segment].fd, size)
    assert client.create_and_seal(oid(2), b"x") == wire.OK
    server.assert_serves()


@pytest.mark.defect("D10")
def test_a_client_that_overwrites_everything_harms_contents_only(store):
    server = store()
    client, other = server.client(), server.client()
    for number in range(10):
        other.leave(oid(number), 1000)
    client.put(oid(10), 1000)
    for segment in client.segments.values():
        segment.memory[:] = b"\xff" * len(segment.memory)
    assert other.delete([oid(n) for n in range(10)]) == [wire.OK] * 10
    client.release(oid(10))
    assert client.delete([oid(10)]) == [wire.OK]
    for number in range(20):
        assert other.create_and_seal(oid(number), b"new") == wire.OK
        assert other.contents(oid(number))[0] == b"new"
    assert other.debug_values()["allocated bytes"] == "60"


@pytest.mark.defect("D26")
def test_a_flood_of_empty_objects_makes_no_segments(store):
    server = store(100_000)
    client = server.client()
    before = server.fd_count()
    for start in range(0, 20_000, 1000):
        ids = [oid(n) for n in range(start, start + 1000)]
        assert client.batch(ids, [b""] * 1000) in (wire.OK, wire.FULL)
    assert server.fd_count() <= before + 1
    assert client.debug_values()["allocated bytes"] == "0"


@pytest.mark.defect("D23")
def test_descriptor_limit(store):
    """At the limit: no busy loop, a short log, old clients served, new ones later."""
    server = store(MB, nofile=40)
    first = server.client()
    first.put(oid(1), 10)
    others = [server.client() for _ in range(60)]
    time.sleep(0.2)
    ticks, log = server.cpu_ticks(), server.log_size()
    time.sleep(1)
    assert server.cpu_ticks() - ticks < os.sysconf("SC_CLK_TCK") // 4
    assert server.log_size() - log < 100_000
    for number in range(100):
        assert first.create_and_seal(oid(10 + number), bytes(1000)) == wire.OK
        assert first.contents(oid(10 + number))[0] == bytes(1000)
    # As the accepted ones leave, the waiting ones are served.
    for other in others[:40]:
        other.close()
    for other in others[40:]:
        assert other.contains(oid(1))
    assert first.create_and_seal(oid(500), b"x") == wire.OK


@pytest.mark.defect("D23")
def test_new_segment_at_the_descriptor_limit(store):
    """It may be refused with error 3, but the server lives."""
    server = store(10 * MB, nofile=40)
    client = server.client()
    others = [server.client() for _ in range(60)]
    fragment(client)
    assert client.try_create(oid(200), 5 * MB, evict=False).error in (wire.OK, wire.FULL)
    for other in others[:40]:
        other.close()
    for other in others[40:]:
        other.sync()
    assert client.try_create(oid(201), 5 * MB).error in (wire.OK, wire.FULL)
    server.assert_serves()


def test_subscribe_at_the_descriptor_limit(store):
    server = store(MB, nofile=40)
    client = server.client()
    others = [server.client() for _ in range(60)]
    early = client.subscribe()
    assert client.create_and_seal(oid(1), b"x") == wire.OK
    early.close()
    for other in others[:40]:
        other.close()
    for other in others[40:]:
        other.sync()
    subscription = others[-1].subscribe()
    others[-1].sync()
    client.create_and_seal(oid(2), b"x")
    assert sorted(subscription.events(2)) == [(oid(1), False), (oid(2), False)]
