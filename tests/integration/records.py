"""Kafka records as lines of text, as probe/KafkaProbe.java reads and writes them: bytes in base64, "-" for null."""

import base64


def pack(data):
    return "-" if data is None else base64.b64encode(data).decode()


def unpack(text):
    return None if text == "-" else base64.b64decode(text)


def produce_line(partition, timestamp, key, value, headers=()):
    """A line for the probe's `produce`; headers as (name, bytes), partition None where the key is to decide."""
    pairs = ",".join(f"{name}={pack(data)}" for name, data in headers)
    return f"{'-' if partition is None else partition}\t{timestamp}\t{pack(key)}\t{pack(value)}\t{pairs}\n"


class Record:
    """A line of a dumped topic; headers as a list of (name, bytes)."""

    __slots__ = ("partition", "offset", "timestamp", "key", "value", "headers")

    def __init__(self, line):
        partition, offset, timestamp, key, value, headers = line.rstrip("\n").split("\t")
        self.partition, self.offset, self.timestamp = int(partition), int(offset), int(timestamp)
        self.key, self.value = unpack(key), unpack(value)
        pairs = (header.split("=", 1) for header in headers.split(",") if header)
        self.headers = [(name, unpack(value)) for name, value in pairs]


def read_dump(path):
    with open(path, encoding="ascii") as lines:
        return [Record(line) for line in lines]
