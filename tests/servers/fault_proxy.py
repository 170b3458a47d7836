"""A TCP proxy between a client and a server of loopback that loses, delays and repeats what a network or a server may.

Works on connections that carry one request at a time, as Thrift's, and cuts any (Kafka's). For Thrift it reads the buffered
transport with the binary protocol.
"""

import select
import socket
import struct
import threading
import time

from processes import LOOPBACK, ServerError, free_port

QUIET_S = 1.0  # a client that has said nothing for so long waits for its answer


class Connection:
    """One client's connection and the one to the server behind it."""

    def __init__(self, client, server):
        self.client, self.server = client, server
        self.awaiting = False  # a request was forwarded, no answer came back yet
        self.held = None  # bytes of a request that is kept from the server
        self.heard = 0.0  # when the last of them came

    def close(self):
        for side in (self.client, self.server):
            try:
                side.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            side.close()


class Proxy:
    """Any thread may call it."""

    def __init__(self, target_port=None):
        """The target may be set later, before start()."""
        self.port, self.target_port = free_port(), target_port
        self.address = f"{LOOPBACK}:{self.port}"
        self._lock = threading.Lock()
        self._connections = set()
        self._cutting = False
        self._wanted = 0  # Puts still to be held
        self._held = []
        self._open = threading.Event()
        self._open.set()
        self.answers_cut = 0

    def start(self):
        listener = socket.create_server((LOOPBACK, self.port), backlog=64)
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        return self

    def _accept(self, listener):
        while True:
            client, _ = listener.accept()
            try:
                server = socket.create_connection((LOOPBACK, self.target_port), 5)
            except OSError:
                client.close()  # as a server that is not there
                continue
            for side in (client, server):
                side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                side.settimeout(None)
            connection = Connection(client, server)
            with self._lock:
                self._connections.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            while self._pass_on(connection):
                pass
        except (OSError, ValueError):  # a peer went, or cut() closed the sockets
            pass
        finally:
            with self._lock:
                self._connections.discard(connection)
            connection.close()

    def _pass_on(self, connection):
        """Moves what is there to be moved; false when the connection is to end."""
        ready, _, _ = select.select([connection.client, connection.server], [], [], 0.2)
        self._open.wait()
        if connection.client in ready:
            data = connection.client.recv(1 << 16)
            if not data:
                return False
            self._request(connection, data)
        if connection.server in ready:
            data = connection.server.recv(1 << 16)
            if not data:
                return False
            if self._cutting:
                with self._lock:
                    self.answers_cut += 1
                return False
            connection.client.sendall(data)
            connection.awaiting = False
        if connection.held is not None and time.monotonic() - connection.heard > QUIET_S:
            with self._lock:
                self._held.append(bytes(connection.held))
            return False
        return True

    def _request(self, connection, data):
        if connection.held is None and not connection.awaiting and call_name(data) in ("put", "putMultiple"):
            with self._lock:
                if self._wanted > 0:
                    self._wanted -= 1
                    connection.held = bytearray()
        if connection.held is not None:
            connection.held += data
            connection.heard = time.monotonic()
        else:
            connection.awaiting = True
            connection.server.sendall(data)

    # --- faults

    def in_flight(self):
        """Connections on which a request waits for its answer."""
        with self._lock:
            return sum(connection.awaiting for connection in self._connections)

    def cut(self):
        """Closes every connection now; how many."""
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            connection.close()
        return len(connections)

    def cut_answers(self, seconds, patience=15):
        """For so long, and at most `patience` longer until there was one, every connection is closed instead of passing an answer on:
        the request has arrived. How many were cut."""
        before, began = self.answers_cut, time.monotonic()
        self._cutting = True
        time.sleep(seconds)
        while self.answers_cut == before and time.monotonic() < began + seconds + patience:
            time.sleep(0.05)
        self._cutting = False
        return self.answers_cut - before

    def stall(self, seconds):
        """For so long nothing passes in either direction, and nothing is closed."""
        self._open.clear()
        time.sleep(seconds)
        self._open.set()

    def arm(self, count):
        """The next Puts are kept from the server, and their connections cut about QUIET_S later: for the client they may have landed."""
        with self._lock:
            self._held.clear()
            self._wanted = count

    def caught(self):
        """How many Puts are being kept, those included whose connections are still open."""
        with self._lock:
            return len(self._held) + sum(connection.held is not None for connection in self._connections)

    def held(self):
        """How many Puts are kept whole."""
        with self._lock:
            return len(self._held)

    def hold_puts(self, count, timeout=10):
        """arm(), and waits for them; how many are kept whole in time."""
        self.arm(count)
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline and self.held() < count:
            time.sleep(0.05)
        with self._lock:
            self._wanted = 0
        return self.held()

    def take_held(self):
        """The kept Puts, for deliver()."""
        with self._lock:
            held, self._held = self._held, []
        return held

    def deliver(self, held, timeout=60):
        """Gives kept Puts to the server after all, as one that had gone on retrying them; [(row, timestamp)] of what it acknowledged.
        ServerError where it refuses one."""
        for request in held:
            with socket.create_connection((LOOPBACK, self.target_port), 5) as server:
                server.settimeout(timeout)
                server.sendall(request)
                answer = receive_message(server)
            if answer.kind != REPLY or answer.fields:
                raise ServerError(f"the server answers a Put with {answer.kind} {answer.fields}")
        return rows_in(held)


