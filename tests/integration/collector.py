"""A collector of OTLP for tests: an HTTP server that keeps what is posted, and decodes it with opentelemetry-proto.

The decoder comes from PyPI, as the clients of tests/clients do; where it cannot be had, decoder() says why.
"""

import contextlib
import functools
import http.server
import importlib.util
import os
import ssl
import sys
import threading

INSTALLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../clients/harness/installs.py")


@functools.cache
def decoder():
    """{path: class of the message that is posted there}, and "", or None and why they cannot be had."""
    spec = importlib.util.spec_from_file_location("clients_installs", INSTALLS)
    installs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(installs)
    try:
        packages = str(installs.python_packages("otlp"))
    except installs.Missing as error:
        return None, f"opentelemetry-proto cannot be had: {error}"
    if packages not in sys.path:
        sys.path.append(packages)
    from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
    from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
    return {"/v1/metrics": metrics_service_pb2.ExportMetricsServiceRequest,
            "/v1/traces": trace_service_pb2.ExportTraceServiceRequest}, ""


class Collector(contextlib.AbstractContextManager):
    """It listens on `port` from the beginning to stop(). `status` is what it answers; while `holds` is set it
    answers nothing."""

    def __init__(self, port, certificate=None):
        self.port = port
        self.posts = []  # (path, headers, body)
        self.status = 200
        self.pieces = None  # a function: what it answers in place of that, one each 50 ms
        self.holds = threading.Event()
        self.ends = threading.Event()
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.posts.append((self.path, self.headers, body))
                if collector.holds.is_set():
                    collector.ends.wait()
                if collector.pieces is not None:
                    for piece in collector.pieces():
                        self.wfile.write(piece)
                        if collector.ends.wait(0.05):
                            return
                self.send_response(collector.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # a client that leaves is a client's right
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def stop(self):
        self.ends.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def __exit__(self, *_):
        self.stop()

    def bodies(self, path):
        return [body for there, _, body in list(self.posts) if there == path]
