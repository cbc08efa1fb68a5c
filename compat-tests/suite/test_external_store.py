"""A store with `-e hashtable://...`: objects are spilled instead of evicted.

While spilled an object is still there for everybody; a Get brings it back.
"""

import time

import pytest

import wire
from wire import oid

MB = 1_000_000


@pytest.fixture
def server(store):
    return store(MB, "-e", "hashtable://test")


def spill_everything(client):
    """Make the store spill all objects that nobody holds."""
    client.sync()
    client.evict(2**62)


def spilled(client, object_id, data=b"data", metadata=b"", digest=wire.DIGEST):
    """An object that is in the external store only."""
    assert client.create_and_seal(object_id, data, metadata, digest) == wire.OK
    spill_everything(client)
    return object_id


def test_twice_the_capacity_is_kept(server):
    client = server.client()
    contents = {oid(n): bytes([n]) * 100_000 for n in range(20)}
    for object_id, data in contents.items():
        assert client.create_and_seal(object_id, data) == wire.OK
        assert client.contains(object_id)
    assert client.present(list(contents)) == list(contents)
    assert set(client.list()) == set(contents)
    for object_id, data in contents.items():
        spec = client.get([object_id], -1).specs[0]
        assert client.read(spec) == (data, b"")
        client.release(object_id)


def test_evict_spills_without_notification(server):
    client = server.client()
    subscription = client.subscribe()
    client.create_and_seal(oid(1), bytes(1000))
    assert client.evict(1) == 1000
    assert client.evict(1) == 0
    assert client.contains(oid(1))
    assert client.debug_values()["allocated bytes"] == "0"
    assert client.hold(oid(1)).data_size == 1000
    client.create_and_seal(oid(2))
    assert subscription.events(2) == [(oid(1), False), (oid(2), False)]


def test_spilled_objects_are_listed_like_sealed_ones(server):
    client = server.client()
    spilled(client, oid(1), bytes(1000))
    info = client.list()[oid(1)]
    assert (info.data_size, info.metadata_size, info.ref_count) == (1000, 0, 0)
    assert info.digest == wire.DIGEST


def test_create_of_a_spilled_id(server):
    client = server.client()
    spilled(client, oid(1))
    assert client.try_create(oid(1), 10).error == wire.EXISTS
    assert client.create_and_seal(oid(1), b"x") == wire.EXISTS


def test_new_subscribers_are_not_told_about_spilled_objects(server):
    client = server.client()
    spilled(client, oid(1))
    client.create_and_seal(oid(2))
    subscription = client.subscribe()
    client.create_and_seal(oid(3))
    assert subscription.events(2) == [(oid(2), False), (oid(3), False)]


@pytest.mark.parametrize("timeout_ms", [0, 100, -1, -2])
def test_get_restores_whatever_the_timeout(server, timeout_ms):
    client = server.client()
    spilled(client, oid(1), b"contents")
    spec = client.get([oid(1)], timeout_ms).specs[0]
    assert client.read(spec) == (b"contents", b"")
    assert client.list()[oid(1)].ref_count == 1


def test_several_are_restored_in_one_get(server):
    client = server.client()
    for number in range(5):
        client.create_and_seal(oid(number), b"%d" % number)
    spill_everything(client)
    client.create_and_seal(oid(5), b"5")
    reply = client.get([oid(n) for n in range(7)])
    assert reply.available == [True] * 6 + [False]
    assert [client.read(spec)[0] for spec in reply.specs[:6]] == [b"%d" % n for n in range(6)]


def test_restored_objects_are_spilled_again(server):
    client = server.client()
    spilled(client, oid(1), b"contents")
    for _ in range(5):
        assert client.contents(oid(1)) == (b"contents", b"")
        assert client.evict(1) == len(b"contents")
        assert client.debug_values()["allocated bytes"] == "0"


def test_restore_sets_the_create_time(server):
    client = server.client()
    client.create_and_seal(oid(1), b"x")
    created = client.list()[oid(1)].create_time
    spill_everything(client)
    time.sleep(1.1)
    client.hold(oid(1))
    assert client.list()[oid(1)].create_time > created


def test_restoring_spills_others(server):
    client = server.client()
    client.create_and_seal(oid(1), b"a" * 600_000)
    client.create_and_seal(oid(2), b"b" * 600_000)
    client.create_and_seal(oid(3), b"c" * 300_000)
    for _ in range(3):
        assert client.contents(oid(1))[0] == b"a" * 600_000
        assert client.contents(oid(2))[0] == b"b" * 600_000
        assert client.contents(oid(3))[0] == b"c" * 300_000


