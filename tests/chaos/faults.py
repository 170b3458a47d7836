"""The faults, by name. Each acts on a world, draws its details from the schedule's random, undoes itself, and says what it did.

Each holds the lock of what it breaks: the fault budget is any number of workers at once, and of each server one fault at a time. A
fault of HBase lasts until the table can be read again: killed faster than it recovers it would only be away, and nothing else be tried.
"""

import signal
import time

from fault_proxy import rows_in
from probes import ProbeError
from processes import ServerError
from service import Failed

START_S = 240  # a server that is started again
NEWER_S = 60  # for newer Puts to pass one that was held back
PATIENCE_S = 300  # for a server to be of use again: regions that move while the HMaster is away take HBase minutes
SESSION_TIMEOUT_S = 6  # of the workers' group membership


def _any_worker(world, draw):
    return draw.choice(world.workers)


def _mid_batch(worker, seconds=5.0):
    """Waits until the table owes the worker an answer; the number of requests in flight, 0 where there was none in time."""
    deadline = time.monotonic() + seconds
    while not (count := worker.hbase.in_flight()) and time.monotonic() < deadline:
        time.sleep(0.002)
    return count


def _kill(worker):
    in_flight = _mid_batch(worker)
    worker.service.kill()
    return f"with {in_flight} requests to HBase in flight"


def kill_worker(world, draw):
    """kill -9 in the middle of a batch, back before or after it is missed."""
    worker, away = _any_worker(world, draw), draw.choice((0.2, 2, SESSION_TIMEOUT_S + 4))
    with worker.lock:
        how = _kill(worker)
        world.say(f"kill -9 of worker {worker.name} {how}, for {away} s")
        time.sleep(away)
        worker.start()


def kill_all_workers(world, draw):
    away = draw.uniform(0.2, 4)
    for worker in world.workers:
        worker.lock.acquire()
    try:
        how = [f"{worker.name} {_kill(worker)}" for worker in world.workers]
        world.say(f"kill -9 of all workers, {'; '.join(how)}, for {away:.1f} s")
        time.sleep(away)
        for worker in world.workers:
            worker.start()
    finally:
        for worker in world.workers:
            worker.lock.release()


def lose_state(world, draw):
    worker = _any_worker(world, draw)
    with worker.lock:
        how = _kill(worker)
        worker.lose_state()
        world.say(f"kill -9 of worker {worker.name} {how}, state directory deleted")
        time.sleep(draw.uniform(0.2, 3))
        worker.start()


def _stop(world, worker, seconds):
    with worker.lock:
        in_flight = _mid_batch(worker)
        worker.service.process.signal(signal.SIGSTOP)
        world.say(f"SIGSTOP of worker {worker.name} with {in_flight} requests in flight, for {seconds:.1f} s")
        time.sleep(seconds)
        worker.service.process.signal(signal.SIGCONT)


def stop_worker(world, draw):
    """Back before the group misses it."""
    _stop(world, _any_worker(world, draw), draw.uniform(0.5, SESSION_TIMEOUT_S - 2))


def zombie_worker(world, draw):
    """Its partitions have other owners, who write, when it goes on."""
    _stop(world, _any_worker(world, draw), draw.uniform(SESSION_TIMEOUT_S + 4, SESSION_TIMEOUT_S + 10))


def isolate_worker(world, draw):
    """Cut off from Kafka and not from HBase: it loses its partitions and goes on writing what it has."""
    worker, seconds = _any_worker(world, draw), draw.uniform(SESSION_TIMEOUT_S + 3, SESSION_TIMEOUT_S + 8)
    with worker.lock:
        world.say(f"nothing passes between worker {worker.name} and Kafka for {seconds:.1f} s")
        worker.kafka.stall(seconds)


def terminate_worker(world, draw):
    """SIGTERM and a new start, as an upgrade does."""
    worker = _any_worker(world, draw)
    with worker.lock:
        began = time.monotonic()
        code = worker.service.terminate(60)
        world.say(f"SIGTERM of worker {worker.name}: exit code {code} after {time.monotonic() - began:.1f} s")
        worker.start()


def cut_hbase(world, draw):
    """The request has arrived, the answer has not: nobody knows whether it landed."""
    worker, seconds = _any_worker(world, draw), draw.uniform(1, 5)
    world.say(f"worker {worker.name}: {worker.hbase.cut_answers(seconds)} answers of HBase cut")


