"""`hourfold rebuild`: beside a live service and in its place, killed in the middle, into another table, of a log that has lost its
beginning."""

import copy
import shutil

import oracle
from harness import case
from oracle import HOUR_MS, MAX_FUTURE_MS
from service import expect, wait_until

MISSING = 3


def filled(own, fleet="small"):
    own.prepare()
    (service,) = own.start("a")
    own.produce(fleet, "early", "recent")
    own.settle()
    return service


def is_reading(record):
    """Whether any reading of the record can be used."""
    try:
        for document in oracle.documents(record.value or b""):
            try:
                oracle.parse(document)
                return True
            except oracle.Malformed:
                pass
    except oracle.Malformed:
        pass
    return False


def whole_from(own):
    """{partition: first hour that begins more than max_future after the first arrival in the log}"""
    first = {}
    for (partition, _), record in sorted(own.expected()[1].items()):
        if partition not in first and is_reading(record):
            first[partition] = (record.timestamp + MAX_FUTURE_MS) // HOUR_MS * HOUR_MS + HOUR_MS
    return first


def rebuilt(whole, corrected=()):
    """The generation of each row: whole hours are of the next one, and older rows that something came for since."""
    return lambda device, hour, window: int(hour >= whole[window.partition] or (device, hour) in corrected)


