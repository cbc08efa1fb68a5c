"""Capacity, the order of eviction, the 20 % rule, Evict and RefreshLRU.

Capacity is counted in bytes of data and metadata, without any rounding.
Recently used means recently released.
"""

import pytest

import wire
from wire import oid

MB = 1_000_000


# Capacity.


@pytest.mark.parametrize("m", [2048, 10_000, 123_457, 10_000_000])
def test_one_object_of_exactly_the_capacity(store, m):
    """It fits, again and again, whatever was there before; one byte more does not."""
    client = store(m).client()
    assert client.capacity() == m
    for number in range(10):
        assert client.create_and_seal(oid(number), bytes(m // 10 + number)) in (wire.OK, wire.FULL)
    for number in range(3):
        assert client.try_create(oid(100), m + 1).error == wire.FULL
        assert client.try_create(oid(100), m, 1).error == wire.FULL
        client.leave(oid(100), m - number, number)
        assert list(client.list()) == [oid(100)]
        assert client.delete([oid(100)]) == [wire.OK]


def test_ten_tenths_fit(store):
    client = store(10 * MB).client()
    for number in range(10):
        client.create(oid(number), MB - number, number)
    assert client.try_create(oid(10), 1).error == wire.FULL
    assert client.try_create(oid(10), 0, 1).error == wire.FULL
    assert len(client.list()) == 10


def test_many_odd_sizes_fill_the_store_exactly(store):
    """No per-object overhead counts: 1,000 objects of 1,001 bytes."""
    client = store(1_001_000).client()
    for number in range(1000):
        client.create(oid(number), 900, 101, evict=False)
    assert client.try_create(oid(1000), 1, evict=False).error == wire.FULL
    assert client.try_create(oid(1000), 1).error == wire.FULL
    client.create(oid(1000), 0)
    assert client.debug_values()["allocated bytes"] == "1001000"


def test_full_capacity_after_fragmentation(store):
    """Every second object goes; what they leave is usable in one piece."""
    client = store(10 * MB).client()
    for number in range(100):
        client.leave(oid(number), 100_000)
    assert client.delete([oid(n) for n in range(0, 100, 2)]) == [wire.OK] * 50
    spec = client.create(oid(200), 5 * MB, evict=False)
    client.write(spec, b"x" * (5 * MB))
    assert client.try_create(oid(201), 1, evict=False).error == wire.FULL
    assert len(client.list()) == 51


def test_empty_objects_cost_nothing(store):
    client = store(10_000).client()
    client.create(oid(0), 10_000)
    for number in range(1, 500):
        client.create(oid(number), evict=False)
    assert client.debug_values()["allocated bytes"] == "10000"


def test_without_eviction_nothing_is_evicted(store):
    client = store(MB).client()
    client.leave(oid(1), 600_000)
    assert client.try_create(oid(2), 600_000, evict=False).error == wire.FULL
    assert client.contains(oid(1))
    client.create(oid(2), 400_000, evict=False)
    assert client.contains(oid(1))


def test_held_objects_are_never_evicted(store):
    server = store(MB)
    owner, other = server.client(), server.client()
    owner.put(oid(1), 600_000)
    assert other.try_create(oid(2), 400_001).error == wire.FULL
    assert other.create_and_seal(oid(2), bytes(400_001)) == wire.FULL
    assert other.evict(MB) == 0
    owner.release(oid(1))
    owner.sync()
    other.create(oid(2), 400_001)
    assert not other.contains(oid(1))


def test_failed_create_leaves_no_id(store):
    client = store(MB).client()
    client.create(oid(1), MB)
    for _ in range(3):
        assert client.try_create(oid(2), 1).error == wire.FULL
    client.abort(oid(1))
    client.create(oid(2), 1)


# Which objects make room.


def test_the_eleventh_tenth_evicts_two(store):
    """At least a fifth of the capacity is evicted at a time."""
    client = store(10 * MB).client()
    for number in range(11):
        client.leave(oid(number), MB)
    assert client.present([oid(n) for n in range(11)]) == [oid(n) for n in range(2, 11)]


def test_one_large_object_satisfies_the_fifth(store):
    client = store(10 * MB).client()
    for number in range(3):
        client.leave(oid(number), 3 * MB)
    client.leave(oid(3), 1_500_000)
    assert client.present([oid(n) for n in range(4)]) == [oid(1), oid(2), oid(3)]


def test_a_fifth_is_rounded_down(store):
    """m = 14: required 1, target 2."""
    client = store(10_004).client()
    for number in range(5):
        client.leave(oid(number), 2000)
    client.leave(oid(5), 5)
    # 2,000 bytes are one fifth of 10,004, rounded down.
    assert client.present([oid(n) for n in range(6)]) == [oid(n) for n in range(1, 6)]


def test_required_bytes_above_a_fifth(store):
    client = store(10 * MB).client()
    for number in range(10):
        client.leave(oid(number), MB)
    client.leave(oid(10), 4_500_000)
    assert client.present([oid(n) for n in range(11)]) == [oid(n) for n in range(5, 11)]


def test_order_is_that_of_the_last_release(store):
    client = store(10 * MB).client()
    for number in range(5):
        client.put(oid(number), 2 * MB)
    for number in (3, 1, 4, 0, 2):
        client.release(oid(number))
    # Contains, List and a failed Create are no use; Get and Release are.
    client.present([oid(3)])
    client.list()
    assert client.try_create(oid(3), 1).error == wire.EXISTS
    client.hold(oid(1))
    client.release(oid(1))
    for step, gone in enumerate([3, 4, 0, 2, 1]):
        client.put(oid(10 + step), 2 * MB)
        assert not client.contains(oid(gone)), gone
        assert client.debug_values()["(global lru) num evictions"] == str(step + 1)


def test_create_and_seal_enters_as_most_recently_used(store):
    client = store(10 * MB).client()
    client.create_and_seal(oid(0), bytes(2 * MB))
    client.leave(oid(1), 2 * MB)
    client.create_and_seal(oid(2), bytes(2 * MB))
    assert client.evict(1) == 2 * MB
    assert client.present([oid(0), oid(1), oid(2)]) == [oid(1), oid(2)]
    assert client.evict(1) == 2 * MB
    assert client.present([oid(1), oid(2)]) == [oid(2)]


def test_closed_connection_releases_its_objects(store):
    server = store(MB)
    owner, other = server.client(), server.client()
    for number in range(10):
        owner.put(oid(number), 100_000)
    assert other.try_create(oid(20), 1).error == wire.FULL
    server.hang_up(owner)
    other.create(oid(20), MB)
    assert list(other.list()) == [oid(20)]


def test_evictions_are_notified(store):
    server = store(10 * MB)
    client = server.client()
    subscription = server.client().subscribe()
    for number in range(11):
        client.leave(oid(number), MB)
    assert subscription.events(10) == [(oid(n), False) for n in range(10)]
    assert subscription.events(3) == [(oid(0), True), (oid(1), True), (oid(10), False)]


def test_a_stream_of_objects_ten_times_the_capacity(store):
    """Contents stay right while memory is used over and over."""
    client = store(MB).client()
    for number in range(200):
        data = bytes([number]) * (20_000 + 397 * number)
        assert client.create_and_seal(oid(number), data, b"m%d" % number) == wire.OK
        assert client.contents(oid(number)) == (data, b"m%d" % number)
    used = sum(info.data_size + info.metadata_size for info in client.list().values())
    assert used <= MB
    assert client.debug_values()["allocated bytes"] == str(used)


# A request that can never be met.


@pytest.mark.defect("D20")
def test_create_larger_than_the_store_evicts_nothing(store):
    client = store(MB).client()
    for number in range(5):
        client.leave(oid(number), 100_000)
    assert client.try_create(oid(9), MB + 1).error == wire.FULL
    assert client.try_create(oid(9), 1, MB).error == wire.FULL
    assert client.create_and_seal(oid(9), bytes(MB + 1)) == wire.FULL
    assert len(client.list()) == 5


@pytest.mark.defect("D20")
def test_create_larger_than_what_can_be_freed_evicts_nothing(store):
    server = store(MB)
    owner, other = server.client(), server.client()
    owner.put(oid(0), 500_000)
    for number in range(1, 5):
        other.leave(oid(number), 100_000)
    assert other.try_create(oid(9), 500_001).error == wire.FULL
    assert other.create_and_seal(oid(9), bytes(500_001)) == wire.FULL
    assert len(other.list()) == 5
    other.create(oid(9), 500_000)
    assert set(other.list()) == {oid(0), oid(9)}


# Evict.


def test_evict_returns_what_it_freed(store):
    client = store().client()
    client.leave(oid(1), 900, 100)
    assert client.evict(1) == 1000
    assert client.evict(1) == 0
    for number, size in enumerate((996, 995, 994)):
        client.leave(oid(10 + number), size)
    assert client.evict(2000) == 996 + 995 + 994
    assert client.list() == {}


def test_evict_takes_no_more_than_needed(store):
    client = store().client()
    for number in range(10):
        client.leave(oid(number), 1000)
    assert client.evict(1001) == 2000
    assert client.evict(1000) == 1000
    assert client.present([oid(n) for n in range(10)]) == [oid(n) for n in range(3, 10)]


@pytest.mark.parametrize("num_bytes", [0, -1, -(2**63), 2**63])
def test_evict_of_no_bytes(store, num_bytes):
    client = store().client()
    client.leave(oid(1), 1000)
    assert client.evict(num_bytes) == 0
    assert client.contains(oid(1))


def test_evict_everything(store):
    client = store().client()
    for number in range(10):
        client.leave(oid(number), 1000)
    client.put(oid(20), 1000)
    assert client.evict(2**63 - 1) == 10_000
    assert list(client.list()) == [oid(20)]


def test_evict_takes_empty_objects_on_the_way(store):
    client = store().client()
    subscription = client.subscribe()
    for number in range(9):
        client.leave(oid(number))
    client.leave(oid(9), 10)
    client.leave(oid(10))
    assert subscription.events(11) == [(oid(n), False) for n in range(11)]
    assert client.evict(1) == 10
    assert subscription.events(10) == [(oid(n), True) for n in range(10)]
    assert list(client.list()) == [oid(10)]


def test_evict_keeps_no_fifth_rule_and_is_counted(store):
    client = store(10 * MB).client()
    for number in range(10):
        client.leave(oid(number), MB)
    assert client.evict(1) == MB
    values = client.debug_values()
    assert values["(global lru) num evictions"] == "1"
    assert values["(global lru) bytes evicted"] == str(MB)


# RefreshLRU.


def test_refresh(store):
    """Moved to the recently used end, in the order of the list."""
    client = store(10 * MB).client()
    for number in range(10):
        client.leave(oid(number), MB)
    client.refresh_lru([oid(3), oid(1), oid(77)])
    evicted = []
    for _ in range(10):
        before = client.present([oid(n) for n in range(10)])
        assert client.evict(1) == MB
        after = client.present([oid(n) for n in range(10)])
        evicted += [object_id for object_id in before if object_id not in after]
    assert evicted == [oid(n) for n in (0, 2, 4, 5, 6, 7, 8, 9, 3, 1)]


def test_refresh_with_pressure(store):
    client = store(10 * MB).client()
    for number in range(11):
        client.leave(oid(number), MB)
    client.refresh_lru([oid(2), oid(3)])
    client.leave(oid(11), MB)
    client.leave(oid(12), MB)
    assert client.present([oid(n) for n in range(13)]) == [
        oid(n) for n in (2, 3, 6, 7, 8, 9, 10, 11, 12)
    ]


def test_refresh_ignores_held_and_unsealed_objects(store):
    client = store().client()
    client.put(oid(1), 10)
    client.create(oid(2), 10)
    client.refresh_lru([oid(1), oid(2), oid(3)])
    client.refresh_lru([])
    assert client.evict(1) == 0
    client.release(oid(1))
    assert client.evict(1) == 10
