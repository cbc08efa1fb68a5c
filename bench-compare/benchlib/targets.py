"""What the store is to reach, and whether it does.

Each figure is a ratio of two measurements of the same round, and the median of these over all
rounds.
"""

import statistics

from .scenarios import EXTRA, NULL, OURS, POLLING, REFERENCE, SMALL


class Goal:
    """A ratio that has to be at least, or at most, so much."""

    def __init__(self, what, over, at_least=None, at_most=None):
        self.what = what
        # Two of (row, server, figure).
        self.over = over
        self.at_least = at_least
        self.at_most = at_most

    def wanted(self):
        if self.at_least is not None:
            return "at least %.2f" % self.at_least
        return "at most %.2f" % self.at_most

    def reached(self, ratio):
        if ratio is None:
            return "not measured"
        fine = ratio >= self.at_least if self.at_least is not None else ratio <= self.at_most
        return "yes" if fine else "no"


def rounds_of(results, row, server, figure):
    rounds = results.get(row, {}).get(server, [])
    return [one.get(figure) if one else None for one in rounds]


def median_of(results, row, server, figure):
    values = [value for value in rounds_of(results, row, server, figure) if value is not None]
    return statistics.median(values) if values else None


def ratio_of(results, top, bottom):
    pairs = zip(rounds_of(results, *top), rounds_of(results, *bottom))
    ratios = [one / other for one, other in pairs if one is not None and other]
    return statistics.median(ratios) if ratios else None


def compared(row, figure, other, **bounds):
    """Ours by another server's, in one figure of one row."""
    names = {"rate": "operations/s", "median_us": "median latency", "cpu_us": "CPU/operation"}
    mode, _, clients = row.partition("/")
    text = "%s%s: %s, ours / %s" % (
        mode,
        ", %s client%s" % (clients, "s" * (clients != "1")) if clients else "",
        names.get(figure, figure),
        other,
    )
    return Goal(text, ((row, OURS, figure), (row, other, figure)), **bounds)


def goals():
    result = []
    for mode in (*SMALL, "abort-1mb"):
        row = mode + "/1"
        result.append(compared(row, "rate", REFERENCE, at_least=2.0))
        result.append(compared(row, "median_us", REFERENCE, at_most=0.5))
        result.append(compared(row, "rate", POLLING, at_least=0.92))
    for mode in SMALL:
        for clients in (4, 16):
            row = "%s/%d" % (mode, clients)
            result.append(compared(row, "rate", REFERENCE, at_least=1.5))
            result.append(compared(row, "rate", NULL, at_least=0.92))
            result.append(compared(row, "cpu_us", REFERENCE, at_most=0.5))
            result.append(compared(row, "cpu_us", NULL, at_most=1.15))
    result.append(compared("batch-100/1", "rate", REFERENCE, at_least=2.0))
    result.append(compared("burst", "bandwidth", REFERENCE, at_least=4.0))
    touched = (("burst", OURS, "bandwidth"), ("touched", NULL, "bandwidth"))
    result.append(Goal("burst: bandwidth, ours / memory touched before", touched, at_least=0.6))
    extra = (("first-fill", EXTRA, "bandwidth"), ("first-fill", REFERENCE, "bandwidth"))
    text = "first-fill: bandwidth, ours with extra flags / reference"
    result.append(Goal(text, extra, at_least=4.0))
    result.append(compared("first-fill", "bandwidth", REFERENCE, at_least=1.2))
    result.append(compared("fresh", "bandwidth", REFERENCE, at_least=1.5))
    result.append(compared("evict-64m", "bandwidth", REFERENCE, at_least=1.0))
    result.append(compared("evict-1m/1", "bandwidth", REFERENCE, at_least=1.3))
    result.append(compared("put-delete-64m/1", "bandwidth", REFERENCE, at_least=1.0))
    result.append(compared("hand-over/1", "median_us", REFERENCE, at_most=0.75))
    idle = (("idle/1500", OURS, "rate"), ("idle/0", OURS, "rate"))
    result.append(Goal("idle: operations/s, with 1500 idle / without", idle, at_least=0.97))
    return result
