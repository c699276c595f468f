"""The container that has the Service for clients lead to the member that serves (tools/helm/weir/files), against an API
of the test's own: with members that say what the test wants, and with members of a real shard. There is no cluster
here: that kube-proxy follows an EndpointSlice is Kubernetes' affair."""

import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import harness
import kubernetes
import shard_fixture

SCRIPT = Path(__file__).resolve().parents[2] / "tools/helm/weir/files/name-who-serves"


class Naming(shard_fixture.ShardTest):
    def setUp(self):
        super().setUp()
        self.api = kubernetes.Api(self, self.path("api"))

    def name(self, port, address):
        """Runs the container of a pod; answers its process."""
        environment = {**os.environ, "WEIR_SLICE": self.api.slice, "WEIR_API_FOLDER": self.api.folder,
                       "WEIR_SERVES": f"http://127.0.0.1:{port}/serves", "POD_IP": address,
                       "POD_NAME": "weir-" + address[-1], "POD_NAMESPACE": "limits", "NODE_NAME": "node"}
        log = self.path(f"names-{address}.log")
        with open(log, "ab") as file:
            process = subprocess.Popen(["bash", SCRIPT], env=environment, stdout=file, stderr=file)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.log = lambda: Path(log).read_text(encoding="utf-8")
        return process

    def eventually(self, *addresses):
        harness.wait_until(lambda: self.api.names() == list(addresses), f"the slice names {addresses}")

    def stays(self, *addresses, seconds=3):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.assertEqual(self.api.names(), list(addresses))
            time.sleep(0.05)


class Told(Naming):
    def setUp(self):
        super().setUp()
        self.a, self.b = kubernetes.Member(self, 503), kubernetes.Member(self, 503)
        self.names_a = self.name(self.a.port, "10.0.0.1")
        self.names_b = self.name(self.b.port, "10.0.0.2")

    def test_it_names_who_serves_and_never_a_standby(self):
        self.stays(seconds=1)
        self.a.status = 200
        self.eventually("10.0.0.1")
        self.assertEqual(self.api.endpoints, [
            {"addresses": ["10.0.0.1"], "conditions": {"ready": True}, "nodeName": "node",
             "targetRef": {"kind": "Pod", "namespace": "limits", "name": "weir-1"}}])
        self.a.status = 503  # and nobody has taken over yet
        self.eventually()
        self.b.status = 200
        self.eventually("10.0.0.2")
        self.stays("10.0.0.2")
        self.assertLessEqual({(method, path) for method, path, _ in self.api.asked},
                             {("GET", kubernetes.SLICE), ("PATCH", kubernetes.SLICE)})

    def test_who_does_not_answer_is_replaced_and_not_taken_out(self):
        self.a.status = 200
        self.eventually("10.0.0.1")
        self.a.status = 0
        self.stays("10.0.0.1", seconds=10)
        self.b.status = 200
        self.eventually("10.0.0.2")
        self.a.status = 503
        self.a.released.set()
        self.stays("10.0.0.2")

    def test_who_was_stopped_between_looking_and_writing_writes_nothing(self):
        """As if the process had been frozen after its member said that it serves, while another one began to. On a slow
        machine the member's word may come too late to be written at all; then it is tried again."""
        self.names_b.kill()
        for _ in range(5):
            self.freeze_once()
            if 409 in [status for _, _, status in self.api.asked]:
                break
        self.assertIn("409", self.names_a.log())

    def freeze_once(self):
        looks = len(self.api.asked)

        def another_begins_to_serve():
            nonlocal looks
            if self.a.status != 200:
                looks = len(self.api.asked)
            if len(self.api.asked) == looks:
                return  # the slice has not been read since
            self.a.before_answer = None
            self.a.status = 503
            self.api.write([{"addresses": ["10.0.0.9"]}])
        self.api.write([])
        self.a.before_answer = another_begins_to_serve
        self.a.status = 200
        self.eventually("10.0.0.9")
        self.stays("10.0.0.9")

    def test_what_others_change_is_mended(self):
        self.a.status = 200
        self.eventually("10.0.0.1")
        self.api.write([])
        self.eventually("10.0.0.1")

    def test_the_token_is_read_each_time_and_a_refusal_is_said(self):
        self.api.token = "another"
        self.a.status = 200
        harness.wait_until(lambda: "401" in self.names_a.log(), "the refusal is in the log")
        self.assertEqual(self.api.names(), [])
        self.api.write_token()
        self.eventually("10.0.0.1")

    def test_it_ends_when_its_member_serves_no_more(self):
        self.a.status = 200
        self.eventually("10.0.0.1")
        self.names_a.send_signal(signal.SIGTERM)
        self.stays("10.0.0.1", seconds=2)
        self.assertIsNone(self.names_a.poll())
        self.a.status = 503
        self.assertEqual(self.names_a.wait(harness.PATIENCE_S), 0)
        self.assertEqual(self.api.names(), [])
        self.names_b.send_signal(signal.SIGTERM)
        self.assertEqual(self.names_b.wait(harness.PATIENCE_S), 0)


class OfAShard(Naming):
    def probe(self, port, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=harness.PATIENCE_S) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def test_all_that_follow_are_ready_and_one_serves(self):
        self.make_shard()
        ports = [harness.free_port() for _ in range(3)]
        members = [self.member(f"m{number}", metrics_port=port).start() for number, port in enumerate(ports)]
        self.primary_of(*members)
        harness.wait_until(lambda: all(self.probe(port, "/readyz") == (200, "ready\n") for port in ports),
                           "all are ready")
        said = sorted(self.probe(port, "/serves") for port in ports)
        self.assertEqual(said, [(200, "serves\n")] + 2 * [(503, "this server is a standby of its shard\n")])
        for port in ports:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=harness.PATIENCE_S) as answer:
                self.assertIn(b"\nweir_ready 1\n", answer.read())

    def test_the_service_follows_the_primary(self):
        """A rolling update: who serves is told to end, comes back, and the next one is."""
        self.make_shard()
        ports = {"a": harness.free_port(), "b": harness.free_port()}
        members = {name: self.member(name, metrics_port=port).start() for name, port in ports.items()}
        addresses = {"a": "10.0.0.1", "b": "10.0.0.2"}
        for name, port in ports.items():
            self.name(port, addresses[name])
        for _ in range(2):
            primary = self.primary_of(*members.values())
            name = next(name for name, member in members.items() if member is primary)
            other = members["b" if name == "a" else "a"]
            self.eventually(addresses[name])
            harness.wait_until(lambda: len(self.members_of(primary)) == 2 and all(
                one["present"] for one in self.members_of(primary).values()), "the primary knows of the other")
            began = time.monotonic()
            self.assertEqual(primary.stop(), 0)
            self.eventually(addresses["b" if name == "a" else "a"])
            self.assertLess(time.monotonic() - began, 5)
            self.assertTrue(self.serves(other))
            primary.start()


if __name__ == "__main__":
    harness.main()
