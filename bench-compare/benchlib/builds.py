"""Where programs come from: the servers, the load generator, the client's environment."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
ROOT = HERE.parent
TARGET = (ROOT / os.environ.get("CARGO_TARGET_DIR", "target")).resolve()
WORK = TARGET / "bench-compare"
LOADGEN = HERE / "loadgen.cc"
PYTHON_CLIENT = HERE / "python_client.py"


def say(text):
    print("bench-compare: " + text, flush=True)


def fail(text):
    print("bench-compare: error: " + text, file=sys.stderr, flush=True)
    sys.exit(2)


def run_quietly(command, what):
    """Runs a command, shows what it printed only if it fails, and returns its output."""
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
        )
    except OSError as error:
        fail("cannot start %s: %s" % (command[0], error))
    if done.returncode != 0:
        sys.stderr.write(done.stdout + done.stderr)
        fail("%s: status %d" % (what, done.returncode))
    return done.stdout


def client_python():
    """The Python of the environment that compat-tests keeps, with the official client."""
    say("looking for the official client")
    output = run_quietly([str(ROOT / "compat-tests" / "run"), "--setup-only"], "the environment")
    return Path(output.strip().splitlines()[-1])


def reference_server(python):
    server = python.parents[1] / "reference" / "plasma-store-server"
    if not server.is_file():
        fail("there is no reference server at %s" % server)
    return server


def cargo(arguments):
    command = [os.environ.get("CARGO", "cargo"), "build", "--release", "--quiet"]
    run_quietly(command + arguments + ["--target-dir", str(TARGET)], "cargo build")


def our_server():
    say("building the server")
    cargo(["--manifest-path", str(ROOT / "Cargo.toml"), "--package", "plasma-store"])
    return TARGET / "release" / "plasma-store-server"


def null_server():
    say("building the server without a store")
    cargo(["--manifest-path", str(HERE / "Cargo.toml"), "--bin", "plasma-null-server"])
    return TARGET / "release" / "plasma-null-server"


def loadgen(python):
    """The load generator, compiled unless it was with the same inputs before."""
    say("compiling the load generator, unless that was done before")
    build = ROOT / "compat-tests" / "suite" / "cpp_program.py"
    command = [str(python), str(build), str(LOADGEN), str(WORK), "-O2"]
    return Path(run_quietly(command, "the load generator").strip())
