"""Child processes that cannot outlive their parent, with a log file each, and free ports of loopback."""

import atexit
import concurrent.futures
import ctypes
import os
import pathlib
import queue
import signal
import socket
import subprocess
import sys
import threading
import time

LOOPBACK = "127.0.0.1"


class ServerError(Exception):
    """A server did not start or ended by itself; the text has the tail of its log."""


def free_port():
    """A TCP port of loopback that was free a moment ago, below the range from which the kernel takes outgoing ports,
    so that no client connection can occupy it while its server is down for a test."""
    lowest = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for _ in range(1000):
        port = 10_000 + int.from_bytes(os.urandom(3), "big") % max(1, lowest - 10_000)
        with socket.socket() as probe:
            try:
                probe.bind((LOOPBACK, port))
            except OSError:
                continue
            if port not in free_port.given:
                free_port.given.add(port)
                return port
    raise ServerError("no free port on loopback")


free_port.given = set()


LIBC = ctypes.CDLL(None)


def die_with_parent():
    """In the child: SIGKILL when the starting thread goes, however it goes (prctl PR_SET_PDEATHSIG); own process group."""
    os.setpgid(0, 0)
    LIBC.prctl(1, signal.SIGKILL)


class Spawner:
    """Starts children that die with this process. The kernel ties them to the thread that forked them, so one thread that lives as
    long as the process forks them all, whoever asks."""

    def __init__(self):
        self._wanted = queue.SimpleQueue()
        self._thread = None
        self._lock = threading.Lock()

    def popen(self, command, **options):
        """subprocess.Popen, with its exceptions."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, daemon=True)
                self._thread.start()
        started = concurrent.futures.Future()
        self._wanted.put((started, command, options))
        return started.result()

    def _run(self):
        while True:
            started, command, options = self._wanted.get()
            try:
                started.set_result(subprocess.Popen(command, preexec_fn=die_with_parent, **options))
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                started.set_exception(error)


spawner = Spawner()


class Process:
    """One child process with its log file. Stopped by its id only; never outlives the Python process."""

    living = set()

    def __init__(self, name, command, log, cwd=None, env=None):
        self.name, self.log = name, pathlib.Path(log)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self._log_start = self.log.stat().st_size if self.log.exists() else 0
        with open(self.log, "ab") as out:
            self._child = spawner.popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                cwd=cwd,
                env=env,
            )
        Process.living.add(self)

    @property
    def pid(self):
        return self._child.pid

    @property
    def exit_code(self):
        """None while it runs; minus the signal's number where a signal ended it."""
        return self._child.poll()

    def output(self):
        """What it has written since this start."""
        with open(self.log, "rb") as log:
            log.seek(self._log_start)
            return log.read().decode("utf-8", "replace")

    def tail(self, lines=40):
        return f"--- end of {self.log} ---\n" + "\n".join(self.output().splitlines()[-lines:])

    def signal(self, number):
        if self.exit_code is None:
            os.kill(self.pid, number)

    def wait(self, timeout):
        """The exit code; ServerError if it still runs after `timeout` seconds."""
        try:
            code = self._child.wait(timeout)
        except subprocess.TimeoutExpired:
            raise ServerError(
                f"{self.name} (pid {self.pid}) still runs after {timeout} s\n{self.tail()}"
            ) from None
        Process.living.discard(self)
        return code

    def stop(self, timeout=30):
        """SIGTERM, then SIGKILL if it has not ended after `timeout` seconds."""
        self.signal(signal.SIGTERM)
        try:
            return self.wait(timeout)
        except ServerError:
            return self.kill()

    def kill(self):
        self.signal(signal.SIGKILL)
        return self.wait(10)

    def wait_until(self, usable, timeout):
        """Polls `usable()` until it is true; ServerError with the log's tail if the process ends or time runs out."""
        deadline = time.monotonic() + timeout
        while not usable():
            if self.exit_code is not None:
                Process.living.discard(self)
                raise ServerError(f"{self.name} ended with {self.exit_code} while starting\n{self.tail()}")
            if time.monotonic() > deadline:
                raise ServerError(f"{self.name} not usable after {timeout} s\n{self.tail()}")
            time.sleep(0.1)


def stop_all():
    """Kills every child that still lives, newest first."""
    for process in sorted(Process.living, key=lambda p: -p.pid):
        try:
            process.kill()
        except ServerError as error:
            print(error, file=sys.stderr)


def clean_up_on_exit():
    """Children are killed at normal exit and on SIGTERM or SIGINT; for SIGKILL see die_with_parent."""
    atexit.register(stop_all)

    def leave(number, _frame):
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGINT, leave)
