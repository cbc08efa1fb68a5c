"""The wall clock jumps, and no time-out changes.

The server runs with a library in front of the C library that adds to the wall
clock what a file says. Setting the machine's own clock would disturb others.
"""

import os
import shutil
import subprocess
import time

import pytest

import wire
from wire import oid

SHIM = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long ahead(void) {
  long seconds = 0;
  FILE* file = fopen(getenv("CLOCK_AHEAD"), "r");
  if (file == NULL) return 0;
  if (fscanf(file, "%ld", &seconds) != 1) seconds = 0;
  fclose(file);
  return seconds;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  int result = syscall(SYS_clock_gettime, clock, now);
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += ahead();
  return result;
}

int gettimeofday(struct timeval* now, void* zone) {
  struct timespec precise;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* out) {
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  if (out != NULL) *out = precise.tv_sec;
  return precise.tv_sec;
}
"""


@pytest.fixture
def clock(tmp_path):
    """Starts a server; `clock.ahead(seconds)` sets its wall clock."""
    compiler = shutil.which(os.environ.get("CC", "cc")) or shutil.which("gcc")
    assert compiler, "no C compiler: install gcc, or name one in CC"
    (tmp_path / "clock.c").write_text(SHIM)
    library = tmp_path / "clock.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(tmp_path / "clock.c")]
    subprocess.run(command, check=True)
    return Clock(library, tmp_path / "ahead")


class Clock:
    def __init__(self, shim, file):
        self.shim = shim
        self.file = file
        self.ahead(0)

    def ahead(self, seconds):
        new = self.file.with_suffix(".new")
        new.write_text(str(seconds))
        new.rename(self.file)

    def wrap(self, server):
        variables = ["LD_PRELOAD=%s" % self.shim, "CLOCK_AHEAD=%s" % self.file]
        server.command = ["env", *variables, *server.command]
        server.start()
        server.wait_ready()
        return server


HOUR = 3600


@pytest.mark.deviation("clock set back or forward")
@pytest.mark.parametrize("jump", [-HOUR, HOUR, 10 * 365 * 24 * HOUR])
def test_a_jump_of_the_clock_changes_no_time_out(store, clock, jump):
    server = clock.wrap(store.prepare())
    client = server.client()
    client.put(oid(9), 1)
    before = client.list()[oid(9)].create_time
    first, second, third = server.client(), server.client(), server.client()
    first.send_get([oid(1)], 700)
    second.send_get([oid(1)], 60_000)
    third.send_get([oid(1)], -1)
    time.sleep(0.1)
    clock.ahead(jump)
    client.sync()
    assert first.quiet(), "it has still to wait"
    assert first.recv_get().specs[0].data_size == -1, "its time is up"
    assert second.quiet() and third.quiet(), "they have still to wait"
    # The clock that lists show has jumped, so the library does its work.
    client.put(oid(10), 1)
    assert abs(client.list()[oid(10)].create_time - before - jump) < 100
    client.put(oid(1), 1)
    assert second.recv_get().specs[0].data_size == 1
    assert third.recv_get().specs[0].data_size == 1
