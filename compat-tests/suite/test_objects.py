"""Life of an object: Create, Seal, Abort, CreateAndSeal, the batch, Contains, List.

Holds are a set per connection; Seal needs no hold; only sealed objects
survive their creator.
"""

import time

import pytest

import wire
from wire import oid

ID = oid(1)


# Create.


def test_create_seal_read(store):
    server = store()
    writer, reader = server.client(), server.client()
    spec = writer.create(ID, 50, 7)
    writer.write(spec, b"d" * 50, b"m" * 7)
    assert writer.seal(ID) == wire.OK
    assert reader.read(reader.hold(ID)) == (b"d" * 50, b"m" * 7)


def test_create_reply_repeats_the_request(store):
    client = store().client()
    reply = client.try_create(ID, 100, 3)
    assert (reply.spec.data_size, reply.spec.metadata_size, reply.spec.device) == (100, 3, 0)
    assert reply.spec.metadata_offset == reply.spec.data_offset + 100
    assert reply.spec.segment == reply.store_fd


@pytest.mark.parametrize("sizes", [(0, 0), (0, 5), (5, 0), (1, 1), (63, 1), (64, 2), (65, 3)])
def test_sizes_around_zero_and_the_alignment(store, sizes):
    client = store().client()
    data, metadata = b"d" * sizes[0], b"m" * sizes[1]
    client.write(client.create(ID, *sizes), data, metadata)
    client.seal(ID)
    client.release(ID)
    assert client.contents(ID) == (data, metadata)


def test_objects_of_total_size_zero_have_a_valid_place(store):
    client = store().client()
    spec = client.create(ID)
    assert 0 <= spec.data_offset <= client.segments[spec.segment].mmap_size - 8
    assert spec.data_offset % 64 == 0


def test_create_existing(store):
    """Error 1 in every state, whoever created the object; the reply is all zero."""
    server = store()
    client, other = server.client(), server.client()
    client.create(ID, 10)
    for states in ("created", "sealed", "held by nobody"):
        for connection in (client, other):
            reply = connection.try_create(ID, 20, 3)
            assert reply == wire.CreateReply(ID, wire.NOTHING, wire.EXISTS, 0, 0), states
        if states == "created":
            client.seal(ID)
        elif states == "sealed":
            client.release(ID)
            client.sync()
    assert client.list()[ID].data_size == 10


def test_create_existing_with_pending_deletion(store):
    client = store().client()
    client.put(ID, 10)
    assert client.delete([ID]) == [wire.IN_USE]
    assert client.try_create(ID, 10).error == wire.EXISTS


def test_create_too_large(store):
    """All zero but for id and error, and the id stays free."""
    client = store(1_000_000).client()
    for size in (1_000_001, 1_009_000, 2**40):
        reply = client.try_create(ID, size)
        assert reply == wire.CreateReply(ID, wire.NOTHING, wire.FULL, 0, 0)
    assert client.list() == {}
    client.create(ID, 1_000_000)


def test_device_number_without_gpu(store):
    """Error 3 with device 0 and an all-zero spec."""
    client = store().client()
    for device in (1, 2, 7, -1):
        reply = client.try_create(ID, 100, 3, device=device)
        assert reply == wire.CreateReply(ID, wire.NOTHING, wire.FULL, 0, 0)
    assert client.list() == {}
    client.create(ID, 100)


# Seal.


@pytest.mark.deviation("only the creator seals")
def test_only_the_creator_seals(store):
    server = store()
    creator, other = server.client(), server.client()
    creator.create(ID, 10)
    assert other.seal(ID) == wire.NOT_FOUND
    assert not other.contains(ID)
    assert creator.seal(ID) == wire.OK
    assert other.contains(ID)


def test_digest_is_stored_as_given(store):
    client = store().client()
    client.create(ID, 10)
    client.seal(ID, b"\x00\xffabcdef")
    assert client.list()[ID].digest == b"\x00\xffabcdef"
    client.create_and_seal(oid(2), b"x", digest=bytes(8))
    assert client.list()[oid(2)].digest == bytes(8)


def test_object_ids_are_arbitrary_bytes(store):
    client = store().client()
    ids = [bytes(20), b"\xff" * 20, b"\0" * 19 + b"\1", b"\1" + b"\0" * 19, bytes(range(20))]
    for object_id in ids:
        client.leave(object_id, 1)
    assert client.present(ids) == ids
    assert set(client.list()) == set(ids)


# Contains and List.


