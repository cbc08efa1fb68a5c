"""Results as Markdown and plots."""

import os

from . import plots
from .scenarios import (
    COMMON,
    EXTRA,
    NULL,
    OURS,
    PAUSES_US,
    POLLING,
    PYTHON_SIZES,
    REFERENCE,
    SMALL,
)
from .targets import goals, median_of, ratio_of

NAMES = {
    REFERENCE: "reference",
    OURS: "ours",
    EXTRA: "ours, extra flags",
    NULL: "no store",
    POLLING: "no store, polling",
}
MANY = (REFERENCE, OURS, NULL, POLLING)

INTRODUCTION = """\
# Benchmarks

Made by `bench-compare/run`; [bench-compare/README.md](../bench-compare/README.md) says how things
are measured. All clients are the official ones of Arrow 11.0.0, unchanged. The servers:

* **reference**: the original server, from the wheel of pyarrow 11.0.0
* **ours**: this project's release build
* **no store**: a server with our protocol code and loop that answers without doing anything; what a
  store that waits in the same way cannot beat
* **no store, polling**: the same, but it looks for requests for 50 us before it sleeps

Figures are medians over the rounds; ratios are medians of the ratios in each round, in which the
servers take turns at the same thing.
"""


def number(value, scale=1.0):
    return "" if value is None else plots.number(value * scale)


def ratio_text(value):
    return "" if value is None else "%.2f" % value


