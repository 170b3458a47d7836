"""Crashes and outages in the middle of the fleet; afterwards every cell is the same as without them."""

import shutil
import time

from harness import case
from service import expect, wait_until

SLICES, PAUSE_S = 10, 0.7
READINGS = 300_000


def begin(own, states):
    own.prepare()
    services = own.start("a", "b", states=states)
    return services, own.produce_slowly("full", SLICES, PAUSE_S)


def wait_consumed(services, share):
    """Until the running services together have consumed this share of the fleet since their starts."""
    wait_until(
        lambda: sum(service.consumed() for service in services if service.running) >= share * READINGS,
        90,
        f"{share:.0%} of the fleet consumed",
    )


def finish(own, producer):
    producer.join()
    own.settle(180)
    own.check()


@case("kill-one")
def test_case_14_kill_9_of_each_in_turn(own):
    (a, b), producer = begin(own, ["state", "state"])
    wait_consumed([a, b], 0.15)
    a.kill()
    time.sleep(1)
    a.start(ready=False)
    wait_consumed([b], 0.35)
    b.kill()
    time.sleep(1)
    b.start(ready=False)
    finish(own, producer)


@case("kill-both")
def test_kill_9_of_both(own):
    """Twice, restarted on the same state."""
    (a, b), producer = begin(own, ["state-a", "state-b"])
    for share in (0.2, 0.25):
        wait_consumed([a, b], share)
        a.kill()
        b.kill()
        a.start(ready=False)
        b.start(ready=False)
    finish(own, producer)


@case("lost-disk")
def test_kill_9_of_both_and_one_state_dir_lost(own):
    (a, b), producer = begin(own, ["state-a", "state-b"])
    wait_consumed([a, b], 0.6)
    a.kill()
    b.kill()
    expect((own.folder / "state-a").exists(), "state-a is where the state is")
    shutil.rmtree(own.folder / "state-a")
    a.start(ready=False)
    b.start(ready=False)
    finish(own, producer)


@case("outage")
def test_hbase_away(own):
    """First the Thrift server alone, then all of HBase; folding goes on, nobody leaves, nothing is lost."""
    hbase = own.lab.hbase
    own.prepare()
    services = own.start("a", "b")
    own.produce("full", "early")
    own.settle()
    before = sum(service.consumed() for service in services)
    hbase.thrift.stop()
    hbase.stop_master()
    away_since = time.monotonic()
    try:
        own.produce("full", "recent")
        wait_until(
            lambda: sum(service.consumed() for service in services) == READINGS,
            60,
            "folding goes on while HBase is away",
        )
        folded = sum(service.counters()["folded"] for service in services)
        expect(
            folded > 0.9 * READINGS, f"only {folded} of {READINGS} readings are folded while HBase is away"
        )
        expect(
            before < READINGS and not own.committed_to_end(), "nothing is committed that HBase does not have"
        )
        time.sleep(max(0.0, (60 if own.lab.long_outage else 5) - (time.monotonic() - away_since)))
        expect(all(service.running for service in services), "both processes wait for HBase")
        state, owned = own.lab.kafka_probe.members(own.group)
        expect(state == "Stable" and len(owned) == 2, f"both stay in the group: {state} {owned}")
    finally:
        hbase.start()
        own.lab.connect_hbase_probe()
    own.settle(180)
    own.check_exact_counters(own.check())
