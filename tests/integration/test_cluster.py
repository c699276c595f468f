"""Several owners of one keyspace: the servers, the tools, and what moves with a directory."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import harness
from support.certificates import Certificates

TOOLS = Path(__file__).resolve().parents[2] / "tools"


class Cluster(harness.ServerTest):
    def topology(self, *ports, epoch=1):
        """The text of a file with even shares."""
        lines = [f"epoch {epoch}"]
        for at, port in enumerate(ports):
            first, last = 16384 * at // len(ports), 16384 * (at + 1) // len(ports) - 1
            lines.append(f"owner-{at + 1} 127.0.0.1:{port} {first}-{last}")
        return "\n".join(lines) + "\n"

    def owner(self, name, port, **named):
        folder = self.path(name)
        os.makedirs(folder, exist_ok=True)
        server = harness.Server(folder, port=port, cluster_enabled="yes",
                                cluster_topology=self.path("topology"), **named)
        self.servers.append(server)
        return server

    def owners(self, count):
        ports = [harness.free_port() for _ in range(count)]
        self.write("topology", self.topology(*ports))
        return [self.owner(f"owner-{at + 1}", port).start() for at, port in enumerate(ports)]

    def tool(self, *words):
        """(code, output)"""
        done = subprocess.run([sys.executable, "-B", *map(str, (TOOLS / words[0], *words[1:]))],
                              capture_output=True, text=True, timeout=harness.PATIENCE_S,
                              env={**os.environ, "WEIR_SERVER": harness.executable})
        return done.returncode, done.stdout + done.stderr

    def at_owner(self, port, *words):
        """Asks a server, and where it leads to."""
        try:
            with harness.Client(port) as client:
                return client.call(*words)
        except harness.Refused as refused:
            moved = re.fullmatch(r"MOVED \d+ 127\.0\.0\.1:(\d+)", str(refused))
            self.assertTrue(moved, refused)
            with harness.Client(int(moved[1])) as client:
                return client.call(*words)

    def test_any_owner_leads_to_the_right_one(self):
        servers = self.owners(3)
        slots = servers[0].call("CLUSTER", "SLOTS")
        self.assertEqual([row[2][1] for row in slots], [server.port for server in servers])
        for number in range(200):
            port = servers[number % 3].port
            self.assertEqual(self.at_owner(port, "SET", f"key:{number}", number), "OK")
        for number in range(200):
            port = servers[(number + 1) % 3].port
            self.assertEqual(self.at_owner(port, "GET", f"key:{number}"), b"%d" % number)
        sizes = [server.call("DBSIZE") for server in servers]
        self.assertEqual(sum(sizes), 200)
        self.assertTrue(all(sizes), sizes)
        code, text = self.tool("weir-each", f"127.0.0.1:{servers[1].port}", "DBSIZE")
        self.assertEqual(code, 0, text)
        self.assertEqual([int(line.split()[1]) for line in text.splitlines()], sizes)

    def test_an_owner_is_killed_and_comes_back(self):
        servers = self.owners(2)
        for number in range(50):
            self.at_owner(servers[0].port, "SET", f"key:{number}", number)
        before = servers[1].call("CLUSTER", "MYID")
        servers[1].stop(signal.SIGKILL)
        with self.assertRaises(ConnectionRefusedError):
            for number in range(50):
                self.at_owner(servers[0].port, "GET", f"key:{number}")
        servers[1].start()
        self.assertEqual(servers[1].call("CLUSTER", "MYID"), before)
        for number in range(50):
            self.assertEqual(self.at_owner(servers[0].port, "GET", f"key:{number}"), b"%d" % number)

    def test_check_names_who_differs(self):
        servers = self.owners(2)
        path = self.path("topology")
        code, text = self.tool("weir-cluster", "check", path)
        self.assertEqual((code, text.count("the same")), (0, 2), text)
        self.write("topology", self.topology(*(server.port for server in servers), epoch=2))
        servers[0].send_signal(signal.SIGHUP)
        harness.wait_until(lambda: "reload: cluster-topology: done" in servers[0].log(), "reload")
        code, text = self.tool("weir-cluster", "check", path)
        self.assertEqual(code, 1, text)
        self.assertRegex(text, r"owner-1 \S+: the same\nowner-2 \S+: DIFFERS: epoch 1, ")
        servers[1].stop()
        code, text = self.tool("weir-cluster", "check", path)
        self.assertRegex(text, r"owner-2 \S+: CANNOT BE ASKED: ")

    def test_a_wrong_file_is_one_clear_line(self):
        self.write("topology", "epoch 1\nowner-1 127.0.0.1:1 0-16382\n")
        server = self.owner("owner-1", harness.free_port()).spawn()
        self.assertEqual(server.wait()[0], 1)
        self.assertRegex(server.log(), r"cannot start: \S+/topology: nobody has the slots 16383-")

    def test_node_file_is_not_copied(self):
        server = self.server(cluster_enabled="yes").start()
        self.assertEqual(server.call("SAVE"), "OK")
        self.assertTrue(os.path.exists(os.path.join(server.data, "NODE")))
        [copy] = Path(server.data, "checkpoints").iterdir()
        self.assertTrue((copy / "WEIR").exists())
        self.assertFalse((copy / "NODE").exists())

    def test_an_owner_moves_with_a_checkpoint(self):
        servers = self.owners(2)
        for number in range(50):
            self.at_owner(servers[0].port, "SET", f"key:{number}", number)
        servers[1].call("SAVE")
        [copy] = Path(servers[1].data, "checkpoints").iterdir()
        moved = self.owner("moved", harness.free_port())
        shutil.copytree(copy, moved.data)
        servers[1].stop()
        self.write("topology", self.topology(servers[0].port, moved.port, epoch=2))
        moved.start()
        servers[0].send_signal(signal.SIGHUP)
        harness.wait_until(lambda: "reload: cluster-topology: done" in servers[0].log(), "reload")
        for number in range(50):
            self.assertEqual(self.at_owner(servers[0].port, "GET", f"key:{number}"), b"%d" % number)

    def test_the_owners_of_the_pages_compose_file_start(self):
        """docs/cluster.md's commands and topology, at this machine's address and ports that are free."""
        page = (TOOLS.parent / "docs/cluster.md").read_text(encoding="utf-8")
        ports = {f"700{number}": harness.free_port() for number in (1, 2, 3)}
        here = lambda text: re.sub(r"700[123]", lambda match: str(ports[match[0]]), text)
        lines = re.findall(r"^    ([abc] 192\.0\.2\.7:700.*)$", page, re.M)
        self.write("topology", here("\n".join(["epoch 1", *lines])).replace("192.0.2.7", "127.0.0.1"))
        commands = re.findall(r"^ +command: (.*)$", page, re.M)
        self.assertEqual((len(lines), len(commands)), (3, 3))
        for command, port in zip(commands, ports.values()):
            options = here(command).replace("/etc/weir/topology", self.path("topology")).split()
            os.makedirs(self.path(str(port)))
            self.servers.append(harness.Server(self.path(str(port)), *options, port=port).start())
        with self.servers[0].connect() as client:
            client.call("AUTH", "SECRET")
            self.assertEqual([row[2][1] for row in client.call("CLUSTER", "SLOTS")],
                             list(ports.values()))

    def test_waits_and_channels_of_moved_slots_end(self):
        servers = self.owners(2)
        with servers[0].connect() as waiter, servers[0].connect() as listener:
            waiter.send(harness.encode("BLPOP", "b", "0"))  # slot 3300
            self.assertEqual(listener.call("SSUBSCRIBE", "b"), [b"ssubscribe", b"b", 1])
            ports = [server.port for server in servers]
            self.write("topology", f"epoch 2\nowner-1 127.0.0.1:{ports[0]} 0-99\n"
                                   f"owner-2 127.0.0.1:{ports[1]} 100-16383\n")
            servers[0].send_signal(signal.SIGHUP)
            self.assert_refused_next(f"MOVED 3300 127.0.0.1:{ports[1]}", waiter)
            self.assertEqual(listener.read(), [b"sunsubscribe", b"b", 0])

    def assert_refused_next(self, error, client):
        with self.assertRaises(harness.Refused) as caught:
            client.read()
        self.assertEqual(str(caught.exception), error)

    def test_clients_over_tls_are_led_to_the_port_for_tls(self):
        certificates = Certificates(Path(self.folder) / "certificates")
        ports = [harness.free_port() for _ in range(4)]
        self.write("topology", f"epoch 1\nowner-1 127.0.0.1:{ports[0]} 0-8191 tls-port={ports[1]}\n"
                               f"owner-2 127.0.0.1:{ports[2]} 8192-16383 tls-port={ports[3]}\n")
        for at in range(2):
            self.owner(f"owner-{at + 1}", ports[2 * at], tls_port=ports[2 * at + 1],
                       **certificates.options()).start()
        done = subprocess.run(
            ["redis-cli", "-c", "--tls", "--cacert", certificates.path("ca.crt"), "-p",
             str(ports[1]), "SET", "foo", "1"], capture_output=True, text=True,
            timeout=harness.PATIENCE_S)
        self.assertEqual(done.stdout, "OK\n", done.stderr)
        self.assertEqual(self.servers[1].call("GET", "foo"), b"1")

    def test_the_tool_starts_owners(self):
        ports = [harness.free_port() for _ in range(3)]
        os.makedirs(self.path("local"))
        self.write("local/topology", self.topology(*ports))
        for _ in range(2):
            process = subprocess.Popen(
                [sys.executable, "-B", str(TOOLS / "weir-cluster"), "3", "--dir",
                 self.path("local"), "--", "--disk-reserve", "0"],
                stdout=subprocess.PIPE, text=True,
                env={**os.environ, "WEIR_SERVER": harness.executable})
            try:
                self.assertIn(f"redis-cli -c -p {ports[0]} ", process.stdout.readline())
                self.assertEqual(self.at_owner(ports[0], "INCRBY", "counter", 0), 0)
                self.assertEqual(self.at_owner(ports[2], "SET", "foo", "1"), "OK")
            finally:
                process.terminate()
                process.wait(timeout=harness.PATIENCE_S)
                process.stdout.close()
        code, text = self.tool("weir-cluster", "2", "--dir", self.path("local"))
        self.assertEqual(code, 1)
        self.assertIn("names 3 owners, not 2", text)


if __name__ == "__main__":
    harness.main()
