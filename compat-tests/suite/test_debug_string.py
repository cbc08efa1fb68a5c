"""GetDebugString, to the letter."""

import pytest

import wire
from wire import oid

TEXT = """num clients with quota: {clients}
quota map size: {quota}
pinned quota map size: {pinned_quota}
allocated bytes: {allocated}
allocation limit: {limit}
pinned bytes: {pinned}
(global lru) capacity: {capacity}
(global lru) used: {used}%
(global lru) num objects: {objects}
(global lru) num evictions: {evictions}
(global lru) bytes evicted: {evicted}"""
LOCAL = """
({name}) capacity: {capacity}
({name}) used: {used}%
({name}) num objects: {objects}
({name}) num evictions: {evictions}
({name}) bytes evicted: {evicted}"""


def text(**values):
    start = dict.fromkeys(
        "clients quota pinned_quota allocated pinned used objects evictions evicted".split(), 0
    )
    return TEXT.format(**{**start, "limit": 10_000_000, "capacity": 10_000_000, **values})


def local(name, capacity, used, objects, evictions=0, evicted=0):
    return LOCAL.format(
        name=name,
        capacity=capacity,
        used=used,
        objects=objects,
        evictions=evictions,
        evicted=evicted,
    )


def test_empty_store(store):
    assert store().client().debug_string() == text()


def test_held_and_released(store):
    client = store().client()
    client.put(oid(1), 200, 14)
    assert client.debug_string() == text(allocated=214, pinned=214)
    client.release(oid(1))
    assert client.debug_string() == text(allocated=214, objects=1, used="0.00214")
    client.hold(oid(1))
    assert client.debug_string() == text(allocated=214, pinned=214)


def test_evictions(store):
    client = store().client()
    for number in range(3):
        client.leave(oid(number), 1000)
    client.evict(1001)
    assert client.debug_string() == text(
        allocated=1000, objects=1, used="0.01", evictions=2, evicted=2000
    )


def test_one_client_with_quota(store):
    """The example of the quota tests: 5 MiB, two objects, one of them held."""
    client = store().client()
    client.set_options(b"nm", 5 << 20)
    client.put(oid(1), 214)
    client.leave(oid(2), 300)
    assert client.debug_string() == text(
        clients=1,
        quota=2,
        pinned_quota=1,
        allocated=514,
        pinned=214,
        capacity=10_000_000 - (5 << 20),
        used="52.4288",
    ) + local("nm", 5 << 20, "0.00980377", 2)


def test_quota_evictions(store):
    client = store().client()
    client.set_options(b"a client", 1000)
    client.leave(oid(1), 600)
    client.leave(oid(2), 600)
    assert client.debug_string() == text(
        clients=1, quota=1, allocated=600, capacity=9_999_000, used="0.01"
    ) + local("a client", 1000, 60, 1, 1, 600)


def test_two_clients_with_quota(store):
    """Their order is not specified."""
    server = store()
    first, second = server.client(), server.client()
    first.set_options(b"x", 1000)
    second.set_options(b"y", 2000)
    start = text(clients=2, capacity=9_997_000, used="0.03")
    x, y = local("x", 1000, 0, 0), local("y", 2000, 0, 0)
    assert first.debug_string() in (start + x + y, start + y + x)


def test_anonymous_client_without_quota_has_no_lines(store):
    server = store()
    server.client().sync()
    assert "anonymous" not in server.client().debug_string()


@pytest.mark.parametrize(
    "used, shown",
    [
        (1, "1e-05"),
        (12, "0.00012"),
        (1_234_567, "12.3457"),
        (5_000_000, "50"),
        (9_999_999, "100"),
        (9_999_990, "99.9999"),
        (10_000_000, "100"),
        (4_194_310, "41.9431"),
    ],
)
def test_percentages_have_six_significant_digits(store, used, shown):
    client = store().client()
    client.leave(oid(1), used)
    assert client.debug_values()["(global lru) used"] == shown + "%"


@pytest.mark.defect("D17")
def test_pinned_bytes_after_abort(store):
    client = store().client()
    client.create(oid(1), 100)
    client.abort(oid(1))
    assert client.debug_string() == text()


@pytest.mark.defect("D17")
def test_pinned_bytes_after_the_end_of_a_creator(store):
    server = store()
    creator, other = server.client(), server.client()
    creator.create(oid(1), 100)
    creator.put(oid(2), 1000)
    server.hang_up(creator)
    assert other.debug_string() == text(allocated=1000, objects=1, used="0.01")


@pytest.mark.defect("D17")
def test_pinned_bytes_after_a_pending_deletion(store):
    client = store().client()
    client.put(oid(1), 100)
    client.delete([oid(1)])
    client.release(oid(1))
    assert client.debug_string() == text()


@pytest.mark.defect("D17")
def test_pinned_bytes_after_a_rolled_back_batch(store):
    client = store().client()
    assert client.batch([oid(1), oid(1)], [b"x", b"x"]) == wire.EXISTS
    assert client.debug_string() == text()
