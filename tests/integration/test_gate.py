"""The proxies of docs/http.md, as their examples are written there, with load."""

import collections
import http.server
import json
import os
import re
import shutil
import socket
import subprocess
import threading
from pathlib import Path

import harness
from http_fixture import PAGE, Http, example
from support.fields import rate_limits

PORTS = {"7080": "weir", "7081": "inner", "8000": "proxy", "8080": "application"}  # of the page


class Application(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = b"no\n" if self.path == "/forbidden" else b"the application\n"
        self.send_response(403 if self.path == "/forbidden" else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *ignored):
        pass


class Proxies(Http):
    """A policy of 50 in an hour, and 200 requests by several callers at once: exactly 50 pass."""

    LIMIT = 50

    def setUp(self):
        super().setUp()
        self.ports = {"weir": self.http_port, "proxy": harness.free_port(),
                      "application": harness.free_port(), "inner": harness.free_port()}
        application = http.server.ThreadingHTTPServer(
            ("127.0.0.1", self.ports["application"]), Application)
        application.daemon_threads = True
        thread = threading.Thread(target=application.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(application.server_close)
        self.addCleanup(application.shutdown)
        self.weir = self.start()
        self.weir.call("RL.POLICY", "SET", "api", "FIXED", f"{self.LIMIT}/1h")

    def example(self, language):
        text = example(language)
        for port, name in PORTS.items():
            text = text.replace(f":{port}", f":{self.ports[name]}")
        return text

    def run_proxy(self, *words):
        with open(self.path("proxy.log"), "w", encoding="utf-8") as log:
            process = subprocess.Popen(words, stdout=log, stderr=log, cwd=self.folder,
                                       env={**os.environ, "HOME": self.folder})
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)

        def listens():
            self.assertIsNone(process.poll(), Path(self.path("proxy.log")).read_text())
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", self.ports["proxy"])) == 0

        harness.wait_until(listens, "the proxy listens")

    def through(self, path="/", **headers):
        return self.ask(self.connection(self.ports["proxy"]), path, **headers)

    def load(self):
        statuses = collections.Counter()
        lock = threading.Lock()

        def call():
            connection = self.connection(self.ports["proxy"])
            for _ in range(25):
                status = self.ask(connection, "/some/path?cost=0&key=other", X_Weir_Cost="0",
                                  X_Weir_Key="other", X_Weir_Client="other",
                                  X_Weir_Authorization="Basic eDp5",
                                  Authorization="Bearer of.an.application")[0]
                with lock:
                    statuses[status] += 1

        callers = [threading.Thread(target=call) for _ in range(8)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        return statuses

    def check_limits(self):
        self.assertEqual(self.load(), {200: self.LIMIT, 429: 200 - self.LIMIT})
        status, headers, _ = self.through()
        self.assertEqual(status, 429)
        self.assertAlmostEqual(int(headers["Retry-After"]), 3600, delta=60)
        self.assertRegex(headers["RateLimit"], '"api";r=0;t=[0-9]+')
        self.weir.call("DEL", "ip:127.0.0.1")
        self.assertEqual(self.through()[2], "the application\n")

    def nginx(self):
        path = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
        if path is None:
            self.skipTest("nginx is not installed")
        for name in ("body", "proxy", "fastcgi", "uwsgi", "scgi"):
            os.mkdir(self.path(name))
        temporary = "".join(f"{name}_temp_path {self.path(name)};\n"
                            for name in ("proxy", "fastcgi", "uwsgi", "scgi"))
        config = self.write("nginx.conf", f"""
            daemon off; master_process off; pid {self.path("nginx.pid")};
            error_log stderr warn;
            events {{}}
            http {{
              access_log off; client_body_temp_path {self.path("body")};
              {temporary}
              {self.example("nginx")}
            }}""")
        self.run_proxy(path, "-p", self.folder, "-e", "stderr", "-c", config)

    def test_nginx(self):
        self.nginx()
        self.check_limits()
        status, headers, body = self.through("/forbidden")
        self.assertEqual((status, body), (403, "no\n"))  # the application's own
        self.assertRegex(headers["RateLimit"], '"api";r=[0-9]+')
        self.weir.stop()
        self.assertEqual(self.through()[0], 200)  # let through, as the example says

    def test_nginx_does_not_take_a_refusal_for_a_denial(self):
        self.nginx()
        self.weir.call("RL.POLICY", "DEL", "api")
        self.assertEqual(self.through()[:1] + self.through()[2:], (200, "the application\n"))
        self.assertIn("the gate has no verdict: ERR no policy is named", self.weir.log())
        self.assertIn(b"gate_errors:2", self.weir.call("INFO", "weir"))

    def test_caddy(self):
        path = shutil.which("caddy")
        if path is None:
            self.skipTest("caddy is not installed")
        config = self.write("Caddyfile", "{\n\tadmin off\n\tauto_https off\n}\n" +
                            self.example("caddyfile"))
        self.run_proxy(path, "run", "--adapter", "caddyfile", "--config", config)
        self.check_limits()
        self.assertEqual(self.through(Cookie="c=" + "x" * 40_000)[0], 200)  # more than the gate reads
        self.assertEqual(self.through("/forbidden")[0], 403)
        self.weir.call("RL.POLICY", "DEL", "api")
        self.assertEqual(self.through()[0], 200)
        self.weir.stop()
        self.assertEqual(self.through()[2], "the application\n")

    def test_haproxy(self):
        path = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
        if path is None:
            self.skipTest("haproxy is not installed")
        script = self.write("weir.lua", self.example("lua"))
        config = self.write("haproxy.cfg", self.example("haproxy").replace("/etc/haproxy/weir.lua",
                                                                           script))
        self.run_proxy(path, "-db", "-f", config)
        self.check_limits()
        self.weir.call("RL.POLICY", "DEL", "api")
        self.assertEqual(self.through()[0], 200)
        self.weir.stop()
        self.assertEqual(self.through()[0], 200)

    def test_caddy_hands_on_what_the_gate_says(self):
        """With the options that the page's example leaves out: two keys, older fields, and a body that tells why."""
        path = shutil.which("caddy")
        if path is None:
            self.skipTest("caddy is not installed")
        self.weir.call("RL.POLICY", "SET", "tenant", "FIXED", "2/1m")
        options = "legacy&problem&policy.2=tenant&key.2=tenant:&key-header.2=X-Tenant&"
        text = self.example("caddyfile").replace("policy=api&", "policy=api&" + options)
        self.run_proxy(path, "run", "--adapter", "caddyfile", "--config",
                       self.write("Caddyfile", "{\n\tadmin off\n\tauto_https off\n}\n" + text))
        statuses = [self.through(X_Tenant=tenant)[0] for tenant in ("acme", "acme", "acme", "other")]
        self.assertEqual(statuses, [200, 200, 429, 200])
        self.assertEqual(self.weir.call("RL.PEEK", "ip:127.0.0.1", "COST", "0")[2], self.LIMIT - 3)
        _, headers, body = self.through(X_Tenant="acme")
        self.assertEqual(headers["Content-Type"], "application/problem+json")
        self.assertEqual((headers["X-RateLimit-Limit"], headers["X-RateLimit-Remaining"]), ("2", "0"))
        self.assertEqual(json.loads(body)["violated-policies"], ["tenant"])

    def test_envoy(self):
        """It is run by tests/clients: here the fields are sent that its example has it send."""
        text = example("yaml", 2)
        fields = dict(re.findall(r'- \{key: ([\w-]+), value: "?([\w:-]+)"?\}', text))
        self.assertEqual(len(fields), 5)
        own = re.search(r"allowed_headers: .*exact: ([\w-]+)", text)[1]
        self.assertEqual(re.search(r"header: \{key: ([\w-]+),", text)[1], own)
        status, _, told = self.get("/v1/gate/some/path?cost=0&key=other", **fields, **{own: "192.0.2.1"})
        self.assertEqual((status, self.weir.call("KEYS", "*")), (200, [b"ip:192.0.2.1"]), told)


class Options(Http):
    """What the gate is asked beyond a policy and a key."""

    def setUp(self):
        super().setUp()
        self.weir = self.start()

    def denial(self, query, **fields):
        """Status and problem of the answer."""
        status, headers, body = self.get("/v1/gate?problem&" + query, **fields)
        self.assertEqual(headers["Content-Type"], "application/problem+json")
        problem = json.loads(body)
        self.assertEqual(problem["status"], status)
        base, kind = problem["type"].split("#")
        self.assertEqual(base, "https://iana.org/assignments/http-problem-types")
        return status, kind, problem["violated-policies"]

    def test_addresses_of_one_network_have_one_limit(self):
        self.weir.call("RL.POLICY", "SET", "api", "FIXED", "2/1h")
        query = "/v1/gate?policy=api&key=ip:&key-header=X-Forwarded-For&key-ipv6=64"
        statuses = [self.get(query, X_Forwarded_For=address)[0] for address in (
            "2001:db8::1", "10.0.0.1, [2001:db8::2]:443", "2001:db8::3", "2001:db8:0:1::1", "192.0.2.1",
            "::ffff:192.0.2.1", "192.0.2.1:80")]
        self.assertEqual(statuses, [200, 200, 429, 200, 200, 200, 429])

    def test_addresses_become_the_keys_of_the_page(self):
        table = re.search(r"(?ms)^\| the field \| with `key-ipv6=64` \|\n\|[-|]*\|\n(.*?)\n\n", PAGE.read_text())[1]
        asked = 0
        for fields, told in re.findall(r"(?m)^\| (.*?) \| (.*) \|$", table):
            [expected, *cut] = re.findall(r"^`([^`]*)`(?:.*with `(key-ipv4=\d+)` as well `([^`]*)`)?", told)[0]
            options = [("key-ipv6=64", expected)]
            if cut[0]:
                options.append(("key-ipv6=64&" + cut[0], cut[1]))
            for field in re.findall(r"`([^`]*)`", fields):
                for option, key in options:
                    with self.subTest(field=field, option=option):
                        self.weir.call("FLUSHALL")
                        status, _, text = self.get(f"/v1/gate?limits=9/1h&key-header=X-Client&{option}", X_Client=field)
                        self.assertEqual((status, self.weir.call("KEYS", "*")), (200, [key.encode()]), text)
                        asked += 1
        self.assertGreater(asked, 10)

    def test_problems(self):
        self.weir.call("RL.POLICY", "SET", "api", "FIXED", "1/1h", "AS", "hourly", "FIXED", "5/1d")
        self.get("/v1/gate?policy=api&key=k")
        self.assertEqual(self.denial("policy=api&key=k"), (429, "quota-exceeded", ["hourly"]))
        self.assertEqual(self.denial("policy=api&key=k&cost=6&deny=403"),
                         (403, "quota-exceeded", ["hourly", "api"]))
        ban = "limits=FIXED+1/1h+BAN+15m+AFTER+1+WITHIN+10m+AS+login&key=b"
        self.get("/v1/gate?" + ban)
        for _ in range(2):
            self.assertEqual(self.denial(ban), (429, "abnormal-usage-detected", ["login"]))
        adaptive = "limits=FIXED+9/1h+AS+day+10/1h+ADAPTIVE+8..60+AS+load&key=a"
        self.assertEqual(self.denial(adaptive + "&cost=0,11"), (429, "quota-exceeded", ["load"]))
        self.get("/v1/gate?" + adaptive)
        self.weir.call("RL.REPORT", "a", "FAIL")
        self.assertEqual(self.denial(adaptive + "&cost=0,11"), (429, "temporary-reduced-capacity", ["load"]))
        self.assertEqual(self.denial(adaptive + "&cost=10,1"), (429, "quota-exceeded", ["day"]))

    def test_partitions(self):
        _, headers, _ = self.get("/v1/gate?limits=5/1s&key=k1&partition")
        self.assertEqual(rate_limits(headers)["RateLimit"], {"default": {"r": 4, "t": 1, "pk": b"k1"}})

    def test_a_trace_shows_in_the_slow_log_and_as_an_exemplar(self):
        port = harness.free_port()
        self.weir.stop()
        self.weir = self.start(metrics_port=port, slowlog_log_slower_than=0)
        ids = [("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"), ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331")]
        traces = [f"00-{trace}-{span}-01" for trace, span in ids]
        connection = self.connection()
        self.ask(connection, "/v1/gate?limits=5/1s&key=k", traceparent=traces[0])
        self.ask(connection, "/v1/take", "POST", '{"key": "k", "limits": "5/1s"}', traceparent=traces[1])
        logged = [entry[3] for entry in self.weir.call("SLOWLOG", "GET", "10")]
        for trace in traces:
            self.assertIn([b"RL.TAKE", b"k", b"5/1s", b"HEADERS", b"TRACEPARENT", trace.encode()], logged)
        _, headers, text = self.ask(self.connection(port), "/metrics", Accept="application/openmetrics-text")
        self.assertIn("openmetrics", headers["Content-Type"])
        exemplar = r'weir_decision_duration_seconds_bucket\{le="[^"]+"\} \d+ # \{trace_id="(\w+)",span_id="(\w+)"\} '
        [found] = re.findall(exemplar, text)  # the first of sixteen is timed
        self.assertEqual(found, ids[0])
        self.assertEqual(self.ask(connection, "/v1/gate?limits=5/1s&key=k", traceparent="of-a-caller")[0], 200)


if __name__ == "__main__":
    harness.main()
