"""HTTP/1.1 on a loopback port, one thread a connection.

werkzeug's own server closes the connection after each answer. A client with a pool of connections
keeps them here, so that a call costs no new connection and no new thread.
"""

from __future__ import annotations

import logging
import socket
import socketserver
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from threading import Thread

from ._answer import Answer
from ._request import Request

_log = logging.getLogger(__name__)

_CLOSE_POLL = 0.05
"""Seconds between two looks of the accepting thread for the order to stop."""

_PATIENCE = 5.0
"""Seconds to wait for calls under way: one that sleeps on a user's clock may never end."""


class HttpServer(socketserver.ThreadingTCPServer):
    """Serves from the moment it is made until it is closed."""

    request_queue_size = 128

    def __init__(self, answer: Callable[[Request], Answer]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self._connections: dict[socket.socket, Thread] = {}  # the acceptor's, while it runs
        self._acceptor = Thread(
            target=self.serve_forever, args=(_CLOSE_POLL,), name="pollwait-ec2", daemon=True
        )
        self._acceptor.start()

    @property
    def port(self) -> int:
        """The port on which it listens."""
        port: int = self.socket.getsockname()[1]
        return port

    def close(self) -> None:
        """Stop listening, hang up all connections and wait for the calls under way."""
        self.shutdown()
        self._acceptor.join()
        self.server_close()
        for connection in self._connections:
            _hang_up(connection)
        give_up = time.monotonic() + _PATIENCE
        for thread in self._connections.values():
            thread.join(max(0.0, give_up - time.monotonic()))

    def process_request(self, request: object, client_address: object) -> None:
        """Serve a connection in a thread of its own, which ``close`` can find."""
        assert isinstance(request, socket.socket)
        self._connections = {
            connection: thread
            for connection, thread in self._connections.items()
            if thread.is_alive()
        }
        thread = Thread(
            target=self.process_request_thread,
            args=(request, client_address),
            name=f"pollwait-ec2-{request.fileno()}",
            daemon=True,
        )
        self._connections[request] = thread
        thread.start()

    def handle_error(self, request: object, client_address: object) -> None:
        """Note a connection that broke; the standard library would print it."""
        _log.debug("connection from %s broke", client_address, exc_info=True)


def _hang_up(connection: socket.socket) -> None:
    with suppress(OSError):  # closed already
        connection.shutdown(socket.SHUT_RD)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # one packet an answer

    def do_GET(self) -> None:
        self._respond()

    def do_POST(self) -> None:
        self._respond()

    def _respond(self) -> None:
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = dict(self.headers.items())
        assert isinstance(self.server, HttpServer)
        answer = self.server.answer(Request(self.command, path, query, headers, body))
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Write no access log."""