def test_held_objects_are_not_spilled(server):
    client = server.client()
    client.put(oid(1), 600_000)
    assert client.evict(1) == 0
    assert client.create_and_seal(oid(2), bytes(600_000)) == wire.FULL
    assert client.debug_values()["allocated bytes"] == "600000"


def test_get_of_a_missing_object(server):
    client = server.client()
    spilled(client, oid(1))
    assert client.get([oid(9)], 50).available == [False]
    assert client.get([oid(1), oid(9)], 50).available == [True, False]


# Defects.


@pytest.mark.defect("D22")
@pytest.mark.parametrize("sizes", [(4, 3), (0, 5), (100_000, 100_000)])
def test_data_and_metadata_come_back(server, sizes):
    client = server.client()
    data, metadata = b"d" * sizes[0], b"m" * sizes[1]
    spilled(client, oid(1), data, metadata)
    assert client.contents(oid(1)) == (data, metadata)


@pytest.mark.defect("D22")
def test_the_digest_is_kept(server):
    client = server.client()
    spilled(client, oid(1), digest=b"original")
    client.hold(oid(1))
    assert client.list()[oid(1)].digest == b"original"


@pytest.mark.defect("D22")
def test_spilled_objects_can_be_deleted(server):
    """Code 0 and a deletion notification; the id is free again."""
    client = server.client()
    subscription = client.subscribe()
    spilled(client, oid(1), b"old")
    assert client.delete([oid(1)]) == [wire.OK]
    assert subscription.events(2) == [(oid(1), False), (oid(1), True)]
    assert not client.contains(oid(1))
    assert client.list() == {}
    assert client.create_and_seal(oid(1), b"new") == wire.OK
    spill_everything(client)
    assert client.contents(oid(1))[0] == b"new"


@pytest.mark.defect("D22")
def test_pending_deletion_removes_instead_of_spilling(server):
    client = server.client()
    subscription = client.subscribe()
    client.put(oid(1), 10)
    assert client.delete([oid(1)]) == [wire.IN_USE]
    client.release(oid(1))
    assert not client.contains(oid(1))
    assert subscription.events(2) == [(oid(1), False), (oid(1), True)]


@pytest.mark.defect("D22")
def test_restored_object_can_be_deleted_while_held(server):
    client = server.client()
    spilled(client, oid(1))
    client.hold(oid(1))
    assert client.delete([oid(1)]) == [wire.IN_USE]
    client.release(oid(1))
    assert not client.contains(oid(1))
    assert client.list() == {}


@pytest.mark.defect("D22")
@pytest.mark.parametrize("timeout_ms", [0, 100])
def test_no_room_to_restore_answers_as_unavailable(server, timeout_ms):
    client, owner = server.client(), server.client()
    spilled(client, oid(1), bytes(1000))
    owner.put(oid(2), MB)
    start = time.monotonic()
    assert client.get([oid(1), oid(2)], timeout_ms).available == [False, True]
    assert time.monotonic() - start >= timeout_ms / 1000
    # It is still there, and comes back once there is room.
    assert client.contains(oid(1))
    client.release(oid(2))
    owner.release(oid(2))
    owner.sync()
    assert client.hold(oid(1)).data_size == 1000


@pytest.mark.defect("D22")
@pytest.mark.parametrize("how", ["release", "delete", "abort", "hang up"])
def test_waiting_restore_is_retried_when_there_is_room(server, how):
    client, owner = server.client(), server.client()
    spilled(client, oid(1), b"contents")
    owner.create(oid(2), MB)
    if how != "abort":
        owner.seal(oid(2))
    client.send_get([oid(1)], -1)
    assert client.quiet(0.05)
    if how == "delete":
        owner.delete([oid(2)])
    if how == "abort":
        owner.abort(oid(2))
    elif how == "hang up":
        server.hang_up(owner)
    else:
        owner.release(oid(2))
    assert client.read(client.recv_get().specs[0]) == (b"contents", b"")


@pytest.mark.defect("D22")
def test_waiting_restore_ends_with_its_connection(server):
    client, owner, other = server.client(), server.client(), server.client()
    spilled(client, oid(1), b"contents")
    owner.put(oid(2), MB)
    client.send_get([oid(1)], 50)
    client.send_get([oid(1)], -1)
    server.hang_up(client)
    time.sleep(0.1)
    owner.release(oid(2))
    owner.sync()
    assert other.contents(oid(1))[0] == b"contents"
