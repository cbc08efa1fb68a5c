"""What is measured, and in which order.

A row is one thing that is measured, by its name and the number of clients. All servers do a
row one right after the other, so that whatever else goes on at the machine meets all of them;
then comes the next row, and when all are through, the next round. Each round has fresh
servers.
"""

import time
from contextlib import ExitStack

from . import machine
from .builds import say
from .servers import Server, Trouble

REFERENCE = "reference"
OURS = "ours"
EXTRA = "ours-extra"
NULL = "null"
POLLING = "null-polling"
ALL = (REFERENCE, OURS, NULL, POLLING)
SLEEPING = (REFERENCE, OURS, NULL)

GB = 10**9
MIB = 1 << 20
SMALL = ("cycle", "get", "contains", "missing", "create-and-seal")
PAUSES_US = (0, 20, 100, 1000)
PYTHON_SIZES = {"1 KB": 1000, "1 MB": 10**6, "100 MB": 10**8}

# Modes on one store that is far from full, and with how many clients.
COMMON = {
    **{mode: (1, 4, 16, 64) for mode in SMALL},
    "abort-1mb": (1, 4, 16),
    "batch-100": (1, 4),
    "get-1000": (1, 4),
    "hand-over": (1, 4),
}
GROUPS = (*COMMON, "put-delete-64m", "evict-1m", "fill", "idle", "pauses", "python")
# Parts of a group, by which it can be asked for, too.
ALIASES = {"burst": "fill", "first-fill": "fill", "evict-64m": "fill", "fresh": "fill"}


class Settings:
    """How long and how often."""

    def __init__(self, rounds, seconds, slow_every, clients_limit=1000, smoke=False):
        self.rounds = rounds
        self.seconds = seconds
        # What takes long is done in each so-manieth round only.
        self.slow_every = slow_every
        self.clients_limit = clients_limit
        self.smoke = smoke
        self.warmup = min(0.05, seconds / 3)
        self.settle_s = 0 if smoke else 2
        self.fill_capacity = 6 * 64 * MIB if smoke else 2 * GB
        self.idle = 100 if smoke else 1500


FULL = Settings(rounds=9, seconds=0.35, slow_every=2)
QUICK = Settings(rounds=2, seconds=0.12, slow_every=2)
SMOKE = Settings(rounds=1, seconds=0.03, slow_every=1, clients_limit=4, smoke=True)


