"""The HTTP port: /metrics as promtool and a real Prometheus read it, probes, and hostile clients."""

import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.parse
import urllib.request

import harness

CONNECTIONS_MAX = 16
HEADER_BYTES_MAX = 32 << 10


# What test_alerts.py looks for, at members of a shard with a certificate.
OF_SHARDS = ("weir_shard_", "weir_members_", "weir_standby_", "weir_log_away", "weir_tls_certificate", "weir_slots_",
             "weir_loop_busy")
MONITORING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/monitoring")


def board_queries():
    """What the panels of Grafana's board ask Prometheus for."""
    with open(os.path.join(MONITORING, "grafana-board.json"), encoding="utf-8") as file:
        board = json.load(file)
    return [target["expr"] for panel in board["panels"] for target in panel["targets"]]


def documented_config():
    """What docs/metrics.md says that Prometheus needs."""
    path = os.path.join(MONITORING, "../../docs/metrics.md")
    with open(path, encoding="utf-8") as file:
        return re.search(r"(?ms)^```yaml\n(.*?)^```", file.read()).group(1)


class Metrics(harness.ServerTest):
    def start(self, *options, **named):
        self.http_port = harness.free_port()
        named.setdefault("storage", "memory")
        return self.server(*options, metrics_port=self.http_port, **named).start()

    def http(self):
        return http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=harness.PATIENCE_S)

    def get(self, path, method="GET", **headers):
        connection = self.http()
        try:
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    def raw(self):
        client = socket.create_connection(("127.0.0.1", self.http_port))
        client.settimeout(harness.PATIENCE_S)
        self.addCleanup(client.close)
        return client

    def busy(self, server):
        server.call("RL.POLICY", "SET", "api", "GCRA", "5/m")
        with server.connect() as client:
            for _ in range(20):
                client.call("RL.TAKE", "user", "POLICY", "api")
                client.call("CL.THROTTLE", "other", 5, 10, 60)
            client.call("BLPOP", "nothing", "0.001")
            with self.assertRaises(harness.Refused):
                client.call("LPUSH", "user", "1")

    def test_there_is_none_by_default(self):
        server = self.memory_server()
        self.assertNotIn("metrics", server.log())

    def test_this_machine_only_by_default(self):
        self.start()
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", self.http_port))

    def test_an_address_that_must_be_there(self):
        server = self.server("--metrics-bind", "192.0.2.1", storage="memory", logfile="",
                             metrics_port=harness.free_port())
        code, _, err = server.spawn().wait()
        self.assertEqual(code, 1)
        self.assertIn("cannot listen on 192.0.2.1", err)

    def test_many_requests_on_one_connection(self):
        self.start()
        connection = self.http()
        for path, status in [("/healthz", 200), ("/readyz", 200), ("/nothing", 404),
                             ("/metrics", 200)] * 5:
            connection.request("GET", path)
            answer = connection.getresponse()
            self.assertEqual(answer.status, status)
            self.assertEqual(len(answer.read()), int(answer.headers["Content-Length"]))
        connection.close()

    def test_requests_that_come_at_once_are_answered_in_order(self):
        self.start()
        client = self.raw()
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n" * 3 +
                       b"GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        text = b""
        while piece := client.recv(65536):
            text += piece
        statuses = re.findall(rb"HTTP/1.1 (\d+) ", text)
        self.assertEqual(statuses, [b"200", b"200", b"200", b"404"])

    def test_head_has_no_body(self):
        self.start()
        status, headers, body = self.get("/metrics", "HEAD")
        self.assertEqual((status, body), (200, ""))
        self.assertGreater(int(headers["Content-Length"]), 1000)

    def test_promtool_finds_nothing_to_complain_of(self):
        promtool = shutil.which("promtool")
        if promtool is None:
            self.skipTest("promtool is not installed (Debian: prometheus)")
        server = self.start(storage="rocksdb")
        self.busy(server)
        text = self.get("/metrics")[2]
        done = subprocess.run([promtool, "check", "metrics"], input=text, text=True, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_it_tells_of_waits_and_of_the_disk(self):
        server = self.start(storage="rocksdb")
        with server.connect() as one, server.connect() as other:
            one.send(harness.encode("BLPOP", "list", 0))
            harness.wait_until(lambda: 'weir_command_waiting{command="blpop"} 1\n'
                               in self.get("/metrics")[2], "the wait is seen")
            other.call("RPUSH", "list", "a")
            one.read()
        there = self.get("/metrics")[2]
        metrics = dict(line.rsplit(" ", 1) for line in there.splitlines() if line[0] != "#")
        self.assertEqual(metrics['weir_command_waits_total{command="blpop",end="served"}'], "1")
        self.assertGreater(float(metrics['weir_command_wait_duration_seconds_sum{command="blpop"}']), 0)
        disk = os.statvfs(server.data)
        self.assertEqual(int(metrics["weir_disk_bytes"]), disk.f_blocks * disk.f_frsize)
        self.assertAlmostEqual(int(metrics["weir_disk_free_bytes"]) / disk.f_frsize, disk.f_bavail,
                               delta=disk.f_blocks // 20)
        for name in ("weir_write_stalls_total", "weir_compactions_total", "weir_compactions_running",
                     "weir_compaction_seconds_total", "weir_compaction_bytes_total",
                     "weir_compaction_pending_bytes", "weir_merge_waits_total"):
            self.assertEqual(float(metrics[name]), 0, name)

    def test_alerts_fire_when_they_should(self):
        promtool = shutil.which("promtool")
        if promtool is None:
            self.skipTest("promtool is not installed (Debian: prometheus)")
        cases = os.path.join(MONITORING, "../../tests/monitoring/alerts_test.yml")
        for words in (["check", "rules", os.path.join(MONITORING, "alerts.yml")],
                      ["test", "rules", cases]):
            done = subprocess.run([promtool, *words], text=True, timeout=60, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_alerts_and_board_ask_for_metrics_that_there_are(self):
        server = self.start(storage="rocksdb")
        self.busy(server)
        there = self.get("/metrics")[2]
        with open(os.path.join(MONITORING, "alerts.yml"), encoding="utf-8") as file:
            asked = re.findall(r"weir_[a-z_]+", " ".join(board_queries()) + file.read())
        self.assertGreater(len(set(asked)), 35)
        for metric in set(asked):
            if metric.startswith(OF_SHARDS):
                continue
            self.assertRegex(there, rf"(?m)^{metric}(\{{| )")

    def test_every_alert_has_a_case_that_fires_and_one_that_does_not(self):
        def read(path):
            with open(os.path.join(MONITORING, path), encoding="utf-8") as file:
                return file.read()

        alerts = re.findall(r"- alert: (\w+)", read("alerts.yml"))
        cases = re.findall(r'alertname="(\w+)"', read("../../tests/monitoring/alerts_test.yml"))
        self.assertEqual(sorted(cases), sorted(alerts * 2))

    def test_the_compose_stack_fits_together(self):
        folder = os.path.join(MONITORING, "compose")
        with open(os.path.join(folder, "compose.yaml"), encoding="utf-8") as file:
            stack = file.read()
        mounts = re.findall(r'- "(\.[^:"]+):([^:"]+):ro"', stack)
        self.assertEqual(len(mounts), 5)
        for source, _ in mounts:
            self.assertTrue(os.path.isfile(os.path.join(folder, source)), source)
        options = json.loads(re.search(r"(?m)^    command: (\[.*--metrics-port.*\])$", stack)[1])
        options = [re.sub(r"^\$\{WEIR_PASSWORD:.*\}$", "a-phrase", word) for word in options]
        checked = subprocess.run([harness.executable, "--check-config", *options], text=True,
                                 timeout=60, check=False, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT)
        self.assertEqual(checked.returncode, 0, checked.stdout)
        promtool = shutil.which("promtool")
        if promtool is None:
            self.skipTest("promtool is not installed (Debian: prometheus)")
        for source, target in mounts:
            if target.startswith("/etc/prometheus/"):
                shutil.copy(os.path.join(folder, source), self.path(os.path.basename(target)))
        done = subprocess.run([promtool, "check", "config", self.path("prometheus.yml")],
                              text=True, timeout=60, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, "SUCCESS: [0-9]+ rules found")

    def test_a_prometheus_reads_it(self):
        prometheus = shutil.which("prometheus")
        if prometheus is None:
            self.skipTest("prometheus is not installed")
        server = self.start(storage="rocksdb")
        self.busy(server)
        port = harness.free_port()
        config = self.write("prometheus.yml", "global: {scrape_interval: 1s}\n" +
                            documented_config().replace("9121", str(self.http_port)))
        with open(self.path("prometheus.log"), "w", encoding="utf-8") as log:
            process = subprocess.Popen(
                [prometheus, f"--config.file={config}", f"--web.listen-address=127.0.0.1:{port}",
                 f"--storage.tsdb.path={self.path('tsdb')}"], stdout=log, stderr=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

        def value(query):
            url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": query})
            try:
                with urllib.request.urlopen(url, timeout=10) as answer:
                    found = json.load(answer)["data"]["result"]
            except OSError:
                return None
            return found[0]["value"][1] if found else None

        harness.wait_until(lambda: value("up") == "1", "Prometheus has scraped weir")
        self.assertEqual(value('weir_policy_verdicts_total{policy="api",outcome="denied"}'), "15")
        self.assertEqual(value('weir_error_count_total{error="WRONGTYPE"}'), "1")
        self.assertEqual(value('weir_turn_duration_seconds_count > 40'),
                         value("weir_turns_run_total"))
        for query in board_queries():
            query = query.replace("$instance", ".*").replace("$__rate_interval", "1m")
            url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": query})
            with urllib.request.urlopen(url, timeout=10) as answer:
                self.assertEqual(json.load(answer)["status"], "success", query)

    def test_it_is_not_ready_while_the_store_fails(self):
        server = self.start(storage="rocksdb")
        self.assertEqual(self.get("/readyz")[0], 200)
        os.rename(server.data, server.data + "-gone")
        harness.wait_until(lambda: self.get("/readyz")[0] == 503, "the store is seen to be gone")
        status, _, body = self.get("/readyz")
        self.assertEqual(status, 503)
        self.assertIn("the store has failed", body)
        self.assertEqual(self.get("/healthz")[0], 200)
        self.assertIn("\nweir_ready 0\n", self.get("/metrics")[2])

    def test_a_header_that_is_too_long(self):
        self.start()
        status, _, body = self.get("/metrics", Long="x" * HEADER_BYTES_MAX)
        self.assertEqual(status, 431)
        self.assertIn("its header has more than 32768 bytes", body)

    def test_a_large_body_is_refused(self):
        self.start()
        client = self.raw()
        client.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 99999\r\n\r\n")
        self.assertIn(b" 413 ", client.recv(65536).splitlines()[0])

    def test_other_protocols_are_refused(self):
        server = self.start()
        for words in (b"PING\r\n\r\n", b"*1\r\n$4\r\nPING\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01",
                      b"GET /metrics\r\n\r\n", b"\0" * 9000):
            client = self.raw()
            text = b""
            try:
                client.sendall(words)
                client.shutdown(socket.SHUT_WR)
                while piece := client.recv(65536):
                    text += piece
            except OSError:
                pass  # it was closed before all was sent or read
            self.assertTrue(text == b"" or text.split()[1] in (b"400", b"413"), text[:200])
        self.assertEqual(server.call("PING"), "PONG")
        self.assertEqual(self.get("/healthz")[0], 200)

    def test_more_connections_than_there_may_be(self):
        """The one that has been silent longest makes room, and no descriptor is left behind."""
        self.start()
        silent = [self.raw() for _ in range(CONNECTIONS_MAX)]
        self.assertEqual(self.get("/healthz")[0], 200)
        self.assertEqual(silent[0].recv(1), b"")
        descriptors = f"/proc/{self.servers[0].process.pid}/fd"
        before = len(os.listdir(descriptors))
        more = [self.raw() for _ in range(3 * CONNECTIONS_MAX)]
        self.assertEqual(self.get("/healthz")[0], 200)
        self.assertLessEqual(len(os.listdir(descriptors)), before + 8)  # of the log and the like
        del more

    def test_begun_requests_do_not_keep_others_out(self):
        self.start()
        begun = [self.raw() for _ in range(CONNECTIONS_MAX)]
        for client in begun:
            client.sendall(b"GET /healthz HTTP/1.1\r\n")

        self.assertEqual(self.get("/healthz")[0], 200)
        self.assertEqual(begun[0].recv(1), b"")  # the oldest has made room

    def test_who_takes_no_answer_does_not_keep_others_out(self):
        """A probe of liveness that found no room would have the process ended."""
        server, slow = self.start(), []
        for _ in range(CONNECTIONS_MAX):
            client = socket.socket()
            self.addCleanup(client.close)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2304)
            client.connect(("127.0.0.1", self.http_port))
            client.sendall(b"GET /page/main.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000)
            slow.append(client)

        def sends_no_more():
            sent = []
            for pause_s in (0.2, 0):
                found = re.search(rb"total_net_output_bytes:(\d+)", server.call("INFO", "stats"))
                sent.append(int(found[1]))
                time.sleep(pause_s)
            return 0 < sent[0] < sent[1] < sent[0] + 10000  # INFO's own reply is sent

        harness.wait_until(sends_no_more, "no answer is taken")
        for _ in range(3):
            self.assertEqual(self.get("/healthz")[0], 200)

    def test_others_are_served_in_a_flood_of_requests(self):
        server = self.start()
        request = b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"
        flood = [self.raw() for _ in range(CONNECTIONS_MAX - 4)]
        for client in flood:
            client.setblocking(False)
            client.send(request * 100)
        with server.connect() as client:
            for _ in range(200):
                self.assertEqual(client.call("PING"), "PONG")


if __name__ == "__main__":
    harness.main()
