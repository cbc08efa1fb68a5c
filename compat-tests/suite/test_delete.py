"""Delete: codes, deferred removal, notifications; and Release."""

import pytest

import wire
from wire import oid

ID = oid(1)


def test_codes(store):
    client = store().client()
    client.leave(oid(1), 10)
    client.put(oid(2), 10)
    client.create(oid(3), 10)
    codes = client.delete([oid(9), oid(3), oid(2), oid(1)])
    assert codes == [wire.NOT_FOUND, wire.NOT_SEALED, wire.IN_USE, wire.OK]
    assert set(client.list()) == {oid(2), oid(3)}


def test_empty_list(store):
    assert store().client().delete([]) == []


def test_delete_without_any_vector(store):
    """Count 0 needs no object_ids."""
    table = store().client().request(wire.DELETE, wire.encode())
    assert table.scalar(0, "i") == 0
    assert (table.strings(1), table.scalars(2, "i")) == ([], [])


def test_duplicates(store):
    client = store().client()
    client.leave(ID, 10)
    assert client.delete([ID, ID, ID]) == [wire.OK, wire.NOT_FOUND, wire.NOT_FOUND]


def test_any_connection_may_delete(store):
    server = store()
    client, other = server.client(), server.client()
    client.leave(ID, 10)
    client.sync()
    assert other.delete([ID]) == [wire.OK]
    assert not client.contains(ID)


def test_removed_at_the_last_release(store):
    """Until then the object stays fully usable; Get prolongs its life."""
    server = store()
    owner, reader, other = (server.client() for _ in range(3))
    subscription = other.subscribe()
    owner.put(ID, 10, 3)
    assert subscription.events(1) == [(ID, False)]
    reader.hold(ID)
    assert other.delete([ID]) == [wire.IN_USE]
    owner.release(ID)
    owner.sync()
    assert other.contains(ID)
    assert other.hold(ID).data_size == 10
    reader.release(ID)
    reader.sync()
    assert other.contains(ID) and not subscription.ready()
    other.release(ID)
    assert not other.contains(ID)
    entry = subscription.next_one()
    assert entry == wire.ObjectInfo(ID, 0, 0, 0, 0, 0, None, True)
    assert other.list() == {}


def test_removed_at_the_end_of_the_holding_connection(store):
    server = store()
    owner, other = server.client(), server.client()
    subscription = other.subscribe()
    owner.put(ID, 10)
    assert other.delete([ID]) == [wire.IN_USE]
    server.hang_up(owner)
    assert not other.contains(ID)
    assert subscription.events(2) == [(ID, False), (ID, True)]


def test_unsealed_object_is_removed_after_seal_and_release(store):
    server = store()
    owner, other = server.client(), server.client()
    subscription = other.subscribe()
    owner.create(ID, 10)
    assert other.delete([ID]) == [wire.NOT_SEALED]
    assert list(other.list()) == [ID]
    owner.seal(ID)
    assert other.contains(ID)
    owner.release(ID)
    owner.sync()
    assert not other.contains(ID)
    assert subscription.events(2) == [(ID, False), (ID, True)]


def test_pending_twice(store):
    client = store().client()
    client.put(ID, 10)
    assert client.delete([ID, ID]) == [wire.IN_USE, wire.IN_USE]
    assert client.delete([ID]) == [wire.IN_USE]
    client.release(ID)
    assert client.delete([ID]) == [wire.NOT_FOUND]


def test_deleted_memory_can_be_used_at_once(store):
    client = store(1_000_000).client()
    for _ in range(20):
        client.put(ID, 1_000_000, evict=False)
        client.release(ID)
        assert client.delete([ID]) == [wire.OK]


def test_replace_under_the_same_id(store):
    server = store()
    client, reader = server.client(), server.client()
    for number in range(30):
        data = b"version %d" % number
        assert client.create_and_seal(ID, data) == wire.OK
        assert reader.contents(ID)[0] == data
        reader.sync()
        assert client.delete([ID]) == [wire.OK]


def test_many_ids_in_one_delete(store):
    client = store().client()
    ids = [oid(n) for n in range(5000)]
    client.batch(ids[::2], [b"x"] * 2500)
    assert client.delete(ids) == [wire.OK, wire.NOT_FOUND] * 2500
    assert client.list() == {}


@pytest.mark.defect("D21")
def test_pending_mark_is_forgotten_with_an_aborted_object(store):
    client = store().client()
    client.create(ID, 10)
    assert client.delete([ID]) == [wire.NOT_SEALED]
    client.abort(ID)
    client.leave(ID, 20)
    assert client.contains(ID)


@pytest.mark.defect("D21")
def test_pending_mark_is_forgotten_with_the_creators_connection(store):
    server = store()
    creator, other = server.client(), server.client()
    creator.create(ID, 10)
    assert other.delete([ID]) == [wire.NOT_SEALED]
    server.hang_up(creator)
    other.leave(ID, 20)
    assert other.contains(ID)


# Release.


@pytest.mark.defect("D5")
def test_release_of_an_unknown_id_is_ignored(store):
    client = store().client()
    client.release(ID)
    client.sync()


@pytest.mark.defect("D5")
def test_release_without_a_hold_is_ignored(store):
    server = store()
    owner, other = server.client(), server.client()
    owner.put(ID, 10)
    other.release(ID)
    other.sync()
    assert other.list()[ID].ref_count == 1


@pytest.mark.defect("D5")
def test_second_release_is_ignored(store):
    client = store().client()
    client.put(ID, 10)
    client.release(ID)
    client.release(ID)
    client.sync()
    assert client.contains(ID)
    assert client.list()[ID].ref_count == 0


@pytest.mark.defect("D6")
def test_release_of_an_unsealed_object_makes_it_not_evictable(store):
    client = store(1_000_000).client()
    client.create(ID, 600_000)
    client.release(ID)
    assert client.evict(1) == 0
    assert client.create_and_seal(oid(2), bytes(600_000)) == wire.FULL
    assert list(client.list()) == [ID]
    assert not client.list()[ID].sealed
    # It becomes an ordinary object with its Seal.
    assert client.seal(ID) == wire.OK
    assert client.contains(ID)
    assert client.create_and_seal(oid(2), bytes(600_000)) == wire.OK
    assert not client.contains(ID)


@pytest.mark.defect("D6")
def test_released_unsealed_object_goes_with_its_creators_connection(store):
    server = store()
    creator, other = server.client(), server.client()
    creator.create(ID, 10)
    creator.release(ID)
    creator.sync()
    server.hang_up(creator)
    assert other.list() == {}
    assert other.debug_values()["allocated bytes"] == "0"