def cut_kafka(world, draw):
    """Fetches, heartbeats, commits and side records without their answers."""
    worker, seconds = _any_worker(world, draw), draw.uniform(0.5, 3)
    world.say(f"worker {worker.name}: {worker.kafka.cut_answers(seconds)} answers of Kafka cut")


def cut_everything(world, draw):
    """All connections of all workers at one moment."""
    count = sum(worker.hbase.cut() + worker.kafka.cut() for worker in world.workers)
    world.say(f"{count} connections closed at once")


def _hold_puts(world, draw, count):
    """(worker, Puts) of the first one that sends some: where HBase is away for other reasons, that takes a while. None once the load
    is over."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and world.loading():
        for worker in draw.sample(world.workers, len(world.workers)):
            with worker.holding:
                worker.hbase.hold_puts(count, 8)
                if held := worker.hbase.take_held():
                    return worker, held
    if world.loading():
        raise Failed(f"no worker sent a Put within {PATIENCE_S} s")
    return None, []


def _wait_for_the_table(world):
    """Until all its regions are served again."""
    _until_done(lambda: world.lab.hbase_probe.scan(world.case.table, world.case.folder / "again.scan"))


def _until_done(ask):
    """What `ask` gives, as soon as HBase is there for it."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return ask()
        except (ServerError, ProbeError, OSError):
            if time.monotonic() > deadline:
                raise
            time.sleep(1)


def _surpassed(world, rows):
    return world.lab.hbase_probe.surpassed(world.case.table, rows)


def late_put(world, draw):
    """A Put whose connection broke, and which the server carries out many seconds later, when newer ones have landed."""
    seconds, count = draw.uniform(6, 15), draw.randint(1, 4)
    worker, held = _hold_puts(world, draw, count)
    if not held:
        world.say("the load is over, and nobody sends a Put any more")
        return
    world.say(f"worker {worker.name}: {len(held)} Puts held back for {seconds:.1f} s")
    time.sleep(seconds)
    rows = rows_in(held)
    deadline = time.monotonic() + NEWER_S
    while not (surpassed := _until_done(lambda: _surpassed(world, rows))) and time.monotonic() < deadline:
        time.sleep(1)
    _until_done(lambda: worker.hbase.deliver(held))
    world.late_puts += len(held)
    world.late_rows += len(rows)
    world.late_surpassed += surpassed
    world.say(f"worker {worker.name}: {len(held)} old Puts landed: {len(rows)} rows, {surpassed} of them surpassed")


def kill_region_server(world, draw):
    with world.region_lock:
        server = draw.choice(world.lab.hbase.region_servers)
        away = draw.choice((0.5, 20))
        server.kill()
        world.say(f"kill -9 of {server.name}, for {away} s")
        time.sleep(away)
        server.start(START_S)
        _wait_for_the_table(world)
        world.say(f"{server.name} is back, and the table")


def kill_master(world, draw):
    with world.region_lock:
        world.lab.hbase.master.kill()
        world.say("kill -9 of the HMaster")
        world.lab.hbase.start_master(START_S)
        _wait_for_the_table(world)
        world.say("the HMaster is back, and the table")


def restart_thrift(world, draw):
    with world.thrift_lock:
        thrift, away = world.lab.hbase.thrift, draw.uniform(0, 5)
        how = draw.choice((thrift.kill, thrift.stop))
        how()
        world.say(f"Thrift server: {how.__name__}, for {away:.1f} s")
        time.sleep(away)
        thrift.start(START_S)
        world.say("the Thrift server is back")


def restart_broker(world, draw):
    with world.broker_lock:
        kafka, away = world.lab.kafka, draw.uniform(0, 4)
        how = draw.choice((kafka.kill, kafka.stop))
        how()
        world.say(f"broker: {how.__name__}, for {away:.1f} s")
        time.sleep(away)
        kafka.start(START_S)
        world.say("the broker is back")


# {fault: weight in the draw that follows once each was there}
KINDS = {
    kill_worker: 4,
    kill_all_workers: 2,
    lose_state: 2,
    stop_worker: 2,
    zombie_worker: 3,
    isolate_worker: 2,
    terminate_worker: 2,
    cut_hbase: 4,
    cut_kafka: 3,
    cut_everything: 2,
    late_put: 5,
    kill_region_server: 2,
    kill_master: 1,
    restart_thrift: 2,
    restart_broker: 2,
}
BY_NAME = {kind.__name__: kind for kind in KINDS}
WEIGHTS = {kind.__name__: weight for kind, weight in KINDS.items()}
