"""The service that test_mosec.py sends requests to: three stages, and a store between them."""

import os

import numpy as np
from mosec import Server, Worker
from mosec.mixin import PlasmaShmIPCMixin
from pyarrow import plasma

MEMORY = 20000000


class Produce(PlasmaShmIPCMixin, Worker):
    def forward(self, data):
        return np.full(data["size"], data["value"], dtype=np.float64)


class Double(PlasmaShmIPCMixin, Worker):
    """Gets several requests at once if they wait."""

    def forward(self, data):
        return [array * 2 for array in data]


class Add(PlasmaShmIPCMixin, Worker):
    def forward(self, data):
        return {"sum": float(data.sum())}


def main():
    with plasma.start_plasma_store(plasma_store_memory=MEMORY) as (path, process):
        with open(os.environ["STORE_FILE"] + ".new", "w") as file:
            file.write("%d %s" % (process.pid, path))
        os.rename(file.name, os.environ["STORE_FILE"])
        PlasmaShmIPCMixin.set_plasma_path(path)
        server = Server()
        server.register_daemon("plasma_server", process)
        server.append_worker(Produce, num=2)
        server.append_worker(Double, max_batch_size=4, max_wait_time=5)
        server.append_worker(Add, num=2)
        server.run()


if __name__ == "__main__":
    main()