def test_contains(store):
    server = store()
    client, other = server.client(), server.client()
    assert not client.contains(ID)
    client.create(ID, 10)
    assert not client.contains(ID) and not other.contains(ID)
    client.seal(ID)
    assert client.contains(ID) and other.contains(ID)
    client.delete([ID])
    assert other.contains(ID)
    client.release(ID)
    client.sync()
    assert not other.contains(ID)


def test_list_of_an_empty_store(store):
    assert store().client().list() == {}


def test_list_entries(store):
    client = store().client()
    before = int(time.time())
    client.create(ID, 11, 7)
    info = client.list()[ID]
    assert (info.data_size, info.metadata_size, info.ref_count) == (11, 7, 1)
    assert (info.construct_duration, info.digest, info.is_deletion) == (-1, b"", False)
    assert before <= info.create_time <= int(time.time())
    client.seal(ID)
    info = client.list()[ID]
    assert (info.ref_count, info.digest) == (1, wire.DIGEST)
    assert 0 <= info.construct_duration <= 1
    client.release(ID)
    info = client.list()[ID]
    assert (info.data_size, info.metadata_size, info.ref_count) == (11, 7, 0)


def test_construct_duration_is_in_whole_seconds(store):
    client = store().client()
    client.create(ID, 10)
    time.sleep(1.1)
    client.seal(ID)
    assert 1 <= client.list()[ID].construct_duration <= 3


def test_ref_count_is_the_number_of_connections(store):
    server = store()
    creator = server.client()
    creator.put(ID, 10)
    readers = [server.client() for _ in range(5)]
    for count, reader in enumerate(readers, start=2):
        reader.hold(ID)
        assert creator.list()[ID].ref_count == count
    for left, reader in enumerate(readers):
        reader.release(ID)
        reader.sync()
        assert creator.list()[ID].ref_count == 5 - left


def test_holds_are_a_set(store):
    """However many Gets, one Release ends the hold."""
    client = store().client()
    client.put(ID, 10)
    for _ in range(4):
        client.hold(ID)
    assert client.list()[ID].ref_count == 1
    client.release(ID)
    assert client.list()[ID].ref_count == 0
    client.hold(ID)
    client.hold(ID)
    assert client.list()[ID].ref_count == 1
    client.release(ID)
    assert client.list()[ID].ref_count == 0


# Abort.


def test_abort(store):
    """The object vanishes without a notification, and its id is free for other sizes."""
    server = store()
    client = server.client()
    subscription = client.subscribe()
    client.create(ID, 10_000_000)
    client.abort(ID)
    assert client.list() == {}
    client.write(client.create(ID, 5, 6), b"12345", b"abcdef")
    client.seal(ID)
    assert client.read(client.hold(ID)) == (b"12345", b"abcdef")
    entry = subscription.next_one()
    assert (entry.object_id, entry.data_size) == (ID, 5)


def test_abort_frees_the_memory_at_once(store):
    client = store(1_000_000).client()
    for number in range(20):
        client.create(oid(number), 1_000_000)
        client.abort(oid(number))


def test_one_id_again_and_again(store):
    client = store().client()
    for _ in range(50):
        client.create(ID, 100)
        client.abort(ID)
        client.leave(ID, 100)
        assert client.delete([ID]) == [wire.OK]
    assert client.list() == {}


# CreateAndSeal.


def test_create_and_seal(store):
    """The object goes straight to its readers: ref_count 0, no descriptor."""
    server = store()
    client, other = server.client(), server.client()
    assert client.create_and_seal(ID, b"data", b"metadata") == wire.OK
    assert client.quiet()
    assert other.contains(ID)
    info = other.list()[ID]
    assert (info.ref_count, info.data_size, info.metadata_size) == (0, 4, 8)
    assert info.digest == wire.DIGEST
    assert other.contents(ID) == (b"data", b"metadata")


