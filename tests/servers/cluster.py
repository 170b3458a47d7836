"""A distributed HBase on loopback whose RegionServers may be killed: NameNode, DataNode, ZooKeeper, HMaster, two RegionServers and a
Thrift2 server, each a process of its own.

The write-ahead logs lie in HDFS, so what a killed RegionServer had acknowledged is replayed by the master. HDFS and ZooKeeper
themselves are not to be killed: there is one copy of everything. Some 2 GB of memory in all; up in about 30 s.
"""

import signal
import subprocess

from processes import LOOPBACK, Process, ServerError, free_port
from rig import HBase, write_site

REGION_SERVERS = 2


class RegionServer:
    """One RegionServer; a restart keeps the port, as a machine would."""

    def __init__(self, cluster, number):
        self._cluster, self.name, self.port = cluster, f"regionserver-{number}", free_port()
        self.process = None

    def begin(self):
        """Starts it without waiting."""
        self.process = Process(
            self.name,
            self._cluster.java(
                "448m",
                "org.apache.hadoop.hbase.regionserver.HRegionServer",
                f"-Dhbase.regionserver.port={self.port}",
                "start",
            ),
            self._cluster.folder / f"{self.name}.log",
        )
        return self

    def start(self, timeout=120):
        self.begin().process.wait_until(lambda: "Serving as " in self.process.output(), timeout)
        return self

    @property
    def running(self):
        return self.process is not None and self.process.exit_code is None

    def kill(self):
        self.process.kill()


class HBaseCluster(HBase):
    """As HBase of the rig, with its servers apart and its data in HDFS."""

    def __init__(self, folder, transport="buffered", protocol="binary"):
        super().__init__(folder, transport, protocol)
        self._namenode_port, self._master_port = free_port(), free_port()
        self.region_servers = [RegionServer(self, number + 1) for number in range(REGION_SERVERS)]
        self._below = []  # HDFS and ZooKeeper

    def settings(self):
        return super().settings() | {
            "hbase.cluster.distributed": "true",
            "hbase.rootdir": f"hdfs://{LOOPBACK}:{self._namenode_port}/hbase",
            "hbase.unsafe.stream.capability.enforce": "true",
            "hbase.localcluster.assign.random.ports": "false",
            "hbase.master.port": self._master_port,
            "hbase.zookeeper.property.dataDir": self.folder / "zookeeper",
            # How long a killed RegionServer is waited for before its regions move; also how long a starved one may be silent.
            "zookeeper.session.timeout": 12000,
            "hbase.zookeeper.property.maxSessionTimeout": 40000,
            # Regions go back to a server that was killed and started again.
            "hbase.balancer.period": 30000,
            "hbase.regionserver.hlog.splitlog.writer.threads": 1,
            "hbase.regionserver.metahandler.count": 4,
            # Logs small enough that the recovery of a killed server takes seconds.
            "hbase.regionserver.maxlogs": 8,
            "hbase.regionserver.hlog.blocksize": 16 << 20,
        }

    def write_configuration(self, folder=None, more=None):
        super().write_configuration(folder, more)
        write_site(
            self.configuration / "core-site.xml",
            {"fs.defaultFS": f"hdfs://{LOOPBACK}:{self._namenode_port}", "hadoop.tmp.dir": self.folder / "tmp"},
        )
        data, http = self.folder / "hdfs", {name: free_port() for name in ("name", "data", "ipc", "web")}
        write_site(
            self.configuration / "hdfs-site.xml",
            {
                "dfs.replication": 1,
                "dfs.namenode.name.dir": f"file://{data}/name",
                "dfs.datanode.data.dir": f"file://{data}/data",
                "dfs.namenode.http-address": f"{LOOPBACK}:{http['name']}",
                "dfs.datanode.address": f"{LOOPBACK}:{http['data']}",
                "dfs.datanode.ipc.address": f"{LOOPBACK}:{http['ipc']}",
                "dfs.datanode.http.address": f"{LOOPBACK}:{http['web']}",
                "dfs.namenode.handler.count": 4,
                "dfs.namenode.datanode.registration.ip-hostname-check": "false",
                "dfs.datanode.hostname": LOOPBACK,
                "dfs.permissions.enabled": "false",
                "dfs.namenode.safemode.extension": 0,
                # An unfinished log of a killed writer is recovered at once.
                "dfs.namenode.lease-recheck-interval-ms": 500,
                "dfs.client.block.write.replace-datanode-on-failure.enable": "false",
            },
        )
        # The servers look for their web pages on the class path, and the jar lacks them.
        for application in ("hdfs", "datanode"):
            page = self.configuration / "webapps" / application / "WEB-INF/web.xml"
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text("<web-app/>\n")

    def _server(self, name, heap, main, *arguments, until, timeout):
        process = Process(name, self.java(heap, main, *arguments), self.folder / f"{name}.log")
        process.wait_until(lambda: until in process.output(), timeout)
        return process

    def start_master(self, timeout=180):
        if not self._below:
            self.write_configuration()
            self._start_below(timeout)
        for server in self.region_servers:
            if not server.running:
                server.begin()
        self._begin_master()
        self.master.wait_until(lambda: "Master has completed initialization" in self.master.output(), timeout)

    def _begin_master(self):
        self.master = Process(
            "hbase-master",
            self.java("320m", "org.apache.hadoop.hbase.master.HMaster", "start"),
            self.folder / "master.log",
        )

    def _start_below(self, timeout):
        done = subprocess.run(
            self.java("128m", "org.apache.hadoop.hdfs.server.namenode.NameNode", "-format", "-nonInteractive"),
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise ServerError(f"hdfs: format failed\n{done.stdout}{done.stderr}")
        hdfs = "org.apache.hadoop.hdfs.server"
        self._below = [
            self._server(
                "namenode", "192m", f"{hdfs}.namenode.NameNode", until="NameNode RPC up at", timeout=timeout
            ),
            self._server(
                "datanode",
                "192m",
                f"{hdfs}.datanode.DataNode",
                until="successfully registered with NN",
                timeout=timeout,
            ),
            self._server(
                "zookeeper",
                "96m",
                "org.apache.hadoop.hbase.zookeeper.HQuorumPeer",
                "start",
                until="",
                timeout=timeout,
            ),
        ]

    def restart_dead(self):
        """Starts the RegionServers and the master that have ended, without waiting; their names."""
        dead = [server for server in self.region_servers if not server.running]
        for server in dead:
            server.begin()
        names = [server.name for server in dead]
        if self.master.exit_code is not None:
            self._begin_master()
            names.append("hbase-master")
        return names

    def kill(self):
        self.thrift.kill()
        for process in (*(server.process for server in self.region_servers), self.master, *self._below):
            if process:
                process.kill()

    def stop_master(self, timeout=60):
        """Ends the RegionServers and the master; HDFS and ZooKeeper stay."""
        for server in self.region_servers:
            server.process.signal(signal.SIGTERM)
        for server in self.region_servers:
            server.process.wait(timeout)
        super().stop_master(timeout)
