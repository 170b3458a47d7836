"""Expectations, and one `hourfold run` process with its metrics."""

import re
import signal
import time
import urllib.error
import urllib.request

from processes import Process, ServerError, free_port

RESULTS = ("folded", "duplicate", "quarantined", "archived", "malformed", "already_counted")
PENDING = ("hourfold_lag_records", "hourfold_readings_waiting", "hourfold_outbox_windows")


class Failed(Exception):
    """An expectation of a test was not met."""


def expect(condition, text):
    if not condition:
        raise Failed(text)


def expect_none(differences, what):
    """Fails with the first of the differences and their number."""
    if differences:
        shown = "\n    ".join(differences[:12])
        raise Failed(f"{what}: {len(differences)} differences\n    {shown}")


def wait_until(condition, timeout, what):
    """Polls until `condition()` is true; `what` may be a function that describes the state at the end."""
    deadline = time.monotonic() + timeout
    while not (met := condition()):
        if time.monotonic() > deadline:
            raise Failed(f"after {timeout} s not: {what() if callable(what) else what}")
        time.sleep(0.2)
    return met


class Service:
    """One `hourfold run` process with its metrics, or one of another command that serves."""

    def __init__(self, lab, name, configuration, state, settings=(), words=("run",)):
        self.name, self.http = name, f"127.0.0.1:{free_port()}"
        folder = configuration.parent
        self._command = [
            lab.hourfold,
            *words,
            "-c",
            configuration,
            "--set",
            f"state.dir={state}",
            "--set",
            f"http.listen={self.http}",
            *(word for setting in settings for word in ("--set", setting)),
        ]
        self._log = folder / f"{name}.log"
        self._folder = folder
        self.process = None

    def start(self, ready=True):
        self.process = Process(f"hourfold {self.name}", self._command, self._log, cwd=self._folder)
        if ready:
            self.wait_ready()
        return self

    def wait_ready(self, timeout=60):
        self.process.wait_until(lambda: self._get("/readyz") is not None, timeout)

    def _get(self, path):
        """The body, or None where nobody answers or the answer is no 200."""
        try:
            with urllib.request.urlopen(f"http://{self.http}{path}", timeout=5) as answer:
                return answer.read().decode()
        except (urllib.error.URLError, OSError):
            return None

    @property
    def running(self):
        return self.process is not None and self.process.exit_code is None

    def samples(self):
        """[(metric name, {label: value}, number)] of /metrics; empty while it does not answer, as when it is starting."""
        text, found = self._get("/metrics") or "", []
        for line in text.splitlines():
            if match := re.match(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)", line):
                name, labels, number = match.groups()
                found.append(
                    (name, dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or "")), float(number))
                )
        return found

    def total(self, metric, samples=None, **labels):
        """Sum over all series of a metric that have these labels; 0 where there is none."""
        return sum(
            number
            for name, own, number in (self.samples() if samples is None else samples)
            if name == metric and labels.items() <= own.items()
        )

    def consumed(self):
        return self.total("hourfold_readings_consumed_total")

    def pending(self):
        """What is left to read, to look up or to write, per gauge; None while it does not answer."""
        samples = self.samples()
        return {gauge: self.total(gauge, samples) for gauge in PENDING} if samples else None

    def quiet(self):
        pending = self.pending()
        return pending is not None and not any(pending.values())

    def expect_no_crash(self):
        """That it runs, or was killed or ended by a test."""
        if self.process and self.process.exit_code not in (None, 0, -signal.SIGKILL):
            raise Failed(f"{self.name} ended with {self.process.exit_code}\n{self.process.tail()}")

    def counters(self, samples=None):
        """The six results, checked to add up to the readings consumed with those that wait or went to the next owner, in one scrape."""
        samples = self.samples() if samples is None else samples
        expect(samples, f"{self.name} does not answer on /metrics (exit code {self.process.exit_code})")
        results = {
            result: int(self.total("hourfold_readings_total", samples, result=result)) for result in RESULTS
        }
        waiting = self.total("hourfold_readings_waiting", samples)
        handed_over = self.total("hourfold_readings_handed_over_total", samples)
        consumed = self.total("hourfold_readings_consumed_total", samples)
        expect(
            sum(results.values()) + waiting + handed_over == consumed,
            f"{self.name}: counters do not add up: {results} + {waiting:.0f} waiting + {handed_over:.0f} handed over"
            f" != {consumed:.0f} consumed",
        )
        return results

    def kill(self):
        """kill -9."""
        self.process.kill()

    def terminate(self, timeout=30):
        """SIGTERM; the exit code. Fails if it takes longer than `timeout` seconds."""
        self.process.signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout)
        except ServerError as error:
            raise Failed(str(error)) from None