def test_create_and_seal_of_any_size(store):
    client = store().client()
    for number, size in enumerate([0, 1, 63, 64, 65, 4095, 4096, 65_536, 1_000_003]):
        data, metadata = bytes([number]) * size, bytes([255 - number]) * (size // 3)
        assert client.create_and_seal(oid(number), data, metadata) == wire.OK
        assert client.contents(oid(number)) == (data, metadata)


def test_create_and_seal_existing(store):
    client = store().client()
    client.create(ID, 10)
    assert client.create_and_seal(ID, b"x") == wire.EXISTS
    client.seal(ID)
    assert client.create_and_seal(ID, b"x") == wire.EXISTS
    assert client.list()[ID].data_size == 10


def test_create_and_seal_larger_than_the_store(store):
    """Error 3, and the connection lives: the reply carries no id."""
    client = store(1_000_000).client()
    assert client.create_and_seal(ID, bytes(1_000_001)) == wire.FULL
    assert client.create_and_seal(ID, bytes(500_000), bytes(500_001)) == wire.FULL
    assert client.create_and_seal(ID, bytes(20_000_000)) == wire.FULL
    assert client.create_and_seal(ID, bytes(1_000_000)) == wire.OK


def test_create_and_seal_without_eviction(store):
    client = store(1_000_000).client()
    assert client.create_and_seal(oid(1), bytes(600_000)) == wire.OK
    assert client.create_and_seal(oid(2), bytes(600_000), evict=False) == wire.FULL
    assert client.create_and_seal(oid(2), bytes(400_000), evict=False) == wire.OK
    assert client.create_and_seal(oid(3), bytes(600_000), evict=True) == wire.OK
    assert client.present([oid(1), oid(2), oid(3)]) == [oid(2), oid(3)]


# CreateAndSealBatch.


def test_batch(store):
    client = store().client()
    ids = [oid(n) for n in range(20)]
    data = [b"d" * n for n in range(20)]
    metadata = [b"m" * (19 - n) for n in range(20)]
    digests = [bytes([n]) * 8 for n in range(20)]
    assert client.batch(ids, data, metadata, digests) == wire.OK
    infos = client.list()
    for object_id, expected, digest in zip(ids, zip(data, metadata), digests):
        assert infos[object_id].ref_count == 0
        assert infos[object_id].digest == digest
        assert client.contents(object_id) == expected


def test_empty_batch(store):
    """It succeeds, and subscribers get a frame without entries."""
    client = store().client()
    subscription = client.subscribe()
    assert client.batch([], []) == wire.OK
    assert subscription.next() == []


def test_batch_rolls_back_when_an_id_exists(store):
    client = store().client()
    client.put(oid(3), 10)
    subscription = client.subscribe()
    assert subscription.next_one().object_id == oid(3)
    assert client.batch([oid(1), oid(2), oid(3), oid(4)], [b"x"] * 4) == wire.EXISTS
    assert list(client.list()) == [oid(3)]
    assert client.debug_values()["allocated bytes"] == "10"
    assert client.create_and_seal(oid(5)) == wire.OK
    assert subscription.next_one().object_id == oid(5)


def test_batch_with_a_duplicate(store):
    client = store().client()
    assert client.batch([oid(1), oid(2), oid(1)], [b"x"] * 3) == wire.EXISTS
    assert client.list() == {}


def test_batch_rolls_back_when_it_does_not_fit(store):
    client = store(1_000_000).client()
    ids = [oid(1), oid(2), oid(3)]
    assert client.batch(ids, [bytes(400_000)] * 3) == wire.FULL
    assert client.list() == {}
    assert client.debug_values()["allocated bytes"] == "0"
    assert client.batch(ids, [bytes(400_000), bytes(400_000), bytes(200_000)]) == wire.OK


# The end of a connection.


def test_only_sealed_objects_survive_their_creator(store):
    """Checked at once from another connection: the hang-up came first."""
    server = store()
    other = server.client()
    for round_number in range(30):
        creator = server.client()
        ids = [oid(10 * round_number + n) for n in range(10)]
        for object_id in ids:
            creator.create(object_id, 100)
        for object_id in ids[::3]:
            creator.seal(object_id)
        for object_id in ids[1::3]:
            creator.abort(object_id)
        creator.close()
        assert other.present(ids) == ids[::3]
        infos = other.list()
        assert [i for i in ids if i in infos] == ids[::3]
        assert all(infos[i].ref_count == 0 for i in ids[::3])


def test_unsealed_objects_of_a_closed_connection_free_their_memory(store):
    server = store(1_000_000)
    other = server.client()
    for _ in range(10):
        creator = server.client()
        creator.create(ID, 1_000_000)
        server.hang_up(creator)
        assert other.list() == {}
        assert other.debug_values()["allocated bytes"] == "0"


def test_a_closed_connection_leaves_others_alone(store):
    server = store()
    leaving, staying = server.client(), server.client()
    staying.create(oid(1), 10)
    staying.put(oid(2), 10)
    leaving.hold(oid(2))
    server.hang_up(leaving)
    infos = staying.list()
    assert (infos[oid(1)].ref_count, infos[oid(2)].ref_count) == (1, 1)
    assert staying.seal(oid(1)) == wire.OK