# --- the binary protocol of Thrift, as far as a Put and its answer need it

CALL, REPLY = 1, 2
VERSION_1 = 0x8001
FIXED = {2: "b", 3: "b", 4: "d", 6: "h", 8: "i", 10: "q"}
STOP, TEXT, STRUCT, MAP, SET, LIST = 0, 11, 12, 13, 14, 15


class Message:
    def __init__(self, name, kind, fields):
        self.name, self.kind, self.fields = name, kind, fields


class Reader:
    """Values from bytes; more(count) gives the next ones."""

    def __init__(self, more):
        self._more = more

    def number(self, code):
        return struct.unpack(f">{code}", self._more(struct.calcsize(code)))[0]

    def text(self):
        return self._more(self.number("i"))

    def value(self, kind):
        if kind in FIXED:
            return self.number(FIXED[kind])
        if kind == TEXT:
            return self.text()
        if kind == STRUCT:
            return self.struct()
        if kind in (SET, LIST):
            element, count = self.number("b"), self.number("i")
            return [self.value(element) for _ in range(count)]
        if kind == MAP:
            key, value, count = self.number("b"), self.number("b"), self.number("i")
            return [(self.value(key), self.value(value)) for _ in range(count)]
        raise ValueError(f"no Thrift type {kind}")

    def struct(self):
        """{field id: value}"""
        fields = {}
        while (kind := self.number("b")) != STOP:
            number = self.number("h")
            fields[number] = self.value(kind)
        return fields

    def message(self):
        version, kind = self.number("H"), self.number("H") & 0xFF
        if version != VERSION_1:
            raise ValueError(f"no message of the binary protocol: {version:#x}")
        name = self.text().decode()
        self.number("i")  # sequence id
        return Message(name, kind, self.struct())


def call_name(data):
    """The name of the call that begins here, or None."""
    if len(data) < 8 or struct.unpack(">HH", data[:4]) != (VERSION_1, CALL):
        return None
    (length,) = struct.unpack(">i", data[4:8])
    return data[8 : 8 + length].decode("ascii", "replace") if 0 < length < 100 else None


def message_of(data):
    at = 0

    def more(count):
        nonlocal at
        at += count
        if at > len(data):
            raise ValueError("a message that was cut off")
        return data[at - count : at]

    return Reader(more).message()


def receive_message(server):
    stream = server.makefile("rb")

    def more(count):
        data = stream.read(count)
        if len(data) < count:
            raise ServerError("the connection ended before the answer")
        return data

    return Reader(more).message()


def rows_in(requests):
    """[(row, timestamp)] of Puts as they were kept."""
    return [row for request in requests for row in rows_of(message_of(request))]


def rows_of(call):
    """[(row, timestamp)] of a put or putMultiple; the timestamp is that of its cells, which are of one revision."""
    puts = call.fields[2] if call.name == "putMultiple" else [call.fields[2]]
    rows = []
    for put in puts:
        stamps = {column.get(4, put.get(3)) for column in put[2]}
        if len(stamps) != 1:
            raise ValueError(f"a Put of several timestamps: {stamps}")
        rows.append((put[1], stamps.pop()))
    return rows
