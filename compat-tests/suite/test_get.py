"""Get: time-outs, waiting, order of replies, holds, duplicates."""

import time

import pytest

import wire
from wire import oid

A, B, C = oid(1), oid(2), oid(3)


def test_mixed_result_keeps_the_order(store):
    client = store().client()
    client.leave(A, 10)
    client.leave(C, 30)
    reply = client.get([C, B, A])
    assert [spec.data_size for spec in reply.specs] == [30, -1, 10]
    assert reply.specs[1] == wire.MISSING


def test_nothing_available(store):
    reply = store().client().get([A, B])
    assert reply.specs == [wire.MISSING, wire.MISSING]
    assert (reply.store_fds, reply.mmap_sizes) == ([], [])


def test_empty_list(store):
    client = store().client()
    for timeout_ms in (0, 1000, -1):
        reply = client.get([], timeout_ms)
        assert (reply.specs, reply.store_fds, reply.mmap_sizes) == ([], [], [])


def test_unsealed_object_is_not_available(store):
    server = store()
    creator, other = server.client(), server.client()
    creator.create(A, 10)
    assert creator.get([A]).available == [False]
    assert other.get([A], 1).available == [False]
    creator.seal(A)
    assert creator.get([A]).available == [True]
    assert other.get([A]).available == [True]


@pytest.mark.parametrize("timeout_ms", [1, 50, 200, 700])
def test_time_out(store, timeout_ms):
    """Not earlier than asked, with what is there."""
    client = store().client()
    client.leave(A, 10)
    start = time.monotonic()
    reply = client.get([A, B], timeout_ms)
    assert time.monotonic() - start >= timeout_ms / 1000
    assert reply.available == [True, False]


@pytest.mark.parametrize("timeout_ms", [-2, -1000, -(2**63)])
def test_time_out_below_minus_one_is_due_at_once(store, timeout_ms):
    client = store().client()
    client.leave(A, 10)
    assert client.get([A, B], timeout_ms).available == [True, False]


def test_everything_available_never_waits(store):
    client = store().client()
    client.leave(A, 10)
    for timeout_ms in (-1, 3_600_000, 2**40):
        assert client.get([A], timeout_ms).available == [True]


@pytest.mark.parametrize("timeout_ms", [-1, 20_000])
def test_wait_for_several(store, timeout_ms):
    """The reply comes with the last of the objects, not earlier."""
    server = store()
    reader, writer = server.client(), server.client()
    reader.send_get([A, B, C], timeout_ms)
    for object_id in (B, A, C):
        writer.create(object_id, 10)
    for object_id in (B, A):
        writer.seal(object_id)
        assert reader.quiet()
    writer.seal(C)
    assert reader.recv_get().available == [True] * 3


def test_wait_is_ended_by_create_and_seal(store):
    server = store()
    reader, writer = server.client(), server.client()
    reader.send_get([A], -1)
    reader.quiet(0.02)
    assert writer.create_and_seal(A, b"data", b"meta") == wire.OK
    assert reader.read(reader.recv_get().specs[0]) == (b"data", b"meta")


def test_wait_is_ended_by_a_batch(store):
    server = store()
    reader, writer = server.client(), server.client()
    reader.send_get([A, B, C], -1)
    reader.quiet(0.02)
    assert writer.batch([C, A, B], [b"c", b"a", b"b"]) == wire.OK
    reply = reader.recv_get()
    assert [reader.read(spec)[0] for spec in reply.specs] == [b"a", b"b", b"c"]


def test_each_waiter_holds_at_once(store):
    """A seal gives the hold although the Get still waits for another object."""
    server = store(1_000_000)
    reader, writer = server.client(), server.client()
    reader.send_get([A, B], -1)
    reader.quiet(0.02)
    assert writer.create_and_seal(A, bytes(600_000)) == wire.OK
    assert writer.list()[A].ref_count == 1
    # So it cannot be evicted meanwhile.
    assert writer.create_and_seal(C, bytes(600_000)) == wire.FULL
    assert writer.evict(1) == 0
    assert writer.create_and_seal(B) == wire.OK
    assert reader.recv_get().available == [True, True]


