"""Puts and gets arrays through the plain Python client, and prints how long that takes.

    python_client.py SOCKET SECONDS BYTES...

One line of JSON: for each size the medians of put and get in microseconds. What
is got is compared with what was put, once for each size.
"""

import json
import statistics
import sys
import time

import numpy
import pyarrow.plasma as plasma

MIN_TURNS = 3


def measure(client, size, seconds):
    array = numpy.random.default_rng(size).integers(0, 255, size, dtype=numpy.uint8)
    puts, gets = [], []
    begun = time.perf_counter()
    # The first turn is not counted.
    while len(puts) < MIN_TURNS + 1 or time.perf_counter() - begun < seconds:
        number = plasma.ObjectID.from_random()
        start = time.perf_counter()
        client.put(array, object_id=number)
        between = time.perf_counter()
        result = client.get(number)
        end = time.perf_counter()
        if not puts and not numpy.array_equal(array, result):
            sys.exit("an array has changed on its way")
        puts.append(between - start)
        gets.append(end - between)
        del result
        client.delete([number])
    return {
        "operations": len(puts) - 1,
        "put_us": statistics.median(puts[1:]) * 1e6,
        "get_us": statistics.median(gets[1:]) * 1e6,
    }


def main():
    path, seconds, *sizes = sys.argv[1:]
    client = plasma.connect(path)
    print(json.dumps({size: measure(client, int(size), float(seconds)) for size in sizes}))


if __name__ == "__main__":
    main()
