"""A client of one release, which does what it is told line by line.

Started by `matrix`, once in each environment, with the path of the store's
socket. A request is a word and an argument; the answer is one line of JSON.
"""

import json
import sys
import warnings

warnings.simplefilter("ignore")
import numpy as np  # noqa: E402
from pyarrow import plasma  # noqa: E402

SIZE = 1000


def object_id(name):
    return plasma.ObjectID(name.encode().ljust(20, b"\0"))


def metadata(name):
    return b"metadata of " + name.encode()


def contents(name):
    return bytes([sum(name.encode()) % 256]) * SIZE


class Client:
    """One connection that asks, and one that is subscribed."""

    def __init__(self, path):
        self.client = plasma.connect(path)
        self.subscriber = plasma.connect(path)
        self.subscriber.subscribe()

    def create(self, name):
        buffer = self.client.create(object_id(name), SIZE, metadata(name))
        np.frombuffer(buffer, dtype="uint8")[:] = contents(name)[0]
        self.client.seal(object_id(name))

    def create_and_seal(self, name):
        self.client.create_and_seal(object_id(name), contents(name), metadata(name))

    def read(self, name):
        """Whether this object is as another release made it."""
        [buffer] = self.client.get_buffers([object_id(name)], timeout_ms=5000)
        [found] = self.client.get_metadata([object_id(name)])
        return (buffer.to_pybytes(), found.to_pybytes()) == (contents(name), metadata(name))

    def delete(self, name):
        self.client.delete([object_id(name)])

    def notifications(self, number):
        """The next ones: name, size of data and of metadata; -1 for a deletion."""
        found = [self.subscriber.get_next_notification() for _ in range(int(number))]
        return [(name.binary().rstrip(b"\0").decode(), *sizes) for name, *sizes in found]

    def listing(self, _):
        keys = ("data_size", "metadata_size", "ref_count", "state")
        return sorted(
            [name.binary().hex(), *(entry[key] for key in keys)]
            for name, entry in self.client.list().items()
        )


def main(path):
    client = Client(path)
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        request, argument = line.split()
        print(json.dumps(getattr(client, request)(argument)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
