"""Quotas of single connections (SetOptions)."""

import pytest

import wire
from wire import oid

MB = 1_000_000
MIB = 1 << 20


def ids(*numbers):
    return [oid(number) for number in numbers]


# Rule 1 and 2: what is accepted, and what it does to the global share.


@pytest.mark.parametrize("quota, error", [(7 * MB, wire.OK), (7 * MB + 1, wire.FULL)])
def test_seventy_percent_is_the_limit(store, quota, error):
    client = store(10 * MB).client()
    assert client.set_options(b"a", quota) == error
    left = 10 * MB - (quota if error == wire.OK else 0)
    assert client.debug_values()["(global lru) capacity"] == str(left)


def test_the_limit_holds_for_the_sum(store):
    server = store(10 * MB)
    first, second, third = (server.client() for _ in range(3))
    assert first.set_options(b"a", 5 * MB) == wire.OK
    assert second.set_options(b"b", 2 * MB + 1) == wire.FULL
    assert second.set_options(b"b", 2 * MB) == wire.OK
    assert third.set_options(b"c", 1) == wire.FULL
    assert third.debug_values()["(global lru) capacity"] == str(3 * MB)


def test_only_one_quota_per_connection(store):
    client = store(10 * MB).client()
    assert client.set_options(b"a", MB) == wire.OK
    assert client.set_options(b"a", MB) == wire.FULL
    assert client.debug_values()["(global lru) capacity"] == str(9 * MB)


def test_refused_quota_may_be_tried_again(store):
    client = store(10 * MB).client()
    assert client.set_options(b"a", 8 * MB) == wire.FULL
    assert client.set_options(b"a", 5 * MB) == wire.OK


def test_the_label_is_the_name_given_with_the_accepted_quota(store):
    client = store(10 * MB).client()
    assert client.set_options(b"first", 8 * MB) == wire.FULL
    assert client.set_options(b"second", MB) == wire.OK
    assert client.set_options(b"third", MB) == wire.FULL
    labels = [name for name in client.debug_values() if name.endswith(") capacity")]
    assert labels == ["(global lru) capacity", "(second) capacity"]


def test_an_empty_name(store):
    client = store(10 * MB).client()
    assert client.set_options(b"", MB) == wire.OK
    assert "() capacity" in client.debug_values()


@pytest.mark.parametrize(
    "quota",
    [
        pytest.param(-1, marks=pytest.mark.defect("D19")),
        pytest.param(-MB, marks=pytest.mark.defect("D19")),
        # Refused by the reference too: its sum overflows.
        -(2**63),
    ],
)
def test_negative_quota_is_refused(store, quota):
    client = store(10 * MB).client()
    assert client.set_options(b"a", quota) == wire.FULL
    assert client.debug_values()["(global lru) capacity"] == str(10 * MB)
    assert client.debug_values()["num clients with quota"] == "0"


def test_quota_zero_admits_only_empty_objects(store):
    client = store(10 * MB).client()
    assert client.set_options(b"a", 0) == wire.OK
    assert client.try_create(oid(1), 1).error == wire.FULL
    client.create(oid(1))


def test_nothing_is_evicted_when_a_quota_is_set(store):
    client = store(10 * MB).client()
    for number in range(10):
        client.leave(oid(number), MB)
    assert client.set_options(b"a", 7 * MB) == wire.OK
    assert len(client.list()) == 10


# Rule 3: what is accounted to the queue of the connection.


def test_older_objects_stay_global(store):
    client = store(10 * MB).client()
    client.leave(oid(1), MB)
    client.set_options(b"a", 5 * MB)
    client.leave(oid(2), MB)
    values = client.debug_values()
    assert (values["quota map size"], values["(global lru) num objects"]) == ("1", "1")
    assert client.evict(10 * MB) == MB
    assert list(client.list()) == ids(2)


def test_held_or_not_all_of_its_objects_are_accounted(store):
    client = store(10 * MB).client()
    client.set_options(b"a", 5 * MIB)
    client.leave(oid(1), 3 * MIB)
    client.put(oid(2), 2 * MIB)
    values = client.debug_values()
    assert (values["quota map size"], values["pinned quota map size"]) == ("2", "1")
    assert (values["(a) num objects"], values["(a) used"]) == ("2", "100%")


