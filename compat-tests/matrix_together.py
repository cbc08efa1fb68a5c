"""Clients of several releases on one store: what one makes, all others read."""

import contextlib
import json
import subprocess
import tempfile
import threading
import time
from pathlib import Path

CLIENT = Path(__file__).with_name("matrix_client.py")
LIMIT = 120


class Peer:
    """The client of one release, in a process of its own."""

    def __init__(self, release, python, path):
        self.release = release
        self.process = subprocess.Popen(
            [python, str(CLIENT), path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            universal_newlines=True,
        )

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise EOFError("the client of %s ended" % self.release)
        return json.loads(line)

    def ask(self, request, argument):
        self.process.stdin.write("%s %s\n" % (request, argument))
        self.process.stdin.flush()
        return self.answer()


def problems(server, pythons):
    """What goes wrong if these releases, a dict of interpreters, share a store."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="matrix-"))
        path = str(Path(folder) / "plasma")
        processes = []

        def kill():
            for process in processes:
                process.kill()

        def reap():
            kill()
            for process in processes:
                process.wait()

        stack.callback(reap)
        # Whoever waits for an answer then is told that there is none.
        watchdog = threading.Timer(LIMIT, kill)
        watchdog.start()
        stack.callback(watchdog.cancel)
        command = [str(server), "-s", path, "-m", "10000000"]
        processes.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))
        wait_for(path)
        peers = []
        for release, python in pythons.items():
            peers.append(Peer(release, python, path))
            processes.append(peers[-1].process)
        try:
            for peer in peers:
                peer.answer()
            return list(share(peers))
        except (EOFError, BrokenPipeError) as end:
            return [str(end)]


def wait_for(path):
    deadline = time.monotonic() + 10
    while not Path(path).exists() and time.monotonic() < deadline:
        time.sleep(0.02)


def share(peers):
    """Have each make objects that all read; yields what goes wrong."""
    expected = []
    for maker in peers:
        for request in ("create", "create_and_seal"):
            name = "%s-%s" % (maker.release, request[-4:])
            maker.ask(request, name)
            expected.append([name, 1000, len("metadata of " + name)])
            for reader in peers:
                if not reader.ask("read", name):
                    yield "%s reads wrongly what %s made" % (reader.release, maker.release)
    listings = {json.dumps(peer.ask("listing", "-")) for peer in peers}
    if len(listings) != 1:
        yield "the releases list the store differently"
    # Each deletes what another one made.
    for maker, deleter in zip(peers, reversed(peers)):
        name = maker.release + "-eate"
        deleter.ask("delete", name)
        expected.append([name, -1, -1])
    for peer in peers:
        if peer.ask("notifications", len(expected)) != expected:
            yield "%s has got wrong notifications" % peer.release
