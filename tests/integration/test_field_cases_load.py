"""Cases met in the field about speed and memory, at a size for every day; at full size with --long."""

import shutil
import time

from harness import Case, case
from proxy import TcpProxy
from service import expect, wait_until

MIB = 1 << 20


def records(own, devices, metrics=1, hours=1, start=0, pace_ms=1):
    """A reading of each device in each of the last hours, in time order; keys decide the partition."""
    body = ",".join(f'"metric_{m}":%d.{m}5' for m in range(metrics))
    for hour in range(hours):
        for number in range(devices):
            moment = own.lab.base - (hours - 1 - hour) * 3_600_000 + start - number % 1_000 * pace_ms
            value = f'{{"device":"dev-{number:08d}","ts":{moment},"metrics":{{{body}}}}}'
            yield None, moment, b"dev-%08d" % number, (value % ((number % 97,) * metrics)).encode(), []


def resident(service):
    """Bytes of memory that the process holds."""
    with open(f"/proc/{service.process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))


@case("case-19", partitions=4)
def test_case_19_state_lost_with_many_devices_open(own):
    """400,000 devices with --long, else 20,000."""
    devices = 400_000 if own.lab.long_outage else 20_000
    own.prepare()
    (service,) = own.start("a")
    own.produce_records(records(own, devices))
    own.settle(600)
    service.kill()
    shutil.rmtree(own.folder / "state")
    own.produce_records(records(own, devices // 20, start=5_000))
    began = time.monotonic()
    service.start(ready=False)
    wait_until(
        lambda: service.total("hourfold_readings_total", result="folded") > 0, 60, "a first reading is folded"
    )
    took = time.monotonic() - began
    print(f"      {devices} devices: first reading folded {took:.1f} s after the start", flush=True)
    expect(took < 30, f"the first reading was folded after {took:.1f} s")
    own.settle(600)
    own.check()


def watch_memory(service, seconds):
    """The most that was resident within this time."""
    highest, deadline = 0, time.monotonic() + seconds
    while time.monotonic() < deadline:
        highest = max(highest, resident(service))
        time.sleep(0.25)
    return highest


@case("case-26", partitions=8, long=True)
def test_case_26_sink_stalled_at_full_rate(own):
    """Ten minutes with --long, else 30 s. More comes in than the bounds hold, so partitions pause, and go on afterwards."""
    own.settings["state"]["memory"] = "64MiB"
    own.settings["kafka"]["properties"]["queued.max.messages.kbytes"] = "16384"
    own.write_configuration()
    own.prepare()
    proxy = TcpProxy(own.lab.hbase.address)
    try:
        service = own.service("a", settings=[f"sink.address={proxy.address}"]).start()
        own.wait_balanced(1)
        idle = resident(service)
        proxy.hold()
        own.produce_records(records(own, 25_000, hours=8))
        highest = watch_memory(service, 600 if own.lab.long_outage else 30)
        paused = service.total("hourfold_partition_paused")
        read = service.consumed()
        # state.memory, what librdkafka may hold (64 KiB of payload in messages of 150 bytes come with twice that beside
        # them), and one answer of the broker.
        limit = idle + (64 + 3 * 16 + 64) * MIB
        print(
            f"      resident: {idle // MIB} MiB idle, {highest // MIB} MiB stalled, limit {limit // MIB} MiB;"
            f" {read:.0f} readings in, {paused:.0f} partitions paused",
            flush=True,
        )
        expect(paused > 0, "the bounds were reached")
        expect(highest < limit, f"{highest // MIB} MiB resident, limit {limit // MIB} MiB")
        state, owned = own.lab.kafka_probe.members(own.group)
        expect(state == "Stable" and owned == [8], f"it stays in the group: {state} {owned}")
    finally:
        proxy.release()
    own.settle(300)
    own.check()
    proxy.close()


@case("case-32", partitions=1, long=True)
def test_case_32_one_partition_or_64(own):
    """The same devices, more of them than the memory for open hours holds: resident memory within 1.3 times."""
    many = Case(own.lab, "case-32-64", partitions=64)
    sizes = []
    try:
        for one in (own, many):
            one.settings["state"]["memory"] = "64MiB"
            one.settings["kafka"]["properties"]["queued.max.messages.kbytes"] = "16384"
            one.write_configuration()
            one.prepare()
            (service,) = one.start("a")
            one.produce_records(records(one, 120_000))
            one.settle(300)
            time.sleep(5)
            sizes.append(resident(service))
            expect(service.consumed() == 120_000, "all of it was read")
            expect(service.terminate(60) == 0, "SIGTERM ends it")
    finally:
        many.close()
    print(f"      resident: {sizes[0] // MIB} MiB with 1 partition, {sizes[1] // MIB} MiB with 64", flush=True)
    expect(max(sizes) <= 1.3 * min(sizes), f"{sizes} bytes resident")
