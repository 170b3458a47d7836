#!/usr/bin/env python3
"""Real Kafka and HBase on loopback, for tests, benchmarks and developers.

    python3 tests/servers/rig.py up --dir build/servers/dev [--kafka-only | --hbase-only]

prints the addresses and keeps the servers until SIGTERM or Ctrl-C. As a module it gives the classes Kafka and HBase.
Every server listens on 127.0.0.1 on free ports that it keeps over a restart, has its data and log below the given folder,
and dies with the process that started it. The jars are those of tests/servers/fetch.
"""

import argparse
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
import uuid

from processes import LOOPBACK, Process, ServerError, clean_up_on_exit, free_port

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIB = ROOT / "build/servers/lib"

# What HBase 2.5 needs on Java 17.
HBASE_JAVA = [
    f"--add-opens=java.base/{package}=ALL-UNNAMED"
    for package in (
        "java.lang",
        "java.nio",
        "sun.nio.ch",
        "java.lang.reflect",
        "java.util",
        "jdk.internal.misc",
    )
] + [
    "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
    "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
]

# Two cores are shared with the program under test: a small heap, one collector thread, quick start.
SMALL_JVM = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=4", "-Xshare:auto", "-Djava.net.preferIPv4Stack=true"]


def class_path(server):
    jars = LIB / server
    if not any(jars.glob("*.jar")):
        raise ServerError(f"no jars in {jars}: run tests/servers/fetch")
    return f"{jars}/*"


class Kafka:
    """One node as broker and controller. Topics are not created by use; record timestamps in the past are kept.

    doors: {name in capitals: port}. For each of them the broker has a listener of its own, on listener_port(name), whose clients are
    told to come to `port`: a proxy there sees all that they say.
    """

    def __init__(self, folder, doors=()):
        self._doors = {name: (free_port(), port) for name, port in dict(doors).items()}
        self.folder = pathlib.Path(folder).resolve()
        self.port, self._controller_port = free_port(), free_port()
        self.address = f"{LOOPBACK}:{self.port}"
        self.process = None

    def listener_port(self, door):
        return self._doors[door][0]

    def _java(self, heap, main, *arguments):
        return [
            "java",
            f"-Xmx{heap}",
            *SMALL_JVM,
            "-Dorg.apache.logging.log4j.level=WARN",
            "-cp",
            class_path("kafka"),
            main,
            *arguments,
        ]

    def start(self, timeout=120):
        properties = self.folder / "server.properties"
        if not properties.exists():
            self._format(properties)
        self.process = Process(
            "kafka", self._java("512m", "kafka.Kafka", properties), self.folder / "kafka.log"
        )
        self.process.wait_until(self._answers, timeout)
        return self

    def _format(self, properties):
        self.folder.mkdir(parents=True, exist_ok=True)
        listeners = "".join(f",{name}://{LOOPBACK}:{port}" for name, (port, _) in self._doors.items())
        advertised = "".join(f",{name}://{LOOPBACK}:{port}" for name, (_, port) in self._doors.items())
        protocols = ",".join(f"{name}:PLAINTEXT" for name in ("PLAINTEXT", "CONTROLLER", *self._doors))
        settings = {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@{LOOPBACK}:{self._controller_port}",
            "listeners": f"PLAINTEXT://{self.address},CONTROLLER://{LOOPBACK}:{self._controller_port}{listeners}",
            "advertised.listeners": f"PLAINTEXT://{self.address}{advertised}",
            "listener.security.protocol.map": protocols,
            "controller.listener.names": "CONTROLLER",
            "log.dirs": self.folder / "data",
            "auto.create.topics.enable": "false",
            # Retention looks at record timestamps: without this a topic of past readings is emptied minutes after it was filled.
            "log.retention.ms": -1,
            "offsets.topic.replication.factor": 1,
            "offsets.topic.num.partitions": 4,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "transaction.state.log.num.partitions": 2,
            "share.coordinator.state.topic.replication.factor": 1,
            "share.coordinator.state.topic.min.isr": 1,
            "group.initial.rebalance.delay.ms": 0,
            "group.min.session.timeout.ms": 1000,
        }
        properties.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        done = subprocess.run(
            self._java(
                "128m", "kafka.tools.StorageTool", "format", "-t", uuid.uuid4().hex[:22], "-c", properties
            ),
            capture_output=True,
            text=True,
        )
        if done.returncode:
            properties.unlink()
            raise ServerError(f"kafka: format failed\n{done.stdout}{done.stderr}")

    def _answers(self):
        """ApiVersions request, version 0: the broker speaks, not only listens."""
        request = struct.pack(">hhih", 18, 0, 7, -1)
        return _reply(self.port, struct.pack(">i", len(request)) + request, struct.pack(">i", 7), skip=4)

    def stop(self):
        self.process.stop()

    def kill(self):
        self.process.kill()


