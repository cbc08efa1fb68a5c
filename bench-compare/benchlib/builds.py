"""Where programs come from: the servers, the load generator, the client's environment."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
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


def compiler():
    """The C++ compiler, as make would choose it."""
    command = os.environ.get("CXX", "").split() or ["c++"]
    if shutil.which(command[0]):
        return command
    if shutil.which("g++"):
        return ["g++"]
    return fail("no C++ compiler: install g++, or name one in CXX")


def loadgen(python):
    """The load generator, compiled unless it was with the same inputs before."""
    code = "import pyarrow as p; print(p.__version__, p.get_include(), p.get_library_dirs()[0])"
    version, include, wheel = run_quietly([str(python), "-c", code], "pyarrow").split()
    command = compiler() + ["-std=c++17", "-D_GLIBCXX_USE_CXX11_ABI=0", "-O2", "-Wall", "-Wextra"]
    command += ["-pthread", "-isystem", include, str(LOADGEN), "-L" + wheel]
    command += ["-l:libplasma.so.1100", "-l:libarrow.so.1100", "-Wl,-rpath," + wheel]
    inputs = LOADGEN.read_bytes() + "\0".join(command + [version]).encode()
    program = WORK / ("loadgen-" + hashlib.sha256(inputs).hexdigest()[:16])
    if program.exists():
        return program
    say("compiling the load generator")
    WORK.mkdir(parents=True, exist_ok=True)
    # Compiled aside and moved, so that nobody ever sees half of it.
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        fresh = Path(folder) / "loadgen"
        run_quietly(command + ["-o", str(fresh)], "the load generator does not compile")
        fresh.replace(program)
    return program
