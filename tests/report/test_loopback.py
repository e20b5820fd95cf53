"""What every page that is served on this machine has in common."""

import socket
import struct
from contextlib import contextmanager
from threading import Thread

import pytest

from multirater.report.loopback import LoopbackHandler, loopback_server


class Failing(LoopbackHandler):
    """Says too much to whoever has gone already, or fails for a reason of its own."""

    def do_GET(self):
        if self.path == "/fault":
            raise RuntimeError("a fault of ours")
        for _ in range(1000):
            self.wfile.write(bytes(2**16))


@contextmanager
def connection():
    """Connect to a server; in the end, go away without a word and wait for the server's end."""
    server = loopback_server(0, Failing)
    server.daemon_threads = False  # closing waits for who still answers
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        with socket.create_connection(server.server_address, timeout=10) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            yield client
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()


@pytest.mark.parametrize("n_read", [0, 1])
def test_who_goes_away_leaves_no_word(capfd, n_read):
    with connection() as client:
        client.sendall(b"GET / HTTP/1.1\r\n\r\n")
        client.recv(n_read)
    assert capfd.readouterr().err == ""


def test_a_fault_of_the_server_is_told(capfd):
    with connection() as client:
        client.sendall(b"GET /fault HTTP/1.1\r\n\r\n")
        assert client.recv(1) == b""
    assert "a fault of ours" in capfd.readouterr().err