class Bench:
    """Does the measurements and collects what they give.

    `results` has for each row and server a list with the figures of each round, `None` where
    there is none.
    """

    def __init__(self, kinds, clients, settings, groups, folder):
        self.kinds = kinds
        self.clients = clients
        self.settings = settings
        self.groups = groups
        self.folder = folder
        self.results = {}
        self.troubles = []
        self.round = 0

    def run(self):
        begun = time.monotonic()
        for self.round in range(self.settings.rounds):
            self.common()
            if "put-delete-64m" in self.groups:
                self.on_fresh_stores(GB, "put-delete-64m", (1, 4))
            if "evict-1m" in self.groups:
                self.on_fresh_stores(256 * MIB, "evict-1m", (1, 4))
            if self.round % self.settings.slow_every == 0:
                self.slow()
            took = time.monotonic() - begun
            say("round %d of %d, %d s" % (self.round + 1, self.settings.rounds, took))

    def slow(self):
        if "pauses" in self.groups:
            self.pauses()
        if "python" in self.groups:
            self.python()
        if "fill" in self.groups:
            self.fill()

    # -- keeping results --

    def record(self, row, name, figures):
        rounds = self.results.setdefault(row, {}).setdefault(name, [])
        rounds.extend([None] * (self.round - len(rounds)))
        rounds.append(figures)

    def trouble(self, row, name, trouble):
        text = "%s, %s: %s" % (row, name, trouble)
        if text not in self.troubles:
            say("trouble: " + text)
            self.troubles.append(text)

    def attempt(self, row, name, action):
        """Records what the action returns, or that it did not work."""
        try:
            figures = action()
        except Trouble as trouble:
            self.trouble(row, name, trouble)
            return None
        self.record(row, name, figures)
        return figures

    # -- parts --

    def servers(self, stack, capacity, names=ALL):
        """Starts one server of each kind, as far as they start."""
        servers = []
        for name in names:
            try:
                server = Server(self.kinds[name], self.folder, capacity)
            except Trouble as trouble:
                self.trouble("start", name, trouble)
            else:
                servers.append(stack.enter_context(server))
        # Who comes first changes from round to round.
        turn = self.round % max(len(servers), 1)
        return servers[turn:] + servers[:turn]

    def measure(self, row, servers, mode, **options):
        settings = self.settings
        options = {"seconds": settings.seconds, "warmup": settings.warmup, **options}
        for server in servers:
            action = lambda s=server: self.clients.load(s, mode, **options)  # noqa: E731
            self.attempt(row, server.kind.name, action)

    def common(self):
        modes = [mode for mode in COMMON if mode in self.groups]
        if not modes and "idle" not in self.groups:
            return
        with ExitStack() as stack:
            servers = self.servers(stack, GB)
            for mode in modes:
                for clients in COMMON[mode]:
                    if clients <= self.settings.clients_limit:
                        self.measure("%s/%d" % (mode, clients), servers, mode, clients=clients)
            if "idle" in self.groups:
                self.idle(servers)

    def idle(self, servers):
        """The two that are compared come right after each other, and take longer."""
        settings = self.settings
        seconds = settings.seconds if settings.smoke else max(settings.seconds, 0.5)
        for server in servers:
            self.measure("idle/0", [server], "contains", seconds=seconds)
            self.measure("idle/1500", [server], "contains", seconds=seconds, idle=settings.idle)

    def on_fresh_stores(self, capacity, mode, counts):
        for clients in counts:
            row = "%s/%d" % (mode, clients)
            for name in SLEEPING:
                with ExitStack() as stack:
                    servers = self.servers(stack, capacity, [name])
                    # One put takes a hundredth of a second.
                    seconds = max(self.settings.seconds, 0.3)
                    self.measure(row, servers, mode, clients=clients, seconds=seconds)

    def pauses(self):
        busy = max(1, machine.processors() - 1)
        with ExitStack() as stack:
            servers = self.servers(stack, GB)
            for pause_us in PAUSES_US:
                # Long enough for a few hundred requests, if they are far apart.
                seconds = self.settings.seconds + pause_us / 5000 * (not self.settings.smoke)
                for kind, burners in (("free", 0), ("busy", busy)):
                    row = "pauses/%d/%s" % (pause_us, kind)
                    options = {"pause_us": pause_us, "burners": burners, "seconds": seconds}
                    self.measure(row, servers, "contains", **options)

    def python(self):
        sizes = list(PYTHON_SIZES.items())
        if self.settings.smoke:
            sizes = sizes[:2]
        seconds = self.settings.seconds
        with ExitStack() as stack:
            servers = self.servers(stack, GB, SLEEPING)
            for label, size in sizes:
                for server in servers:
                    try:
                        figures = self.clients.python_load(server, seconds, [size])[str(size)]
                    except Trouble as trouble:
                        self.trouble("python/" + label, server.kind.name, trouble)
                        continue
                    for what in ("put", "get"):
                        row = "python/%s/%s" % (what, label)
                        median = {"median_us": figures[what + "_us"]}
                        self.record(row, server.kind.name, median)

    def fill(self):
        """Each server by itself: a store of 2 GB takes the memory of as much."""
        for name in (REFERENCE, OURS, EXTRA, NULL):
            if name not in self.kinds:
                continue
            with ExitStack() as stack:
                for server in self.servers(stack, self.settings.fill_capacity, [name]):
                    self.fill_one(server)

    def fill_one(self, server):
        name = server.kind.name
        time.sleep(self.settings.settle_s)
        if name == EXTRA:
            try:
                server.await_quiet()
            except Trouble as trouble:
                self.trouble("fill", name, trouble)
                return
        figures = self.attempt("fill", name, lambda: self.clients.load(server, "fill"))
        if figures is None:
            return
        for row, key in (("burst", "burst"), ("first-fill", "fill"), ("evict-64m", "evict")):
            self.record(row, name, {"bandwidth": figures[key]})
        self.attempt("fresh", name, lambda: self.clients.load(server, "fresh"))
        if name == NULL:
            self.attempt("touched", name, lambda: self.clients.load(server, "touched"))
