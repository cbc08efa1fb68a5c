"""pandarallel: data frames applied to in parallel.

It starts the server inside the pyarrow package itself, puts whole frames,
gets results that may be larger, deletes all that it finds listed, and kills
the server when it is initialized again.
"""

import math

import conftest
import numpy as np
import pandas as pd
import pyarrow.plasma as plasma
import pytest
from pandarallel import pandarallel


@pytest.fixture
def initialize():
    """Starts pandarallel with so many MB; its server is ended as it does it itself."""

    def initialize(megabytes=200):
        pandarallel.initialize(shm_size_mb=megabytes, nb_workers=2, verbose=0)
        conftest.wait_until(
            lambda: conftest.is_under_test(pandarallel.proc.pid), "the server under test runs"
        )
        return plasma.connect(path_of_the_store())

    yield initialize
    assert pandarallel.proc.poll() is None, "the server died"
    pandarallel.proc.kill()
    pandarallel.proc.wait()


def path_of_the_store():
    """The value of -s; pandarallel tells it to nobody."""
    with open("/proc/%d/cmdline" % pandarallel.proc.pid) as arguments:
        words = arguments.read().split("\0")
    return words[words.index("-s") + 1]


@pytest.fixture
def frame():
    generator = np.random.RandomState(1)
    return pd.DataFrame(
        {"a": generator.randint(1, 8, 20000), "b": generator.rand(20000), "c": ["x", "yy"] * 10000}
    )


def of_row(row):
    return math.sin(row.a**2) + math.sin(row.b**2) + len(row.c)


def test_apply(initialize, frame):
    client = initialize()
    expected = frame.apply(of_row, axis=1)
    pd.testing.assert_series_equal(frame.parallel_apply(of_row, axis=1), expected)
    assert client.list() == {}
    numbers = frame[["a", "b"]]
    result = numbers.parallel_apply(lambda column: column.sum(), axis=0)
    pd.testing.assert_series_equal(result, numbers.apply(lambda column: column.sum(), axis=0))


def test_apply_map(initialize, frame):
    initialize()
    numbers = frame[["a", "b"]]
    double = numbers.parallel_applymap(lambda value: value * 2)
    pd.testing.assert_frame_equal(double, numbers * 2)


def test_series(initialize, frame):
    initialize()
    for function in (frame.a.parallel_map, frame.a.parallel_apply):
        pd.testing.assert_series_equal(function(lambda a: a + 0.5), frame.a + 0.5)


def test_group_by(initialize, frame):
    initialize()
    result = frame.groupby("a").parallel_apply(lambda group: group.b.mean())
    expected = frame.groupby("a").apply(lambda group: group.b.mean())
    assert np.allclose(result.sort_index(), expected)


def test_results_larger_than_inputs(initialize, frame):
    initialize()
    result = frame.parallel_apply(lambda row: row.c * 100, axis=1)
    assert list(result) == list(frame.c * 100)


def test_many_rounds_in_little_memory(initialize, frame):
    """All rounds together need several times the memory of the store."""
    client = initialize(megabytes=10)
    for number in range(10):
        pd.testing.assert_series_equal(frame.b.parallel_map(lambda b: b + number), frame.b + number)
    assert client.list() == {}


def test_memory_that_is_too_small(initialize, frame):
    initialize(megabytes=1)
    large = pd.concat([frame] * 5)
    with pytest.raises(Exception, match="shared memory is too small"):
        large.parallel_apply(of_row, axis=1)
    assert frame.b.head(100).parallel_map(abs).sum() == frame.b.head(100).sum()


def test_initialized_again(initialize, frame):
    """The first server is killed; nothing of it disturbs the second."""
    initialize()
    first = pandarallel.proc
    initialize()
    assert first.wait(5) == -9 and first.pid != pandarallel.proc.pid
    assert frame.b.parallel_map(abs).equals(frame.b)
