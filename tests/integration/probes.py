"""The Java probes as objects: Kafka's and HBase's own clients, which share no code with Hourfold."""

import base64
import pathlib
import subprocess
import threading

from processes import ServerError, spawner
from rig import HBASE_JAVA, ROOT, SMALL_JVM, class_path

SOURCES = pathlib.Path(__file__).resolve().parent / "probe"
CLASSES = ROOT / "build/servers/classes"


class ProbeError(Exception):
    """The client answered a command with an exception; the text is its message."""


def compile_probe(server, main):
    """javac into build/servers/classes/<server>, when a source is newer than the class."""
    sources = [SOURCES / "CommandLoop.java", SOURCES / f"{main}.java"]
    folder = CLASSES / server
    built = folder / f"{main}.class"
    if not built.exists() or any(source.stat().st_mtime > built.stat().st_mtime for source in sources):
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            ["javac", "-proc:none", "-nowarn", "-d", folder, "-cp", class_path(server), *sources],
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise ServerError(f"javac {main} failed\n{done.stderr}")
    return folder


class Probe:
    """A long-lived JVM that answers one command at a time (see probe/CommandLoop.java). Any thread may call it."""

    def __init__(self, command, log):
        self._log = open(log, "ab")
        self._child = spawner.popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            encoding="utf-8",
        )
        self._turn = threading.Lock()

    def ask(self, *words):
        """The words of the answer; ProbeError where the client failed."""
        with self._turn:
            self._child.stdin.write("\t".join(map(str, words)) + "\n")
            self._child.stdin.flush()
            answer = self._child.stdout.readline()
        if not answer:
            raise ServerError(f"probe ended while asked: {words}; see {self._log.name}")
        status, *result = answer.rstrip("\n").split("\t")
        if status != "ok":
            raise ProbeError(f"{' '.join(map(str, words))}: {' '.join(result)}")
        return result

    def close(self):
        self._child.stdin.close()
        try:
            self._child.wait(10)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._log.close()


class KafkaProbe(Probe):
    def __init__(self, brokers, folder):
        classes = compile_probe("kafka", "KafkaProbe")
        super().__init__(
            [
                "java",
                "-Xmx512m",
                *SMALL_JVM,
                "-Dorg.apache.logging.log4j.level=WARN",
                "-cp",
                f"{classes}:{class_path('kafka')}",
                "KafkaProbe",
                brokers,
            ],
            folder / "kafka-probe.log",
        )

    def create(self, topics, **settings):
        """topics: {name: partitions}, all with these settings."""
        self.ask(
            "create",
            ",".join(f"{topic}:{partitions}" for topic, partitions in topics.items()),
            *(f"{key}={value}" for key, value in settings.items()),
        )

    def grow(self, topic, partitions):
        self.ask("grow", topic, partitions)

    def truncate(self, topic, partition, offset):
        self.ask("truncate", topic, partition, offset)

    def produce(self, topic, file):
        return int(self.ask("produce", topic, file)[0])

    def transact(self, topic, file, end):
        """end: "commit" or "abort"."""
        return int(self.ask("transact", topic, file, end)[0])

    def dump(self, topic, file):
        return int(self.ask("dump", topic, file)[0])

    def trim(self, topic, offset):
        """Deletes the records below this offset, in every partition."""
        self.ask("trim", topic, offset)

    def offsets(self, group, topic):
        """{partition: (begin, end, committed or -1, metadata text or None)}"""
        answer = {}
        for word in self.ask("offsets", group, topic):
            partition, begin, end, committed, metadata = word.split(":")
            answer[int(partition)] = (
                int(begin),
                int(end),
                int(committed),
                None if metadata == "-" else base64.b64decode(metadata).decode(),
            )
        return answer

    def members(self, group):
        """(state of the group, number of partitions of each member)"""
        try:
            state, *owned = self.ask("members", group)
        except ProbeError as error:
            if "GroupIdNotFound" not in str(error):
                raise
            return "Absent", []
        return state, [int(count) for count in owned]


class HBaseProbe(Probe):
    def __init__(self, configuration, folder):
        classes = compile_probe("hbase", "HBaseProbe")
        super().__init__(
            [
                "java",
                "-Xmx768m",
                *SMALL_JVM,
                *HBASE_JAVA,
                "-cp",
                f"{configuration}:{classes}:{class_path('hbase')}",
                "HBaseProbe",
            ],
            folder / "hbase-probe.log",
        )

    def scan(self, table, file):
        return int(self.ask("scan", table, file)[0])

    def watch(self, table):
        """Reads the whole table and compares it with the call before: (cells, [what went back for a reader])."""
        cells, *back = self.ask("watch", table)
        return int(cells), back

    def surpassed(self, table, rows):
        """Of rows as [(key, timestamp)]: how many are there with a higher timestamp."""
        return int(self.ask("surpassed", table, *(f"{key.hex()}:{timestamp}" for key, timestamp in rows))[0])

    def versions(self, table, row):
        """All versions of a row that the servers still hold, newest first: [("family:qualifier", timestamp, value)]."""
        found = []
        for word in self.ask("versions", table, row.hex()):
            family, qualifier, timestamp, value = word.split(":")
            name = bytes.fromhex(family) + b":" + bytes.fromhex(qualifier)
            found.append((name.decode(), int(timestamp), bytes.fromhex(value)))
        return found

    def describe(self, table):
        """{name: value}, names as in probe/HBaseProbe.java; "splits" as a list of bytes."""
        answer = dict(word.split("=", 1) for word in self.ask("describe", table))
        answer["splits"] = [bytes.fromhex(split) for split in answer["splits"].split(",") if split]
        return answer

    def create(self, table, *families):
        self.ask("create", table, *families)

    def put(self, table, row, family, qualifier, timestamp, value):
        """row, qualifier and value as bytes."""
        self.ask("put", table, row.hex(), family, qualifier.hex(), timestamp, value.hex())

    def delete(self, table, row, family=None, qualifier=None):
        """The row, or one cell of it."""
        self.ask("delete", table, row.hex(), *([family, qualifier.hex()] if family else []))

    def alter(self, table, **settings):
        """Settings of the table's descriptor; an empty one is taken back. Returns once all regions have them."""
        self.ask("alter", table, *(f"{name}={value}" for name, value in settings.items()))