def test_holds_stay_after_a_time_out(store):
    server = store()
    reader, other = server.client(), server.client()
    other.leave(A, 10)
    assert reader.get([A, B], 30).available == [True, False]
    assert other.list()[A].ref_count == 1
    assert other.evict(1) == 0
    reader.release(A)
    reader.sync()
    assert other.evict(1) == 10


def test_time_out_gives_no_later_hold(store):
    """An object sealed after the time-out is not held by the reader."""
    server = store()
    reader, writer = server.client(), server.client()
    reader.get([A], 20)
    writer.create_and_seal(A, b"x")
    assert writer.list()[A].ref_count == 0
    assert reader.quiet()


def test_waiters_are_served_in_order(store):
    """Two Gets wait on one connection for the same object: first in, first out."""
    server = store()
    reader, writer = server.client(), server.client()
    reader.send_get([A], -1)
    reader.send_get([A, B], -1)
    reader.send_get([B, A], -1)
    writer.create_and_seal(B)
    assert reader.quiet(0.02)
    writer.create_and_seal(A)
    assert [reader.recv_get().object_ids for _ in range(3)] == [[A], [A, B], [B, A]]


def test_outstanding_gets_are_answered_in_order_of_completion(store):
    server = store()
    reader, writer = server.client(), server.client()
    reader.send_get([A], -1)
    reader.send_get([B], -1)
    reader.send_get([C], 100)
    assert not reader.contains(A)
    writer.create_and_seal(B)
    assert reader.recv_get().object_ids == [B]
    reply = reader.recv_get()
    assert (reply.object_ids, reply.available) == ([C], [False])
    writer.create_and_seal(A)
    assert reader.recv_get().object_ids == [A]


def test_waiting_does_not_block_the_connection(store):
    """The connection that waits creates the object itself."""
    client = store().client()
    client.send_get([A], -1)
    assert not client.contains(B)
    client.create(A, 10)
    # GetReply comes before SealReply.
    client.send(wire.SEAL, wire.seal_body(A))
    assert client.recv_get().available == [True]
    assert client.expect(wire.SEAL_REPLY).scalar(1, "i") == wire.OK


def test_get_reply_comes_before_create_and_seal_reply(store):
    client = store().client()
    client.send_get([A, B], -1)
    client.send(wire.BATCH, wire.batch_body([A, B], [b"", b""], [b"", b""], [wire.DIGEST] * 2))
    reply = wire.GetReply.parse(client.expect(wire.GET_REPLY))
    client.recv_fd()
    assert reply.available == [True, True]
    assert client.expect(wire.BATCH_REPLY).scalar(0, "i") == wire.OK


def test_every_waiting_connection_is_served(store):
    server = store()
    readers = [server.client() for _ in range(20)]
    for reader in readers:
        reader.send_get([A], -1)
    writer = server.client()
    for reader in readers:
        assert reader.quiet()
    writer.create_and_seal(A, b"data")
    for reader in readers:
        assert reader.read(reader.recv_get().specs[0])[0] == b"data"
    assert writer.list()[A].ref_count == 20


def test_aborted_object_leaves_its_waiters_waiting(store):
    server = store()
    reader, writer = server.client(), server.client()
    reader.send_get([A], -1)
    writer.create(A, 10)
    writer.abort(A)
    assert reader.quiet(0.02)
    writer.create(A, 20)
    writer.seal(A)
    assert reader.recv_get().specs[0].data_size == 20


def test_waiters_outlive_the_creators_connection(store):
    server = store()
    reader, writer = server.client(), server.client()
    reader.send_get([A], -1)
    writer.create(A, 10)
    server.hang_up(writer)
    assert reader.quiet(0.02)
    server.client().leave(A, 30)
    assert reader.recv_get().specs[0].data_size == 30


def test_deletion_pending_objects_are_handed_out(store):
    server = store()
    owner, reader = server.client(), server.client()
    owner.put(A, 10)
    owner.delete([A])
    assert reader.get([A]).available == [True]
    owner.release(A)
    owner.sync()
    assert owner.contains(A)
    reader.release(A)
    reader.sync()
    assert not owner.contains(A)