class Report:
    """Writes what was measured."""

    def __init__(self, data):
        self.results = data["results"]
        self.data = data
        self.plots = {}

    # -- small helpers --

    def median(self, row, server, figure):
        return median_of(self.results, row, server, figure)

    def ratio(self, row, figure, top, bottom):
        return ratio_of(self.results, (row, top, figure), (row, bottom, figure))

    def has(self, row):
        return any(self.results.get(row, {}).values())

    @staticmethod
    def table(head, rows):
        lines = ["| " + " | ".join(head) + " |"]
        lines.append("| " + " | ".join(["---"] + ["---:"] * (len(head) - 1)) + " |")
        lines += ["| " + " | ".join(row) + " |" for row in rows]
        return "\n".join(lines) + "\n"

    def plot(self, name, title, unit, servers, groups):
        chart = plots.bars(title, unit, [NAMES[server] for server in servers], groups)
        if chart is None:
            return ""
        self.plots[name + ".svg"] = chart
        return "\n![%s](%%s/%s.svg)\n" % (title, name)

    # -- parts --

    def machine(self):
        rows = [(what, which) for what, which in self.data["machine"]]
        rows += [(what, which) for what, which in self.data["run"]]
        lines = ["## Where and how", "", "| what | which |", "| --- | --- |"]
        lines += ["| %s | %s |" % row for row in rows]
        return "\n".join(lines) + "\n"

    def targets(self):
        rows, counts = [], {}
        for goal in goals():
            ratio = ratio_of(self.results, *goal.over)
            reached = goal.reached(ratio)
            counts[reached] = counts.get(reached, 0) + 1
            what, _, how = goal.what.partition(": ")
            rows.append((what, how, goal.wanted(), ratio_text(ratio), reached))
        summary = ", ".join("%d %s" % (count, word) for word, count in sorted(counts.items()))
        lines = ["## What is to be reached", "", "Reached: %s.\n" % summary]
        lines += ["| what | figure | wanted | found | reached |"]
        lines += ["| --- | --- | --- | ---: | --- |"]
        lines += ["| " + " | ".join(row) + " |" for row in rows]
        return "\n".join(lines) + "\n"

    def small_requests(self):
        keys = [(mode, count) for mode, counts in COMMON.items() for count in counts]
        keys = [(mode, count, "%s/%d" % (mode, count)) for mode, count in keys]
        keys = [key for key in keys if self.has(key[2])]
        if not keys:
            return ""
        head = ["mode", "clients"] + [NAMES[server] for server in MANY]
        rates, latencies, cpu = [], [], []
        for mode, count, row in keys:
            start = [mode, str(count)]
            values = [number(self.median(row, server, "rate")) for server in MANY]
            others = (REFERENCE, NULL, POLLING)
            ratios = [ratio_text(self.ratio(row, "rate", OURS, other)) for other in others]
            rates.append(start + values + ratios)
            pair = lambda server: " / ".join(  # noqa: E731
                number(self.median(row, server, figure)) for figure in ("median_us", "p99_us")
            )
            latencies.append(start + [pair(server) for server in MANY])
            values = [number(self.median(row, server, "cpu_us")) for server in MANY]
            ratios = [ratio_text(self.ratio(row, "cpu_us", OURS, o)) for o in (REFERENCE, NULL)]
            cpu.append(start + values + ratios)
        text = "## Requests\n\nOperations per second:\n\n"
        ratios = ["ours / reference", "ours / no store", "ours / polling"]
        text += self.table(head + ratios, rates)
        for count in (1, 4, 16, 64):
            groups = [
                (mode, [self.median("%s/%d" % (mode, count), s, "rate") for s in MANY])
                for mode in SMALL
            ]
            title = "Requests of %d client%s" % (count, "s" * (count > 1))
            text += self.plot("rate-%d" % count, title, "operations per second", MANY, groups)
        text += "\nLatency in microseconds, median / 99th percentile:\n\n"
        text += self.table(head, latencies)
        groups = [
            (mode, [self.median(mode + "/1", s, "median_us") for s in MANY])
            for mode in (*SMALL, "abort-1mb", "hand-over")
        ]
        title = "Latency with one client"
        text += self.plot("latency-1", title, "median, microseconds", MANY, groups)
        text += "\nProcessor time of the server in microseconds per operation:\n\n"
        text += self.table(head + ratios[:2], cpu)
        groups = []
        sleeping = (REFERENCE, OURS, NULL)
        for mode in SMALL:
            for count in (4, 16):
                row = "%s/%d" % (mode, count)
                values = [self.median(row, server, "cpu_us") for server in sleeping]
                groups.append(("%s, %d" % (mode, count), values))
        title = "Processor time of the server"
        unit = "microseconds per operation, with 4 and 16 clients"
        return text + self.plot("cpu", title, unit, sleeping, groups)

    def large_objects(self):
        servers = (REFERENCE, OURS, EXTRA, NULL)
        what = {
            "burst": "burst of 256 MiB into a fresh store",
            "first-fill": "first fill of 2 GB",
            "evict-64m": "64 MiB with eviction",
            "fresh": "fresh client, store full before",
            "touched": "the client into memory touched before",
            "put-delete-64m/1": "put and delete of 64 MiB",
            "put-delete-64m/4": "the same, 4 clients",
            "evict-1m/1": "1 MiB with eviction",
            "evict-1m/4": "the same, 4 clients",
        }
        rows, groups = [], []
        for row, label in what.items():
            if not self.has(row):
                continue
            values = [self.median(row, server, "bandwidth") for server in servers]
            values = [value and value / 1e9 for value in values]
            ratio = ratio_text(self.ratio(row, "bandwidth", OURS, REFERENCE))
            rows.append([label] + [number(value) for value in values] + [ratio])
            groups.append((label, values))
        if not rows:
            return ""
        head = ["what"] + [NAMES[server] for server in servers] + ["ours / reference"]
        text = "## Large objects\n\nGB per second, as far as the client gets:\n\n"
        text += self.table(head, rows)
        return text + self.plot("large", "Large objects", "GB per second", servers, groups)

    def python(self):
        servers = (REFERENCE, OURS, NULL)
        rows = []
        for what in ("put", "get"):
            for label in PYTHON_SIZES:
                row = "python/%s/%s" % (what, label)
                if not self.has(row):
                    continue
                values = [number(self.median(row, server, "median_us")) for server in servers]
                ratio = ratio_text(self.ratio(row, "median_us", OURS, REFERENCE))
                rows.append(["%s, %s" % (what, label)] + values + [ratio])
        if not rows:
            return ""
        head = ["what"] + [NAMES[server] for server in servers] + ["ours / reference"]
        return "## Python\n\nMedian microseconds for an array:\n\n" + self.table(head, rows)

    def pauses(self):
        head = ["pause in us", "other processors"] + [NAMES[server] for server in MANY]
        latencies, shares, groups = [], [], []
        for pause_us in PAUSES_US:
            for kind in ("free", "busy"):
                row = "pauses/%d/%s" % (pause_us, kind)
                if not self.has(row):
                    continue
                start = [str(pause_us), kind]
                pair = lambda server: " / ".join(  # noqa: E731
                    number(self.median(row, server, figure)) for figure in ("median_us", "p99_us")
                )
                latencies.append(start + [pair(server) for server in MANY])
                share = [number(self.median(row, server, "cpu_share"), 1000) for server in MANY]
                shares.append(start + share)
                values = [self.median(row, server, "median_us") for server in MANY]
                groups.append(("%d us, %s" % (pause_us, kind), values))
        if not latencies:
            return ""
        text = "## A client that pauses\n\nContains, with a pause in which the client computes; "
        text += "with the other processors free or busy.\nLatency in microseconds, median / 99th "
        text += "percentile:\n\n" + self.table(head, latencies)
        title = "Latency of a client that pauses"
        text += self.plot("pauses", title, "median, microseconds", MANY, groups)
        text += "\nProcessor time of the server, milliseconds per second:\n\n"
        return text + self.table(head, shares)

    def idle(self):
        if not self.has("idle/0"):
            return ""
        rows = []
        for server in MANY:
            pair = [self.median(row, server, "rate") for row in ("idle/0", "idle/1500")]
            over = [(row, server, "rate") for row in ("idle/1500", "idle/0")]
            ratio = ratio_text(ratio_of(self.results, *over))
            rows.append([NAMES[server]] + [number(value) for value in pair] + [ratio])
        head = ["server", "none", "1,500 idle", "ratio"]
        text = "## Idle connections\n\nContains by one client, operations per second, beside idle "
        return text + "connections:\n\n" + self.table(head, rows)

    def troubles(self):
        found = self.data["troubles"] + self.data["notes"]
        if not found:
            return ""
        lines = ["## What did not work", ""] + ["* " + text for text in found]
        return "\n".join(lines) + "\n"

    def write(self, path, folder):
        parts = [
            INTRODUCTION,
            self.machine(),
            self.targets(),
            self.small_requests(),
            self.large_objects(),
            self.python(),
            self.pauses(),
            self.idle(),
            self.troubles(),
        ]
        text = "\n".join(part for part in parts if part)
        relative = os.path.relpath(folder, path.parent)
        text = text.replace("](%s/", "](" + relative + "/")
        text = text.encode("ascii", "replace").decode()
        path.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        for name, chart in self.plots.items():
            (folder / name).write_text(chart)
        path.write_text(text)
