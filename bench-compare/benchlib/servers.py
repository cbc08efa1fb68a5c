"""Servers that run, and clients against them."""

import ctypes
import json
import os
import signal
import socket
import subprocess
import time

START_LIMIT_S = 120
STOP_LIMIT_S = 10
LOAD_LIMIT_S = 180
PR_SET_PDEATHSIG = 1
# Without CPU time for so long, a server has done what it does after its start.
QUIET_S = 0.3

libc = ctypes.CDLL(None, use_errno=True)


class Trouble(Exception):
    """Something did not work; measurements that need it have no value."""


def child_setup(processors):
    """What a child does before it becomes its program: ends with us, and keeps to its places."""

    def setup():
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if processors:
            os.sched_setaffinity(0, processors)

    return setup


def cpu_ns(pid):
    """Processor time of all threads of a process, in nanoseconds."""
    total = 0
    try:
        for thread in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/schedstat" % (pid, thread)) as file:
                total += int(file.read().split()[0])
        return total
    except OSError:
        with open("/proc/%d/stat" % pid) as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 10**9 // os.sysconf("SC_CLK_TCK")


class Kind:
    """One of the servers that are compared."""

    def __init__(self, name, program, flags=(), processors=None):
        self.name = name
        self.program = program
        self.flags = list(flags)
        self.processors = processors


class Server:
    """A server with a store of its own; use it in a `with`."""

    def __init__(self, kind, folder, capacity):
        self.kind = kind
        self.socket = os.path.join(folder, kind.name)
        self.log_path = self.socket + ".log"
        for path in (self.socket, self.log_path):
            if os.path.exists(path):
                os.unlink(path)
        command = [str(kind.program), "-m", str(capacity), "-s", self.socket] + kind.flags
        with open(self.log_path, "wb") as log:
            try:
                self.process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    preexec_fn=child_setup(kind.processors),
                )
            except OSError as error:
                raise Trouble("cannot start %s: %s" % (kind.program, error)) from None
        try:
            self.await_ready()
        except BaseException:
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def await_ready(self):
        deadline = time.monotonic() + START_LIMIT_S
        while not self.accepts():
            if self.process.poll() is not None:
                raise Trouble("%s does not start: %s" % (self.kind.name, self.last_words()))
            if time.monotonic() > deadline:
                raise Trouble("%s is not ready in time" % self.kind.name)
            time.sleep(0.005)

    def accepts(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            try:
                probe.connect(self.socket)
            except OSError:
                return False
        return True

    def await_quiet(self):
        """Waits until the server does nothing any more, for instance touches no memory."""
        deadline = time.monotonic() + START_LIMIT_S
        before = cpu_ns(self.process.pid)
        while time.monotonic() < deadline:
            time.sleep(QUIET_S)
            now = cpu_ns(self.process.pid)
            if now - before < 10**9 * QUIET_S / 100:
                return
            before = now
        raise Trouble("%s does not come to rest" % self.kind.name)

    def last_words(self):
        with open(self.log_path, errors="replace") as log:
            return " ".join(log.read()[-400:].split()) or "it says nothing"

    def stop(self):
        """Ends the server; its memory is free again when this returns."""
        process = self.process
        # The reference may lose a signal that comes just before it goes to sleep.
        deadline = time.monotonic() + STOP_LIMIT_S
        while process.poll() is None and time.monotonic() < deadline:
            process.terminate()
            try:
                process.wait(0.5)
            except subprocess.TimeoutExpired:
                pass
        if process.poll() is None:
            process.kill()
            process.wait()


class Clients:
    """Starts clients, of either kind."""

    def __init__(self, loadgen, python, python_client, processors=None):
        self.loadgen = loadgen
        self.python = python
        self.python_client = python_client
        self.processors = processors

    def load(self, server, mode, **options):
        """Runs the load generator; its options by their names, with _ for -."""
        command = [str(self.loadgen), mode, "--socket", server.socket]
        command += ["--server-pid", str(server.process.pid)]
        for name, value in options.items():
            command += ["--" + name.replace("_", "-"), str(value)]
        return self.run(server, command)

    def python_load(self, server, seconds, sizes):
        command = [str(self.python), "-W", "ignore", str(self.python_client), server.socket]
        return self.run(server, command + [str(seconds)] + [str(size) for size in sizes])

    def run(self, server, command):
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                timeout=LOAD_LIMIT_S,
                preexec_fn=child_setup(self.processors),
            )
        except subprocess.TimeoutExpired:
            raise Trouble("clients of %s hang" % server.kind.name) from None
        if server.process.poll() is not None:
            raise Trouble("%s has ended: %s" % (server.kind.name, server.last_words()))
        if done.returncode != 0:
            raise Trouble("%s: %s" % (server.kind.name, " ".join(done.stderr[-400:].split())))
        return json.loads(done.stdout)