def test_delete_does_not_end_a_wait(store):
    server = store()
    reader, other = server.client(), server.client()
    reader.send_get([A, B], -1)
    other.create_and_seal(A)
    assert other.delete([A]) == [wire.IN_USE]
    other.create_and_seal(B)
    assert reader.recv_get().available == [True, True]


def test_closed_while_waiting(store):
    """The wait and its timer go away with the connection."""
    server = store()
    writer = server.client()
    for timeout_ms in (-1, 100, 10_000):
        reader = server.client()
        reader.send_get([A], timeout_ms)
        server.hang_up(reader)
    writer.create(A, 10)
    writer.seal(A)
    assert writer.list()[A].ref_count == 1
    time.sleep(0.2)
    server.assert_serves()


def test_a_wait_that_ends_with_its_connection_gives_its_holds_back(store):
    server = store()
    reader, writer = server.client(), server.client()
    reader.send_get([A, B], -1)
    reader.quiet(0.02)
    writer.create_and_seal(A, b"x")
    assert writer.list()[A].ref_count == 1
    server.hang_up(reader)
    assert writer.list()[A].ref_count == 0


def test_many_ids_in_one_get(store):
    client = store().client()
    ids = [oid(n) for n in range(10_000)]
    reply = client.get(ids)
    assert not any(reply.available)
    assert client.batch(ids[::2], [b"x"] * 5000) == wire.OK
    reply = client.get(ids)
    assert reply.available == [True, False] * 5000


# Duplicates: distinct ids count, every position is filled.


@pytest.mark.defect("D11")
@pytest.mark.parametrize("timeout_ms", [-1, 3_600_000])
def test_duplicates_of_an_available_object(store, timeout_ms):
    client = store().client()
    client.leave(A, 10)
    reply = client.get([A, A], timeout_ms)
    assert reply.available == [True, True]
    assert reply.specs[0] == reply.specs[1]
    assert client.list()[A].ref_count == 1


def test_duplicates_without_time_out(store):
    client = store().client()
    client.leave(A, 10)
    assert client.get([A, B, A, B]).available == [True, False, True, False]


@pytest.mark.defect("D11")
def test_duplicates_do_not_stand_for_a_missing_object(store):
    client = store().client()
    client.leave(A, 10)
    start = time.monotonic()
    assert client.get([A, A, B], 200).available == [True, True, False]
    assert time.monotonic() - start >= 0.2


@pytest.mark.defect("D11")
def test_duplicates_of_an_awaited_object(store):
    server = store()
    reader, writer = server.client(), server.client()
    reader.send_get([A, A, B, A], -1)
    reader.quiet(0.02)
    writer.create_and_seal(B)
    assert reader.quiet()
    writer.create_and_seal(A, b"data")
    reply = reader.recv_get()
    assert reply.available == [True] * 4
    assert reader.read(reply.specs[3])[0] == b"data"
    reader.release(A)
    reader.sync()
    assert writer.list()[A].ref_count == 0


@pytest.mark.defect("D12")
def test_two_gets_wait_on_a_connection_that_closes(store):
    server = store()
    reader, writer = server.client(), server.client()
    reader.send_get([A], -1)
    reader.send_get([A, B], -1)
    reader.send_get([B], 100)
    reader.sync()
    server.hang_up(reader)
    writer.create_and_seal(A)
    writer.create_and_seal(B)
    assert writer.list()[A].ref_count == 0
    time.sleep(0.2)
    server.assert_serves()


@pytest.mark.defect("D11", "D13")
def test_timers_end_with_their_connection(store):
    """Gets that a server may take for complete; their timers must not fire later."""
    server = store()
    client = server.client()
    client.leave(A, 10)
    for _ in range(20):
        reader = server.client()
        reader.send_get([A, A], 100)
        assert reader.recv_get().available == [True, True]
        reader.send_get([A, A, B], 100)
        reader.sync()
        server.hang_up(reader)
    time.sleep(0.2)
    assert client.list()[A].ref_count == 0
    server.assert_serves()