def _reply(port, request, expected, skip=0):
    """Whether the server on `port` answers `request` with `expected` after `skip` bytes."""
    try:
        with socket.create_connection((LOOPBACK, port), 1) as connection:
            connection.settimeout(5)
            connection.sendall(request)
            answer = b""
            while len(answer) < skip + len(expected):
                part = connection.recv(4096)
                if not part:
                    return False
                answer += part
            return answer[skip:].startswith(expected)
    except OSError:
        return False


def write_site(file, settings):
    """A Hadoop configuration file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    properties = (
        f"<property><name>{key}</name><value>{value}</value></property>\n" for key, value in settings.items()
    )
    file.write_text("<configuration>\n" + "".join(properties) + "</configuration>\n")


class Thrift:
    """A Thrift server of its own process in front of an HBase: generation 2 (what Hourfold speaks) or 1 (what it must refuse)."""

    MAIN = {
        1: "org.apache.hadoop.hbase.thrift.ThriftServer",
        2: "org.apache.hadoop.hbase.thrift2.ThriftServer",
    }

    def __init__(self, hbase, version=2, transport="buffered", protocol="binary", settings=None):
        """settings: of hbase-site.xml, for this server alone."""
        self._hbase, self.version, self.transport, self.protocol = hbase, version, transport, protocol
        self._settings = settings
        self.port = free_port()
        self.address = f"{LOOPBACK}:{self.port}"
        self.process = None

    def start(self, timeout=60):
        options = ["--port", self.port, "--bind", LOOPBACK, "--infoport", "-1"]
        # Generation 1 takes no server type together with -f, and needs none.
        options += ["-threadpool"] if self.version == 2 or self.transport == "buffered" else []
        options += ["-f"] if self.transport == "framed" else []
        options += ["-c"] if self.protocol == "compact" else []
        name = f"thrift{self.version}-{self.transport}-{self.protocol}"
        configuration = self._hbase.configuration
        if self._settings:
            configuration = self._hbase.folder / f"conf-{self.port}"
            self._hbase.write_configuration(configuration, self._settings)
        self.process = Process(
            name,
            self._hbase.java("384m", self.MAIN[self.version], *options, "start", configuration=configuration),
            self._hbase.folder / f"{name}-{self.port}.log",
        )
        self.process.wait_until(self._answers, timeout)
        return self

    def _answers(self):
        """A getThriftServerType call in the server's own protocol and transport."""
        name = b"getThriftServerType"
        if self.protocol == "compact":
            call, expected = b"\x82\x21\x01" + bytes([len(name)]) + name + b"\0", b"\x82\x41"
        else:
            call, expected = (
                struct.pack(">II", 0x80010001, len(name)) + name + struct.pack(">IB", 1, 0),
                b"\x80\x01\x00\x02",
            )
        if self.transport == "framed":
            return _reply(self.port, struct.pack(">I", len(call)) + call, expected, skip=4)
        return _reply(self.port, call, expected)

    def stop(self):
        self.process.stop(10)

    def kill(self):
        self.process.kill()