# Rule 4: making room within the quota.


def test_more_than_the_quota_never_fits(store):
    """Error 3, and nothing is evicted for it."""
    client = store(10 * MB).client()
    client.set_options(b"a", 5 * MB)
    client.leave(oid(1), 3 * MB)
    assert client.try_create(oid(2), 5 * MB + 1).error == wire.FULL
    assert client.create_and_seal(oid(2), bytes(5 * MB + 1)) == wire.FULL
    assert list(client.list()) == ids(1)
    client.create(oid(2), 5 * MB)


def test_its_own_oldest_objects_make_room(store):
    client = store(10 * MB).client()
    client.set_options(b"a", 5 * MB)
    for number in range(5):
        client.leave(oid(number), MB)
    # Get and Release do not reorder the queue.
    client.hold(oid(0))
    client.release(oid(0))
    client.leave(oid(5), 1_500_000)
    assert client.present(ids(*range(6))) == ids(2, 3, 4, 5)


def test_refresh_reorders_the_queue(store):
    client = store(10 * MB).client()
    client.set_options(b"a", 5 * MB)
    for number in range(5):
        client.leave(oid(number), MB)
    client.refresh_lru(ids(0, 1))
    client.leave(oid(5), 2 * MB)
    assert client.present(ids(*range(6))) == ids(0, 1, 4, 5)


def test_held_objects_are_demoted(store):
    """They leave the queue, and enter the global LRU at their last release."""
    server = store(10 * MB)
    client, other = server.client(), server.client()
    client.set_options(b"a", 5 * MB)
    client.put(oid(1), 3 * MB)
    client.put(oid(2), 3 * MB)
    assert client.present(ids(1, 2)) == ids(1, 2)
    values = client.debug_values()
    assert (values["quota map size"], values["pinned quota map size"]) == ("1", "1")
    assert (values["(a) num objects"], values["(global lru) num objects"]) == ("1", "0")
    client.release(oid(1))
    client.release(oid(2))
    values = client.debug_values()
    assert (values["(global lru) num objects"], values["pinned quota map size"]) == ("1", "0")
    for number in range(10, 20):
        other.leave(oid(number), 3 * MB)
    assert client.present(ids(1, 2)) == ids(2)


def test_a_quota_does_not_spare_the_global_store(store):
    """Normal allocation follows: the store is full, so global objects go."""
    server = store(10 * MB)
    client, other = server.client(), server.client()
    for number in range(10):
        other.leave(oid(number), MB)
    other.sync()
    client.set_options(b"a", 5 * MB)
    client.leave(oid(20), MB)
    assert client.present(ids(0, 1, 2, 20)) == ids(2, 20)


# Rule 5: no quota check without eviction, in the reference.


@pytest.mark.defect("D19")
def test_quota_holds_without_eviction_too(store):
    client = store(10 * MB).client()
    client.set_options(b"a", 2 * MB)
    assert client.try_create(oid(1), 2 * MB + 1, evict=False).error == wire.FULL
    client.leave(oid(1), 1_500_000, evict=False)
    assert client.try_create(oid(2), 500_001, evict=False).error == wire.FULL
    assert client.create_and_seal(oid(2), bytes(500_001), evict=False) == wire.FULL
    # Without eviction, the connection's own objects stay as well.
    assert client.contains(oid(1))
    client.create(oid(2), 500_000, evict=False)


def test_created_without_eviction_is_accounted(store):
    client = store(10 * MB).client()
    client.set_options(b"a", 2 * MB)
    client.leave(oid(1), 1_500_000, evict=False)
    values = client.debug_values()
    assert (values["quota map size"], values["(a) used"]) == ("1", "75%")


# Rule 6: isolation in both directions.


def test_safe_from_other_connections_and_from_evict(store):
    server = store(10 * MB)
    client, other = server.client(), server.client()
    client.set_options(b"a", 5 * MIB)
    client.leave(oid(1), 3 * MIB)
    client.sync()
    for number in range(10, 20):
        other.leave(oid(number), 3 * MIB)
    assert client.contains(oid(1))
    other.evict(10 * MB)
    assert list(client.list()) == ids(1)


