"""A TCP proxy on loopback in front of a server, for networks that stall and connections that are cut at the worst moment."""

import socket
import threading

from processes import LOOPBACK


class TcpProxy:
    """Forwards every connection to `upstream` (host:port). Any thread may change what it does; close() ends all of it."""

    def __init__(self, upstream):
        host, port = upstream.rsplit(":", 1)
        self._upstream = (host, int(port))
        self._listener = socket.create_server((LOOPBACK, 0))
        self.address = f"{LOOPBACK}:{self._listener.getsockname()[1]}"
        self._flowing = threading.Event()
        self._flowing.set()
        self._lock = threading.Lock()
        self._sockets, self._cuts_left = set(), 0
        self.held_bytes = self.cuts = self.answered_late = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def hold(self):
        """From now on requests are taken and kept back: the client waits for an answer."""
        self._flowing.clear()

    def release(self):
        """What was kept back reaches the server, also of clients that have given up since."""
        self._flowing.set()

    def cut_answers(self, count):
        """Of the next answers so many are not passed on: the server has done it, the client's connection breaks."""
        with self._lock:
            self._cuts_left = count

    def close(self):
        self._listener.close()
        self._flowing.set()
        for connection in list(self._sockets):
            self._end(connection)

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._upstream)
            except OSError:
                if self._listener.fileno() < 0:
                    return
                client.close()
                continue
            self._sockets |= {client, server}
            held = threading.Event()
            threading.Thread(target=self._requests, args=(client, server, held), daemon=True).start()
            threading.Thread(target=self._answers, args=(client, server, held), daemon=True).start()

    def _requests(self, client, server, held):
        try:
            while data := client.recv(65_536):
                if not self._flowing.is_set():
                    with self._lock:
                        self.held_bytes += len(data)
                    held.set()
                    self._flowing.wait()
                server.sendall(data)
        except OSError:
            pass
        # The server still answers what it was asked, as it would for a client that is gone.
        self._end(server, socket.SHUT_WR)

    def _answers(self, client, server, held):
        try:
            while data := server.recv(65_536):
                with self._lock:
                    cut = self._cuts_left > 0
                    self._cuts_left -= cut
                    self.cuts += cut
                    self.answered_late += held.is_set()
                if cut:
                    break
                client.sendall(data)
        except OSError:
            pass
        self._end(client)
        self._end(server)

    def _end(self, connection, how=socket.SHUT_RDWR):
        try:
            connection.shutdown(how)
        except OSError:
            pass
        if how == socket.SHUT_RDWR:
            self._sockets.discard(connection)
