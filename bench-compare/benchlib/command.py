"""The command line."""

import argparse
import json
import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from . import builds, machine, scenarios, targets
from .builds import ROOT, WORK, fail, say
from .report import Report
from .scenarios import EXTRA, NULL, OURS, POLLING, REFERENCE
from .servers import Clients, Kind


def parse(arguments, description):
    parser = argparse.ArgumentParser(
        prog="bench-compare/run",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--quick", action="store_true", help="few rounds, short ones")
    length.add_argument("--smoke", action="store_true", help="only whether everything works")
    parser.add_argument("--only", metavar="NAMES", help="groups to measure, separated by commas")
    parser.add_argument("--list", action="store_true", help="print the names of the groups")
    parser.add_argument("--rounds", type=int, help="how many, instead of the usual number")
    parser.add_argument("--seconds", type=float, help="length of one measurement")
    parser.add_argument("--ours-flags", default="", metavar="FLAGS", help="for our server")
    parser.add_argument(
        "--extra-flags",
        default="--prefault=all",
        metavar="FLAGS",
        help="for our server in one more first fill (default %(default)s); empty for none",
    )
    parser.add_argument("--null-flags", default="", metavar="FLAGS", help="for the null server")
    parser.add_argument("--ours", type=Path, help="a built server, instead of building one")
    parser.add_argument(
        "--pin",
        choices=["none", "apart", "together"],
        default="none",
        help="keep the server on the first processor, and clients on the others or on the same",
    )
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "BENCHMARKS.md")
    parser.add_argument("--plots", type=Path, default=ROOT / "docs" / "benchmarks")
    parser.add_argument("--data", type=Path, default=WORK / "results.json", help="all figures")
    parser.add_argument("--from", dest="source", type=Path, help="report such figures again")
    return parser.parse_args(arguments)


def chosen_groups(only):
    if not only:
        return set(scenarios.GROUPS)
    groups = set()
    for name in only.split(","):
        name = scenarios.ALIASES.get(name, name)
        if name not in scenarios.GROUPS:
            fail("no group %s; there are %s" % (name, ", ".join(scenarios.GROUPS)))
        groups.add(name)
    return groups


def settings_of(options):
    chosen = scenarios.FULL
    if options.quick or options.smoke:
        chosen = scenarios.SMOKE if options.smoke else scenarios.QUICK
    if options.rounds:
        chosen.rounds = options.rounds
    if options.seconds:
        chosen.seconds = options.seconds
        chosen.warmup = min(0.05, options.seconds / 3)
    return chosen


def places(pin):
    """Where servers and clients may run; None for anywhere."""
    if pin == "none":
        return None, None
    first, *others = sorted(os.sched_getaffinity(0))
    if pin == "apart" and not others:
        fail("there is only one processor")
    return {first}, {first} if pin == "together" else set(others)


def knows(server, flags):
    """Whether the server's help mentions all of these flags."""
    try:
        shown = subprocess.run([str(server), "--help"], capture_output=True, text=True)
    except OSError as error:
        fail("cannot start %s: %s" % (server, error))
    names = [flag.partition("=")[0] for flag in flags if flag.startswith("-")]
    return all(name in shown.stdout + shown.stderr for name in names)


def run_facts(options, settings):
    facts = [("rounds", "%d, of %g s for each figure" % (settings.rounds, settings.seconds))]
    facts.append(("flags of ours", options.ours_flags or "none"))
    facts.append(("extra flags of ours", options.extra_flags or "none"))
    if options.null_flags:
        facts.append(("flags of the server without a store", options.null_flags))
    if options.pin != "none":
        facts.append(("places", "server and clients " + options.pin))
    if options.quick or options.smoke:
        facts.append(("figures are", "rough: a short run"))
    return facts


def measure(options):
    settings = settings_of(options)
    groups = chosen_groups(options.only)
    python = builds.client_python()
    reference = builds.reference_server(python)
    ours = options.ours.resolve() if options.ours else builds.our_server()
    null = builds.null_server()
    loadgen = builds.loadgen(python)
    server_place, client_place = places(options.pin)
    ours_flags, null_flags = shlex.split(options.ours_flags), shlex.split(options.null_flags)
    extra_flags = shlex.split(options.extra_flags)
    kinds = [
        Kind(REFERENCE, reference),
        Kind(OURS, ours, ours_flags),
        Kind(NULL, null, null_flags),
        Kind(POLLING, null, null_flags + ["--busy-poll"]),
    ]
    notes = []
    if extra_flags and not knows(ours, extra_flags):
        notes.append("this build of ours does not have %s" % options.extra_flags)
    elif extra_flags:
        kinds.append(Kind(EXTRA, ours, ours_flags + extra_flags))
    for kind in kinds:
        kind.processors = server_place
    clients = Clients(loadgen, python, builds.PYTHON_CLIENT, client_place)
    facts = machine.describe()
    with tempfile.TemporaryDirectory(prefix="bench-compare-") as folder:
        kinds = {kind.name: kind for kind in kinds}
        bench = scenarios.Bench(kinds, clients, settings, groups, folder)
        bench.run()
    return {
        "machine": facts,
        "run": run_facts(options, settings),
        "results": bench.results,
        "troubles": bench.troubles,
        "notes": notes,
    }


def print_summary(results):
    for goal in targets.goals():
        ratio = targets.ratio_of(results, *goal.over)
        if ratio is not None:
            print("%-68s %6.2f  %s (%s)" % (goal.what, ratio, goal.reached(ratio), goal.wanted()))


def main(arguments, description):
    options = parse(arguments, description)
    if options.list:
        print("\n".join(scenarios.GROUPS))
        return 0
    if options.source:
        data = json.loads(options.source.read_text())
    else:
        data = measure(options)
    if options.smoke:
        rows = sum(len(servers) for servers in data["results"].values())
        say("%d measurements, %d troubles" % (rows, len(data["troubles"])))
        return 1 if data["troubles"] or not rows else 0
    if not options.source:
        options.data.parent.mkdir(parents=True, exist_ok=True)
        options.data.write_text(json.dumps(data, indent=1) + "\n")
    Report(data).write(options.output.resolve(), options.plots.resolve())
    print_summary(data["results"])
    say("wrote %s" % options.output)
    return 1 if data["troubles"] else 0