def test_without_quota_other_connections_evict(store):
    server = store(10 * MB)
    client, other = server.client(), server.client()
    client.leave(oid(1), 3 * MIB)
    client.sync()
    for number in range(10, 20):
        other.leave(oid(number), 3 * MIB)
    assert not client.contains(oid(1))


def test_protects_others(store):
    server = store(10 * MB)
    client, other = server.client(), server.client()
    other.leave(oid(1), 3 * MIB)
    other.sync()
    client.set_options(b"a", 5 * MIB)
    for number in range(10, 20):
        client.leave(oid(number), 3 * MIB)
    assert client.contains(oid(1))


# Rule 7: the end of the connection.


def test_the_quota_returns_with_the_connection(store):
    server = store(10 * MB)
    client, other = server.client(), server.client()
    client.set_options(b"a", 5 * MIB)
    client.leave(oid(1), 3 * MIB)
    client.leave(oid(2), MIB)
    client.sync()
    server.hang_up(client)
    values = other.debug_values()
    assert values["num clients with quota"] == "0"
    assert (values["quota map size"], values["pinned quota map size"]) == ("0", "0")
    assert values["(global lru) num objects"] == "2"
    assert values["(global lru) capacity"] == "10000000"
    assert values["(global lru) used"] == "41.943%"
    assert other.set_options(b"b", 7 * MB) == wire.OK


def test_queue_members_become_evictable(store):
    server = store(10 * MB)
    client, other = server.client(), server.client()
    client.set_options(b"a", 5 * MB)
    for number in range(3):
        client.leave(oid(number), MB)
    client.sync()
    assert other.evict(1) == 0
    server.hang_up(client)
    assert other.present(ids(0, 1, 2)) == ids(0, 1, 2)
    assert other.evict(3 * MB) == 3 * MB
    assert other.list() == {}


def test_members_held_by_others_follow_at_their_release(store):
    server = store(10 * MB)
    client, other = server.client(), server.client()
    client.set_options(b"a", 5 * MB)
    client.leave(oid(1), MB)
    other.hold(oid(1))
    server.hang_up(client)
    values = other.debug_values()
    assert (values["quota map size"], values["(global lru) num objects"]) == ("0", "0")
    assert other.evict(1) == 0
    other.release(oid(1))
    assert other.evict(1) == MB


# Deletion within a quota.


def test_delete_gives_the_quota_back(store):
    client = store(10 * MB).client()
    client.set_options(b"a", 2 * MB)
    for number in range(5):
        client.leave(oid(number), 2 * MB)
        assert client.delete(ids(number)) == [wire.OK]
        values = client.debug_values()
        assert (values["quota map size"], values["(a) num objects"]) == ("0", "0")
        assert values["(a) num evictions"] == "0"


@pytest.mark.defect("D18")
def test_abort_gives_the_quota_back(store):
    client = store(10 * MB).client()
    client.set_options(b"a", 2 * MB)
    for _ in range(3):
        client.create(oid(1), 2 * MB, evict=False)
        client.abort(oid(1))
        values = client.debug_values()
        assert (values["quota map size"], values["pinned quota map size"]) == ("0", "0")
        assert (values["(a) num objects"], values["(a) used"]) == ("0", "0%")


@pytest.mark.defect("D18")
def test_pending_deletion_gives_the_quota_back(store):
    client = store(10 * MB).client()
    client.set_options(b"a", 2 * MB)
    for _ in range(3):
        client.put(oid(1), 2 * MB)
        assert client.delete(ids(1)) == [wire.IN_USE]
        client.release(oid(1))
        values = client.debug_values()
        assert (values["quota map size"], values["pinned quota map size"]) == ("0", "0")
        assert (values["(a) num objects"], values["(a) used"]) == ("0", "0%")


@pytest.mark.defect("D18")
def test_rolled_back_batch_gives_the_quota_back(store):
    client = store(10 * MB).client()
    client.set_options(b"a", 2 * MB)
    for _ in range(3):
        assert client.batch(ids(1, 2, 1), [bytes(500_000)] * 3) == wire.EXISTS
        assert client.debug_values()["quota map size"] == "0"
    assert client.batch(ids(1, 2), [bytes(MB)] * 2) == wire.OK
