"""What goes wrong when: decided by the seed alone, before anything runs."""

import random

# A first fault after the workers have begun, and none in the last seconds: a fault that nobody is left to meet proves nothing.
HEAD_S, TAIL_S = 8, 8


class Fault:
    """One fault of the schedule: at `at` seconds after the load began; what else it needs it draws from its own `random`."""

    def __init__(self, at, kind, seed):
        self.at, self.kind, self.random = at, kind, random.Random(seed)


def schedule(seed, seconds, kinds, gap=(3.0, 9.0)):
    """Every kind once in an order of the seed, then kinds at random, until the time is over. kinds: {name: weight}.

    Where the time is too short for each kind once, the gaps shrink."""
    draw = random.Random(seed)
    names = sorted(kinds)
    room = max(1.0, seconds - HEAD_S - TAIL_S)
    stretch = min(1.0, room / (len(names) * sum(gap) / 2))
    order = draw.sample(names, len(names))
    faults, at = [], float(HEAD_S)
    while order or at < seconds - TAIL_S:
        kind = order.pop() if order else draw.choices(names, [kinds[name] for name in names])[0]
        faults.append(Fault(min(at, seconds - TAIL_S), kind, draw.getrandbits(64)))
        at += draw.uniform(*gap) * stretch
    return faults