class HBase:
    """Standalone HMaster (region server and ZooKeeper inside it, data on file://) and one Thrift2 server of its own process.

    A killed master may lose acknowledged edits on file://: use stop(), which flushes, where the data is to survive.
    """

    def __init__(self, folder, transport="buffered", protocol="binary"):
        self.folder = pathlib.Path(folder).resolve()
        self.zookeeper_port = free_port()
        self.thrift = Thrift(self, 2, transport, protocol)
        self.address = self.thrift.address
        self.master = None

    @property
    def configuration(self):
        """The folder with hbase-site.xml, for a client's class path."""
        return self.folder / "conf"

    def java(self, heap, main, *arguments, configuration=None):
        return [
            "java",
            f"-Xmx{heap}",
            *SMALL_JVM,
            *HBASE_JAVA,
            f"-Dhbase.log.dir={self.folder}",
            "-cp",
            f"{configuration or self.configuration}:{class_path('hbase')}",
            main,
            *arguments,
        ]

    def settings(self):
        """hbase-site.xml, {name: value}."""
        return {
            "hbase.cluster.distributed": "false",
            "hbase.rootdir": f"file://{self.folder}/data",
            "hbase.tmp.dir": self.folder / "tmp",
            "hbase.unsafe.stream.capability.enforce": "false",
            "hbase.wal.provider": "filesystem",
            "hbase.master.hostname": LOOPBACK,
            "hbase.regionserver.hostname": LOOPBACK,
            "hbase.master.ipc.address": LOOPBACK,
            "hbase.regionserver.ipc.address": LOOPBACK,
            "hbase.master.info.port": -1,
            "hbase.regionserver.info.port": -1,
            "hbase.localcluster.assign.random.ports": "true",
            "hbase.zookeeper.quorum": LOOPBACK,
            "hbase.zookeeper.property.clientPort": self.zookeeper_port,
            "hbase.zookeeper.property.clientPortAddress": LOOPBACK,
            # A starved machine must not make HBase give itself up.
            "zookeeper.session.timeout": 180000,
            "hbase.zookeeper.property.maxSessionTimeout": 180000,
            # By default each store that was ever written holds a chunk of 2 MB; every test has a table of its own, of many regions.
            "hbase.hregion.memstore.mslab.enabled": "false",
            "hbase.regionserver.handler.count": 10,
            "hbase.master.wait.on.regionservers.mintostart": 1,
            "hbase.master.wait.on.regionservers.timeout": 500,
            "hbase.master.wait.on.regionservers.interval": 200,
            # The Thrift server's own retries, bounded as the documentation asks operators to.
            "hbase.client.retries.number": 4,
            "hbase.rpc.timeout": 10000,
            "hbase.client.operation.timeout": 20000,
            "hbase.thrift.minWorkerThreads": 4,
        }

    def write_configuration(self, folder=None, more=None):
        """To `folder`, or to where all processes of this HBase look; `more` are settings beyond the usual."""
        folder = folder or self.configuration
        write_site(folder / "hbase-site.xml", self.settings() | (more or {}))
        (folder / "log4j.properties").write_text(
            "log4j.rootLogger=INFO, err\nlog4j.appender.err=org.apache.log4j.ConsoleAppender\nlog4j.appender.err.target=System.err\n"
            "log4j.appender.err.layout=org.apache.log4j.PatternLayout\n"
            "log4j.appender.err.layout.ConversionPattern=%d{ISO8601} %p %c{1}: %m%n\nlog4j.logger.org.apache.zookeeper=WARN\n"
        )

    def start(self, timeout=120):
        self.start_master(timeout)
        self.thrift.start(timeout)
        return self

    def start_master(self, timeout=120):
        self.write_configuration()
        self.master = Process(
            "hbase-master",
            self.java("1g", "org.apache.hadoop.hbase.master.HMaster", "start"),
            self.folder / "master.log",
        )
        self.master.wait_until(lambda: "Master has completed initialization" in self.master.output(), timeout)

    def stop_master(self, timeout=60):
        """Ends the master with everything flushed."""
        self.master.signal(signal.SIGTERM)
        self.master.wait(timeout)

    def stop(self):
        self.thrift.stop()
        self.stop_master()

    def kill(self):
        self.thrift.kill()
        self.master.kill()


def up(options):
    folder = pathlib.Path(options.dir)
    for server in ("kafka", "hbase"):
        shutil.rmtree(folder / server, ignore_errors=True)
    clean_up_on_exit()
    try:
        if not options.hbase_only:
            print(f"kafka         {Kafka(folder / 'kafka').start().address}", flush=True)
        if not options.kafka_only:
            hbase = HBase(folder / "hbase").start()
            print(f"hbase thrift2 {hbase.address}\nhbase conf    {hbase.configuration}", flush=True)
        print("ready; SIGTERM or Ctrl-C ends them", flush=True)
        while all(process.exit_code is None for process in Process.living):
            time.sleep(1)
        raise ServerError("\n".join(p.tail() for p in Process.living if p.exit_code is not None))
    except ServerError as error:
        print(error, file=sys.stderr)
        return 3


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    command = parser.add_subparsers(dest="command", required=True).add_parser(
        "up", help="start the servers and stay"
    )
    command.add_argument(
        "--dir", required=True, help="folder for data and logs; its kafka and hbase folders are emptied first"
    )
    command.add_argument("--kafka-only", action="store_true")
    command.add_argument("--hbase-only", action="store_true")
    return up(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
