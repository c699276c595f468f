"""A NATS of a test's own, of one server or a cluster of three: on free ports of 127.0.0.1, in a folder that
goes. Whatever it acknowledges is synced. As a program it prints the address and ends with its input."""

import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

import harness

GET_SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../nats/get-server")


def program():
    """The server, which is built if need be; None if it cannot be had."""
    done = subprocess.run([GET_SERVER], stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


class Nats:
    """With a password there is the user `weir`, who has it, and may do all or has those permissions, and `admin`.
    With Certificates its connections are encrypted."""

    def __init__(self, servers=1, password=None, permissions="", certificates=None):
        self.password = password
        self.permissions = permissions
        self.certificates = certificates
        self.folder = tempfile.mkdtemp(prefix="weir-nats-")
        self.program = program()
        self.ports = [harness.free_port() for _ in range(servers)]
        self.cluster_ports = [harness.free_port() for _ in range(servers)]
        self.processes = [None] * servers
        for node in range(servers):
            self.start(node)
        self.wait_until_ready()

    def start(self, node=0):
        path = os.path.join(self.folder, f"n{node}.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"server_name: n{node}\nlisten: \"127.0.0.1:{self.ports[node]}\"\n"
                       f"jetstream {{ store_dir: \"{self.folder}/n{node}\", max_file_store: 1TB, sync_interval: always }}\n")
            if self.password:
                rights = f", permissions: {{ {self.permissions} }}" if self.permissions else ""
                file.write(f"authorization {{ users: [ {{ user: weir, password: \"{self.password}\"{rights} }},\n"
                           f"  {{ user: admin, password: \"{self.password}\" }} ] }}\n")
            if self.certificates:
                own = self.certificates.path("server")
                file.write(f"tls {{ cert_file: \"{own}.crt\", key_file: \"{own}.key\" }}\n")
            if len(self.ports) > 1:
                routes = ", ".join(f'"nats://127.0.0.1:{port}"' for port in self.cluster_ports)
                file.write(f"cluster {{ name: weir, listen: \"127.0.0.1:{self.cluster_ports[node]}\", routes: [{routes}] }}\n")
        with open(os.path.join(self.folder, "log"), "a", encoding="utf-8") as log:
            self.processes[node] = subprocess.Popen([self.program, "-c", path], stdin=subprocess.DEVNULL,
                                                    stdout=log, stderr=log)

    def wait_until_ready(self):
        """A cluster is ready when it can place a stream on all of its servers."""
        stream = {"name": "ready", "subjects": ["ready"], "num_replicas": len(self.ports)}
        harness.wait_until(lambda: "config" in self.try_to_ask("STREAM.CREATE.ready", stream), "NATS is ready")
        self.api("STREAM.DELETE.ready")

    def kill(self, node=0):
        self.processes[node].send_signal(signal.SIGKILL)
        self.processes[node].wait()

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder)

    def address(self):
        scheme, end = ("tls", "?tlsca=" + self.certificates.path("ca.crt")) if self.certificates else ("nats", "")
        return f"{scheme}://" + ",".join(f"127.0.0.1:{port}" for port in self.ports) + end

    def leader_of(self, stream):
        info = self.api(f"STREAM.INFO.{stream}")
        return int(info["cluster"]["leader"][1:]) if "leader" in info.get("cluster", {}) else 0

    def api(self, name, request=None):
        answer = {}

        def is_answered():
            nonlocal answer
            answer = self.try_to_ask(name, request)
            return answer and answer.get("error", {}).get("code") != 503
        harness.wait_until(is_answered, f"JetStream answers {name}")
        return answer

    def try_to_ask(self, name, request):
        for port, process in zip(self.ports, self.processes):
            try:
                return self.ask_once(port, "$JS.API." + name, request) if process.poll() is None else {}
            except (OSError, ValueError):
                time.sleep(0.05)
        return {}

    def encrypt(self, stream):
        """After the server's first line."""
        while stream.recv(1) != b"\n":
            pass
        if not self.certificates:
            return stream
        return ssl.create_default_context(cafile=self.certificates.path("ca.crt")).wrap_socket(stream, server_hostname="127.0.0.1")

    def ask_once(self, port, subject, request):
        """One request on a connection of its own, in the protocol of NATS."""
        payload = json.dumps(request) if request else ""
        who = {"verbose": False, "headers": True, **({"user": "admin", "pass": self.password} if self.password else {})}
        with socket.create_connection(("127.0.0.1", port), timeout=2) as plain, self.encrypt(plain) as stream:
            reader = stream.makefile("rb")
            stream.sendall(f"CONNECT {json.dumps(who)}\r\nSUB _INBOX.test 1\r\n"
                           f"PUB {subject} _INBOX.test {len(payload)}\r\n{payload}\r\n".encode())
            while line := reader.readline():
                if line.startswith(b"PING"):
                    stream.sendall(b"PONG\r\n")
                if line.startswith(b"MSG"):
                    return json.loads(reader.read(int(line.split()[-1])))
        return {}


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: whoever started it closes its input then
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    made = Nats(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    try:
        print(made.address(), flush=True)
        sys.stdin.read()
    finally:
        made.close()