def rebuild(own, *words, code=0, timeout=180):
    done = own.command("rebuild", "--yes", *words, timeout=timeout)
    expect(done.returncode == code, f"rebuild {words}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def verified(own, *words):
    done = own.command("verify", "--quiet", *words, timeout=180)
    expect(done.returncode == 0, f"verify {words}: exit {done.returncode}\n{done.stdout}{done.stderr}")


def log_of(service):
    return service.process.tail(400)


def take_over(own, service):
    """Waits until the rebuild is the live service; the group's offsets are its own from then on."""
    wait_until(lambda: "of generation 1 now" in log_of(service), 120, "the generation is raised")
    own.group = f"{own.name}-group.g1"


@case("rebuild-follow", partitions=5)  # one of them is empty
def test_beside_a_live_service_and_in_its_place(own):
    old = filled(own)
    own.compare_cells(own.expected()[0])
    whole = whole_from(own)
    new = own.service("new", words=("rebuild", "--follow", "--yes")).start(ready=False)
    take_over(own, new)
    expect(old.process.wait(90) == MISSING, f"the old service ended with {old.process.exit_code}")
    expect("generation 1" in log_of(old) and "can be removed" in log_of(old), log_of(old))
    own.services.remove(old)
    own.settle()
    own.compare_cells(own.expected()[0], generation=rebuilt(whole))
    verified(own, "--set", f"kafka.group={own.group}")
    corrected = go_on(own, 1)
    own.settle()
    own.compare_cells(own.expected()[0], generation=rebuilt(whole, corrected))
    check_that_it_stays_the_live_service(own, new, whole, corrected)


def go_on(own, number):
    """A reading of now, and a late one of an hour that the rebuild has left as it was; {(device, hour)} of the late one."""
    now, late = own.lab.base, own.lab.base - 20 * 24 * HOUR_MS
    device = b"latecomer"
    own.produce_records(
        [
            (1, now, device, b'{"device":"latecomer","ts":%d,"metrics":{"m":%d}}' % (time + number, number), [])
            for time in (now, late)
        ]
    )
    return {(device, late // HOUR_MS * HOUR_MS)}


def check_that_it_stays_the_live_service(own, new, whole, corrected):
    """The same command again, as a supervisor gives it, and then `run` with its group: the generation stays."""
    expect(new.terminate() == 0, "SIGTERM of the live service")
    new.start()
    go_on(own, 2)
    own.settle()
    expect("of generation 2" not in log_of(new), log_of(new))
    expect(new.terminate() == 0, "SIGTERM of the live service")
    own.settings["kafka"]["group"] = own.group
    own.write_configuration()
    own.start("run")
    go_on(own, 3)
    own.settle()
    own.compare_cells(own.expected()[0], generation=rebuilt(whole, corrected))
    verified(own)


@case("rebuild-killed", long=True)
def test_killed_in_the_middle_and_started_again(own):
    """While it reads, while it writes, and once without its state."""
    old = filled(own, "full")
    expect(old.terminate() == 0, "SIGTERM of the old service")
    whole = whole_from(own)
    new = own.service("new", words=("rebuild", "--follow", "--yes"))
    begun = []
    for what, lost in (("consumed", False), ("put", False), ("put", True), (None, False)):
        new.start(ready=False)
        begun.append(new)
        if what == "consumed":
            wait_until(lambda: new.consumed() > 20_000, 60, "it reads")
        elif what == "put":
            wait_until(lambda: new.total("hourfold_rows_put_total") > 500, 120, "it writes")
        else:
            break
        expect("of generation 1 now" not in log_of(new), "it was done before it was killed")
        new.kill()
        if lost:
            shutil.rmtree(own.folder / "state" / f"{own.group}.g1")
    take_over(own, new)
    own.settle()
    own.compare_cells(own.expected()[0], generation=rebuilt(whole))


@case("rebuild-into", partitions=4)
def test_into_other_tables(own):
    """A new one gets everything that a whole log has; the same again changes nothing; one of a log that was cut, the whole hours."""
    service = filled(own)
    expected = own.expected()[0]
    for number in (1, 2):
        if number == 1:
            create(own, "rebuild-copy")
        done = rebuild(own, "--into", "rebuild-copy")
        expect("rebuilt table 'rebuild-copy'" in done.stdout, done.stdout)
        own.compare_cells(expected, table="rebuild-copy")
        expect(own.lab.kafka_probe.offsets(f"{own.group}.into.rebuild-copy", own.topic), "it has a group")
    verified(own, "--set", "sink.table=rebuild-copy")
    expect(service.running, "the live service goes on")

    for partition, (_, end, _, _) in own.lab.kafka_probe.offsets(own.group, own.topic).items():
        own.lab.kafka_probe.truncate(own.topic, partition, end // 2)
    whole = whole_from(own)
    create(own, "rebuild-cut")
    rebuild(own, "--into", "rebuild-cut")
    kept = copy.copy(expected)
    kept.windows = {k: window for k, window in expected.windows.items() if k[1] >= whole[window.partition]}
    expect(0 < len(kept.windows) < len(expected.windows), f"{len(kept.windows)} hours are whole")
    own.compare_cells(kept, table="rebuild-cut")


def create(own, table):
    done = own.command("table", "create", "--set", f"sink.table={table}")
    expect(done.returncode == 0, f"{done.stdout}{done.stderr}")


@case("rebuild-fill", partitions=4, long=True)
def test_what_is_missing_comes_back(own):
    """Of the generation that is there, in a table that somebody has emptied; twice, and beside the live service."""
    service = filled(own)
    whole, expected = whole_from(own), copy.copy(own.expected()[0])
    expected.windows = {k: w for k, w in expected.windows.items() if k[1] >= whole[w.partition]}
    own.settings["sink"]["table"] = own.table = "rebuild-emptied"
    own.write_configuration()
    own.create_table()
    for _ in range(2):
        rebuild(own)
        own.compare_cells(expected)
        expect(not (own.folder / "state" / f"{own.group}.fill").exists(), "its state is gone")
    expect(service.running, "the live service goes on")


@case("rebuild-markers", partitions=1, long=True)
def test_case_23_a_log_that_ends_in_what_is_no_record(own):
    """Transaction markers and aborted records at the end: the rebuild comes to its end, and lags by nothing."""
    own.prepare()
    (service,) = own.start("a")

    def reading(number):
        text = b'{"device":"d1","ts":%d,"metrics":{"m":%d}}' % (own.lab.base - number, number)
        return (0, own.lab.base, b"d1", text, [])

    own.produce_records([reading(1)])
    own.produce_records([reading(2), reading(3)], transaction="commit")
    own.produce_records([reading(4)], transaction="abort")
    own.settle(60)
    made = own.command("table", "create", "--set", "sink.table=rebuild-markers-copy")
    expect(made.returncode == 0, f"{made.stdout}{made.stderr}")
    rebuild(own, "--into", "rebuild-markers-copy")
    own.compare_cells(own.expected()[0], table="rebuild-markers-copy")
    group = f"{own.group}.into.rebuild-markers-copy"
    _, end, committed, _ = own.lab.kafka_probe.offsets(group, own.topic)[0]
    expect(committed == end == 6, f"committed {committed} of {end}")
    verified(own)
    new = own.service("new", words=("rebuild", "--follow", "--yes")).start(ready=False)
    take_over(own, new)
    expect(service.process.wait(90) == MISSING, f"the old service ended with {service.process.exit_code}")
    own.services.remove(service)
    own.settle(60)
    verified(own)


@case("rebuild-refused", partitions=2)
def test_not_without_being_asked(own):
    own.prepare()
    done = own.command("rebuild", "--follow")
    expect(done.returncode == 2 and "--yes" in done.stderr, f"{done.returncode} {done.stderr}")
    done = own.command("rebuild", "--yes", "--into", "nowhere", "--set", "startup_timeout=2s")
    expect(done.returncode == MISSING and "table create" in done.stderr, f"{done.returncode} {done.stderr}")
