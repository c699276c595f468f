"""The alerts in a real Prometheus: none for a healthy shard of two, and each for its fault, one after the other.

Times of the rules are cut to seconds. What needs a busy core, a full memory or disk, a slow standby, a log that is away
or slots that are nobody's is left to promtool (tests/monitoring/alerts_test.yml)."""

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import time
import urllib.request
from pathlib import Path

import harness
from support.certificates import Certificates
from test_metrics import OF_SHARDS

MONITORING = Path(__file__).resolve().parents[2] / "tools/monitoring"
SHARD = "main"
PATIENT_MS = 60_000  # until a standby takes over
HEALTHY_S = 6
# Of the rules' [5m] and `for: 10m`: long enough for two evaluations.
RANGE_S = {"1d": 60, "1h": 8, "15m": 20, "10m": 8, "5m": 8, "2m": 8, "1m": 8}


def rules():
    """As they are shipped, in a hurry."""
    text = (MONITORING / "alerts.yml").read_text()
    text = re.sub(r"for: \w+", "for: 1s", text)
    return re.sub(r"\[(\w+)\]", lambda found: f"[{RANGE_S[found[1]]}s]", text)


class Alerts(harness.ServerTest):
    def setUp(self):
        super().setUp()
        self.prometheus = shutil.which("prometheus")
        if self.prometheus is None:
            self.skipTest("prometheus is not installed")
        self.log = f"file:{self.path('log')}"
        made = subprocess.run([harness.executable, "--new-shard", self.log, SHARD, "--dir", self.path("a")],
                              capture_output=True, text=True, check=False)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.ports = {}
        self.a, self.b = (self.member(name) for name in "ab")
        self.a.start()
        harness.wait_until(lambda: self.metric(self.a, "weir_shard_serves") == 1, "the first serves")
        self.b.start()
        harness.wait_until(lambda: self.metric(self.a, "weir_members_seen") == 2, "they see one another")
        self.start_prometheus()

    def member(self, name):
        """With its data in the folder of this name."""
        ports = {"metrics_port": harness.free_port(), "http_port": harness.free_port()}
        server = self.server(dir=self.path(name), logfile=self.path(name + ".log"), log=self.log, shard=SHARD,
                             cluster_enabled="yes", **ports)
        server.log_path = self.path(name + ".log")
        self.ports[server] = ports
        return server

    def speak_tls(self, server):
        """From a start on, by a certificate of two days."""
        if server.process.poll() is None:
            server.stop()
        options = Certificates(self.path("tls")).options(http_tls_port=harness.free_port())
        for name, value in options.items():
            server.command += ["--" + name.replace("_", "-"), str(value)]
        server.start()

    def start_prometheus(self):
        self.write("alerts.yml", rules())
        targets = [f"127.0.0.1:{ports['metrics_port']}" for ports in self.ports.values()]
        config = self.write("prometheus.yml", json.dumps({
            "global": {"scrape_interval": "500ms", "scrape_timeout": "500ms", "evaluation_interval": "500ms"},
            "rule_files": ["alerts.yml"],
            "scrape_configs": [{"job_name": "weir", "static_configs": [{"targets": targets}]}]}))
        self.port = harness.free_port()
        with open(self.path("prometheus.log"), "w", encoding="utf-8") as log:
            process = subprocess.Popen(
                [self.prometheus, f"--config.file={config}", f"--web.listen-address=127.0.0.1:{self.port}",
                 f"--storage.tsdb.path={self.path('tsdb')}"], stdout=log, stderr=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        harness.wait_until(lambda: self.ask("/api/v1/query?query=sum(up)") == "2", "both are scraped")

    def ask(self, path):
        """The value of a query, or what /alerts says; None while Prometheus does not answer."""
        with contextlib.suppress(OSError):
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
                data = json.load(answer)["data"]
            if "alerts" in data:
                return data["alerts"]
            return data["result"][0]["value"][1] if data["result"] else None
        return None

    def firing(self):
        return {alert["labels"]["alertname"] for alert in self.ask("/api/v1/alerts") or []
                if alert["state"] == "firing"}

    def assert_fires(self, *names):
        """All of these, if not at once; others may, since a fault has effects."""
        fired = set()

        def have_fired():
            fired.update(self.firing())
            return set(names) <= fired

        harness.wait_until(have_fired, f"{names} fire")

    def metric(self, server, name):
        return float(re.search(rf"(?m)^{name} (\S+)$", self.http(server, "metrics_port", "/metrics")[1])[1])

    def http(self, server, port, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.ports[server][port], timeout=harness.PATIENCE_S)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def gate(self, server, query, times):
        for _ in range(times):
            self.http(server, "http_port", f"/v1/gate?key=k&{query}")

    def test_a_healthy_shard_pages_nobody_and_every_fault_does(self):
        end = time.monotonic() + HEALTHY_S
        while time.monotonic() < end:
            self.assertEqual(self.firing(), set())
            time.sleep(0.3)
        for fault in (self.limiting, self.logins, self.gate_without_verdicts, self.denials, self.connections,
                      self.checkpoint, self.standby_dies, self.old_and_expiring, self.primary_dies):
            with self.subTest(fault.__name__):
                fault()

    def limiting(self):
        self.a.call("CONFIG", "SET", "limiting", "shadow")
        self.assert_fires("WeirLimitingOff")
        self.a.call("CONFIG", "SET", "limiting", "on")
        harness.wait_until(lambda: "WeirLimitingOff" not in self.firing(), "it is over")

    def logins(self):
        with self.a.connect() as client:
            for _ in range(60):
                with contextlib.suppress(harness.Refused):
                    client.call("AUTH", "nobody", "wrong")
        self.assert_fires("WeirLoginsFail")

    def gate_without_verdicts(self):
        self.gate(self.a, "policy=none&errors=closed", 20)
        self.assert_fires("WeirGateErrors", "WeirHttpFails")

    def denials(self):
        self.a.call("RL.POLICY", "SET", "tight", "FIXED", "1/1h")

        def are_told():
            for _ in range(100):
                self.a.call("RL.TAKE", "k", "POLICY", "tight")
            return {"WeirPolicyDenies", "WeirDenialStorm"} <= self.firing()

        harness.wait_until(are_told, "the denials are told of")

    def connections(self):
        self.a.call("CONFIG", "SET", "maxclients", 5)
        clients = []
        for _ in range(12):  # Each is answered before the next comes, for who set maxclients has a place until he is seen to go.
            clients.append(self.a.connect())
            with contextlib.suppress(OSError, harness.Refused):
                clients[-1].call("PING")
        self.assert_fires("WeirConnectionsRefused", "WeirClientsNearlyFull")
        for client in clients:
            client.close()
        harness.wait_until(lambda: self.set_maxclients(10000), "there is room again")

    def set_maxclients(self, count):
        with contextlib.suppress(OSError, harness.Refused):
            return self.a.call("CONFIG", "SET", "maxclients", count) == "OK"
        return False

    def checkpoint(self):
        Path(self.path("a"), "checkpoints").write_text("in the way", encoding="utf-8")
        self.a.call("BGSAVE")
        self.assert_fires("WeirCheckpointFailed")

    def standby_dies(self):
        for _ in range(2):
            self.b.stop(signal.SIGKILL)
            self.assert_fires("WeirDown")
            self.b.start()
            harness.wait_until(lambda: "WeirDown" not in self.firing() and
                               self.metric(self.b, "weir_uptime_in_seconds") >= 2, "it is back")
        self.assert_fires("WeirRestarts")

    def old_and_expiring(self):
        """Found at a start; away long enough to be missed by the other."""
        self.b.stop(signal.SIGKILL)
        os.makedirs(os.path.join(self.path("b"), "checkpoints/2020-01-01T00-00-00.000Z-turn-1"))
        self.assert_fires("WeirMembersMissing")
        self.b.command += ["--failover-after-ms", PATIENT_MS]
        self.speak_tls(self.b)
        self.assert_fires("WeirCheckpointOld", "WeirCertificateEnds")
        self.assertIn("put a new one in its place", self.b.log())

    def primary_dies(self):
        """And the standby takes its time."""
        self.a.stop(signal.SIGKILL)
        self.assert_fires("WeirNoPrimary", "WeirShardWithoutPrimary")

    def test_metrics_of_shards_and_certificates_that_alerts_and_board_ask_for(self):
        self.speak_tls(self.b)
        there = "".join(self.http(server, "metrics_port", "/metrics")[1] for server in (self.a, self.b))
        text = "".join((MONITORING / name).read_text() for name in ("alerts.yml", "grafana-board.json"))
        asked = {name for name in re.findall(r"weir_[a-z_]+", text) if name.startswith(OF_SHARDS)}
        self.assertEqual(len(asked), 12)
        for metric in asked:
            self.assertRegex(there, rf"(?m)^{metric}(\{{| )")


if __name__ == "__main__":
    harness.main()
