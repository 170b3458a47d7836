"""What a user does wrong, or what is missing: one clear message, the right exit code, no long wait."""

from harness import case
from processes import LOOPBACK, free_port
from rig import Thrift
from service import expect, wait_until

WRONG_USE, MISSING = 2, 3


def refused(own, code, *mentions, settings=(), timeout=25, command=("run",)):
    """Runs hourfold to its end and checks the exit code and that its messages name what they must."""
    words = [*command, "--set", "startup_timeout=3s", "--set", f"http.listen={LOOPBACK}:{free_port()}"]
    for setting in settings:
        words += ["--set", setting]
    done = own.command(*words, timeout=timeout)
    told = f"exit {done.returncode}, stderr:\n{done.stderr}\nstdout:\n{done.stdout}"
    expect(done.returncode == code, f"want exit {code}; {told}")
    for mention in mentions:
        expect(mention.lower() in done.stderr.lower(), f"stderr does not name {mention!r}; {told}")
    for noise in ("terminate called", "what():", "Traceback", "TApplicationException", "core dumped"):
        expect(noise not in done.stderr, f"a raw {noise!r} reaches the user; {told}")
    errors = [
        line for line in done.stderr.splitlines() if "error" in line.lower() or line.startswith("hourfold:")
    ]
    expect(len(errors) <= 2, f"more than one message; {told}")


@case("no-table", partitions=2)
def test_table_missing(own):
    own.create_topics()
    refused(own, MISSING, own.table, "table create")


@case("no-family", partitions=2)
def test_family_missing(own):
    own.create_topics()
    own.lab.hbase_probe.create(own.table, "r")
    refused(own, MISSING, own.table, "famil")


@case("wrong-port", partitions=2)
def test_wrong_port(own):
    own.create_topics()
    address = f"{LOOPBACK}:{free_port()}"
    refused(own, MISSING, address, settings=[f"sink.address={address}"])


@case("not-thrift", partitions=2)
def test_another_service_on_the_port(own):
    """The Kafka broker's port: it listens, but does not speak Thrift."""
    own.create_topics()
    refused(
        own, MISSING, own.lab.kafka.address, settings=[f"sink.address={own.lab.kafka.address}"], timeout=60
    )


@case("thrift1", partitions=2)
def test_thrift1_instead_of_thrift2(own):
    own.create_topics()
    thrift = Thrift(own.lab.hbase, 1).start()
    try:
        refused(own, MISSING, thrift.address, "thrift2", settings=[f"sink.address={thrift.address}"])
    finally:
        thrift.kill()


@case("wrong-transport", partitions=2)
def test_wrong_transport(own):
    """Framed against the buffered server."""
    own.prepare()
    refused(own, MISSING, own.lab.hbase.address, settings=["sink.transport=framed"], timeout=90)


@case("no-broker", partitions=2)
def test_no_broker(own):
    own.prepare()
    address = f"{LOOPBACK}:{free_port()}"
    refused(own, MISSING, address, settings=[f"kafka.brokers={address}"])


@case("no-topic", partitions=2)
def test_unknown_topic(own):
    own.prepare()
    refused(own, MISSING, "nosuchtopic", settings=['kafka.topics=["nosuchtopic"]'])


@case("no-side-topic", partitions=2)
def test_side_topic_missing(own):
    own.prepare()
    refused(own, MISSING, "nosuchtopic.dlq", settings=["side.dead_letter=nosuchtopic.dlq"])


@case("bad-state-dir", partitions=2)
def test_state_dir_unusable(own):
    """A file where the folder should be: as root, as in CI, no mode bits would refuse us."""
    own.prepare()
    (own.folder / "occupied").write_text("")
    refused(own, WRONG_USE, "occupied", settings=[f"state.dir={own.folder}/occupied/state"])


@case("bad-configuration", partitions=2)
def test_broken_configuration(own):
    good = own.configuration.read_text()
    own.configuration.write_text(good[:-5])
    refused(own, WRONG_USE, "hourfold.json")
    own.configuration.write_text(good)
    for setting, mentions in (
        ("sink.tabel=x", ("sink.tabel", "table")),
        ("emit.refresh=soon", ("emit.refresh",)),
        ("sink.buckets=200", ("sink.buckets", "128")),
        ("reading.format=protobuf", ("reading.format", "avro")),
        ("reading.format=avro", ("reading.schema",)),
        ("reading.time_unit=minutes", ("reading.time_unit", "rfc3339")),
        ("sink.layout=tall", ("sink.layout",)),
        ("kafka.partitioning=some", ("partitioning", "any")),
        ('kafka.topics=["a","b"]', ("topics",)),
        ("kafka.topics=[]", ("topics",)),
    ):
        refused(own, WRONG_USE, *mentions, settings=[setting])


@case("wrong-use", partitions=2)
def test_wrong_use(own):
    own.configuration.unlink()
    refused(own, WRONG_USE, "hourfold.json")
    refused(own, WRONG_USE, command=("run", "--frobnicate"))


@case("wrong-key", partitions=2)
def test_key_that_is_not_the_device(own):
    """by_device on two partitions: a record whose key is another device stops the worker with the explanation."""
    own.prepare()
    (service,) = own.start("a")
    now = own.lab.base
    own.produce_records([(0, now, b"gateway-7", b'{"device":"d1","ts":%d,"metrics":{"m":1}}' % now, [])])
    wait_until(lambda: not service.running, 30, "the worker stops")
    told = service.process.output()
    expect(service.process.exit_code in (WRONG_USE, MISSING), f"exit {service.process.exit_code}\n{told}")
    expect("gateway-7" in told and "d1" in told and "partitioning" in told, f"no explanation:\n{told}")
