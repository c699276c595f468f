"""An API of Kubernetes that has one EndpointSlice, and members that answer /serves as they are told to."""

import http.server
import json
import os
import ssl
import threading

from support.certificates import Certificates

SLICE = "/apis/discovery.k8s.io/v1/namespaces/limits/endpointslices/weir-serving"


class Quiet(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", content_type="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def serve(test, handler, context=None):
    """Answers the port of an HTTP server that ends with the test."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()

    def end():
        server.shutdown()
        server.server_close()
        thread.join()
    test.addCleanup(end)
    return server.server_port


class Api:
    """Takes GET, and PATCH with the version that the slice has. A user agent of curl gets it with spaces, as there."""

    def __init__(self, test, folder):
        self.folder = folder
        self.token = "a-token"
        self.version = 1
        self.endpoints = []
        self.asked = []             # (method, path, status)
        self.lock = threading.Lock()
        certificates = Certificates(folder)
        self.write_token()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates.path("server.crt"), certificates.path("server.key"))
        api = self

        class Handler(Quiet):
            def do_GET(self):
                api.handle(self, "GET")

            def do_PATCH(self):
                api.handle(self, "PATCH")
        self.port = serve(test, Handler, context)
        self.slice = f"https://localhost:{self.port}{SLICE}"

    def write_token(self):
        with open(os.path.join(self.folder, "token"), "w", encoding="utf-8") as file:
            file.write(self.token)

    def names(self):
        with self.lock:
            return [address for one in self.endpoints for address in one["addresses"]]

    def write(self, endpoints):
        """Somebody else does."""
        with self.lock:
            self.endpoints = endpoints
            self.version += 1

    def handle(self, request, method):
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        with self.lock:
            status = self.change(request, method, body)
            self.asked.append((method, request.path, status))
            text = json.dumps({"kind": "EndpointSlice", "metadata": {
                "name": "weir-serving", "resourceVersion": str(self.version)}, "endpoints": self.endpoints}, indent=2)
        request.answer(status, text.encode() if status == 200 else b"{}")

    def change(self, request, method, body):
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            return 401
        if request.path != SLICE:
            return 403
        if method == "GET":
            return 200
        assert request.headers["Content-Type"] == "application/merge-patch+json"
        patch = json.loads(body)
        assert set(patch) == {"metadata", "endpoints"}, patch
        if patch["metadata"] != {"resourceVersion": str(self.version)}:
            return 409
        self.endpoints = patch["endpoints"]
        self.version += 1
        return 200


class Member:
    """Who answers /serves with `status`; 0: does not answer in time."""

    def __init__(self, test, status):
        self.status = status
        self.before_answer = None   # what happens just then
        self.released = threading.Event()
        test.addCleanup(self.released.set)
        member = self

        class Handler(Quiet):
            def do_GET(self):
                assert self.path == "/serves"
                if member.status == 0:
                    member.released.wait(30)
                    return
                status = member.status
                if member.before_answer:
                    member.before_answer()
                self.answer(status, b"said\n", "text/plain")
        self.port = serve(test, Handler)
