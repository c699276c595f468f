"""Servers with http-port, and what docs/http.md shows."""

import base64
import http.client
import json
import re
import socket
from pathlib import Path

import harness
from support.fields import rate_limits

PAGE = Path(__file__).resolve().parents[2] / "docs/http.md"


def example(language, number=0):
    """A block of docs/http.md."""
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```", PAGE.read_text())[number]


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


class Http(harness.ServerTest):
    def setUp(self):
        super().setUp()
        self.http_port = harness.free_port()

    def start(self, *options, **named):
        named.setdefault("storage", "memory")
        return self.server(*options, http_port=self.http_port, **named).start()

    def connection(self, port=None):
        connection = http.client.HTTPConnection("127.0.0.1", port or self.http_port,
                                                timeout=harness.PATIENCE_S)
        self.addCleanup(connection.close)
        return connection

    @staticmethod
    def ask(connection, path, method="GET", body=None, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body=body, headers=headers)
        answer = connection.getresponse()
        rate_limits(answer.headers)  # whatever a test asks for
        return answer.status, answer.headers, answer.read().decode()

    def get(self, path, method="GET", body=None, **headers):
        connection = self.connection()
        try:
            return self.ask(connection, path, method, body, **headers)
        finally:
            connection.close()

    def take(self, connection=None, **members):
        status, _, text = self.ask(connection or self.connection(), "/v1/take", "POST",
                                   json.dumps(members))
        return status, json.loads(text)

    def raw(self):
        client = socket.create_connection(("127.0.0.1", self.http_port))
        client.settimeout(harness.PATIENCE_S)
        self.addCleanup(client.close)
        return client
