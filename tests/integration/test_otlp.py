"""Metrics and spans over OTLP: what a collector gets is what /metrics says, and one that is away costs nothing."""

import http.client
import itertools
import math
import os
import re
import subprocess
import time
import urllib.request

import collector
import harness
from support.certificates import Certificates

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACED = ("TRACEPARENT", f"00-{TRACE}-{PARENT}-01")
UNSAMPLED = ("TRACEPARENT", f"00-{TRACE}-{PARENT}-00")
SPANS_MAX = 2048
# Gauges that may be as before, and were not in between.
MOVING = re.compile("memory|allocator|mem_|rss|running|behind|unwritten|waiting")
PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/metrics.md")


def text_labels(text):
    """The labels of Prometheus' text, which has a backslash before '"' and a backslash."""
    return tuple(sorted((name, re.sub(r"\\(.)", r"\1", value))
                        for name, value in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', text or "")))


def samples_of_text(text):
    """{(name, labels): value}"""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels, value = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line).groups()
        found[name, text_labels(labels)] = float(value)
    return found


def samples_of_message(message):
    """The same, of what a collector got."""
    found = {}

    def add(name, attributes, value, **more):
        labels = {each.key: each.value.string_value for each in attributes} | more
        key = name, tuple(sorted(labels.items()))
        assert key not in found, key
        found[key] = value

    for metric in message.resource_metrics[0].scope_metrics[0].metrics:
        kind = metric.WhichOneof("data")
        for point in getattr(metric, kind).data_points:
            if kind != "histogram":
                add(metric.name, point.attributes, float(getattr(point, point.WhichOneof("value"))))
                continue
            below = 0
            for bound, count in zip([*point.explicit_bounds, math.inf], point.bucket_counts, strict=True):
                below += count
                le = "+Inf" if bound == math.inf else re.sub(r"\.0$", "", repr(bound))
                add(metric.name + "_bucket", point.attributes, below, le=le)
            add(metric.name + "_sum", point.attributes, point.sum)
            add(metric.name + "_count", point.attributes, point.count)
    return found


def attributes_of(resource):
    return {each.key: each.value.string_value for each in resource.attributes}


class Otlp(harness.ServerTest):
    def setUp(self):
        super().setUp()
        self.port = harness.free_port()
        self.set(OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{self.port}", OTEL_METRIC_EXPORT_INTERVAL="200",
                 OTEL_BSP_SCHEDULE_DELAY="100")

    def set(self, **variables):
        """For servers that are started from now on; None takes one away."""
        for name, value in variables.items():
            before = os.environ.get(name)
            self.addCleanup(os.environ.pop, name, None)
            if before is not None:
                self.addCleanup(os.environ.__setitem__, name, before)
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    def decoder(self):
        messages, why_not = collector.decoder()
        if messages is None:
            self.skipTest(why_not)
        return messages

    def collector(self, **options):
        made = collector.Collector(self.port, **options)
        self.addCleanup(made.stop)
        return made

    def weir(self, **named):
        return self.memory_server(**named)

    def info(self, server, name):
        found = re.search(rf"(?m)^{name}:(.*?)\r?$", server.call("INFO", "weir").decode())
        return found and found[1]

    def wait_for(self, server, name, value):
        harness.wait_until(lambda: self.info(server, name) == value, f"{name} is {value}")

    def wait_for_post(self, there, path, count=1):
        harness.wait_until(lambda: len(there.bodies(path)) >= count, f"{count} posts to {path}")
        return there.bodies(path)

    def wait_for_ticks(self, server):
        """Longer than the interval of metrics, and than that of spans."""
        def uptime():
            return int(re.search(rb"uptime_in_seconds:(\d+)", server.call("INFO", "server"))[1])

        begin = uptime()
        harness.wait_until(lambda: uptime() > begin + 1, "a second has gone by")

    def test_nothing_is_sent_unless_it_is_asked_for(self):
        there = self.collector()
        self.set(OTEL_EXPORTER_OTLP_ENDPOINT=None)
        server = self.weir()
        self.assertEqual((self.info(server, "otlp_metrics"), self.info(server, "otlp_spans")), ("off", "off"))
        server.call("RL.TAKE", "k", "5/1m", *TRACED)
        server.stop()
        self.set(OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{self.port}", OTEL_SDK_DISABLED="true")
        server = self.weir()
        self.assertEqual((self.info(server, "otlp_metrics"), self.info(server, "otlp_spans")), ("off", "off"))
        self.assertEqual(there.posts, [])

    def test_metrics_are_those_of_the_text(self):
        messages = self.decoder()
        there = self.collector()
        http_port = harness.free_port()
        server = self.weir(metrics_port=http_port)
        server.call("RL.POLICY", "SET", "api", "GCRA", "5/m")
        with server.connect() as client:
            for _ in range(20):
                client.call("RL.TAKE", "user", "POLICY", "api")
            client.call("RL.TAKE", "traced", "5/1m", *TRACED)
            client.call("BLPOP", "nothing", "0.001")
            with self.assertRaises(harness.Refused):
                client.call("LPUSH", "user", "1")

        connection = http.client.HTTPConnection("127.0.0.1", http_port, timeout=harness.PATIENCE_S)
        self.addCleanup(connection.close)  # it is a client all the time

        def scraped():
            connection.request("GET", "/metrics")
            return samples_of_text(connection.getresponse().read().decode())

        before = scraped()
        body = self.wait_for_post(there, "/v1/metrics", len(there.bodies("/v1/metrics")) + 2)[-1]
        text = scraped()
        message = messages["/v1/metrics"].FromString(body)
        self.assertEqual(message.FromString(message.SerializeToString()), message)
        sent = samples_of_message(message)
        self.assertEqual(set(sent), set(text))
        still = {key for key, value in text.items() if before.get(key) == value and not MOVING.search(key[0])}
        self.assertGreater(len(still), len(text) // 2)
        for key in still:
            self.assertEqual(sent[key], text[key], key)
        self.assertEqual(sent["weir_policy_verdicts_total", (("outcome", "denied"), ("policy", "api"))], 15)
        self.assertEqual(sent["weir_command_calls_total", (("command", "rl.take"),)], 21)
        name = "weir_command_wait_duration_seconds_count"
        self.assertEqual(sent[name, (("command", "blpop"),)], 1)

    def test_metrics_tell_what_they_are(self):
        messages = self.decoder()
        there = self.collector()
        self.set(OTEL_SERVICE_NAME="shop limits", OTEL_RESOURCE_ATTRIBUTES="service.name=no,place=a%2Cb",
                 OTEL_EXPORTER_OTLP_HEADERS="api-key=a%20secret")
        began_ns = time.time_ns()
        server = self.weir()
        for _ in range(20):
            server.call("RL.TAKE", "traced", "500/1m", *TRACED)
        self.wait_for_post(there, "/v1/metrics", len(there.bodies("/v1/metrics")) + 2)
        path, headers, body = [post for post in there.posts if post[0] == "/v1/metrics"][-1]
        self.assertEqual((path, headers["Content-Type"], headers["api-key"], headers["Host"]),
                         ("/v1/metrics", "application/x-protobuf", "a secret", f"127.0.0.1:{self.port}"))
        self.assertNotIn("secret", server.log())
        message = messages["/v1/metrics"].FromString(body)
        of = attributes_of(message.resource_metrics[0].resource)
        self.assertEqual((of["service.name"], of["place"]), ("shop limits", "a,b"))
        self.assertTrue(of["service.instance.id"].endswith(f":{server.port}"), of)
        self.assertTrue(of["service.version"])
        scope = message.resource_metrics[0].scope_metrics[0]
        self.assertEqual((scope.scope.name, scope.scope.version), ("weir", of["service.version"]))
        metrics = {metric.name: metric for metric in scope.metrics}
        total = metrics["weir_permits_total"]
        self.assertEqual((total.WhichOneof("data"), total.sum.is_monotonic, total.sum.aggregation_temporality),
                         ("sum", True, 2))
        self.assertTrue(total.description)
        point, = total.sum.data_points
        self.assertLess(began_ns - 10**9, point.start_time_unix_nano)
        self.assertLess(point.start_time_unix_nano, point.time_unix_nano)
        self.assertEqual(metrics["weir_maxmemory_bytes"].unit, "By")
        turns = metrics["weir_decision_duration_seconds"]
        self.assertEqual((turns.WhichOneof("data"), turns.unit, turns.histogram.aggregation_temporality),
                         ("histogram", "s", 2))
        point, = turns.histogram.data_points
        self.assertEqual(sum(point.bucket_counts), point.count)
        ids = {(each.trace_id.hex(), each.span_id.hex()) for each in point.exemplars}
        self.assertEqual(ids, {(TRACE, PARENT)})

    def test_sampled_requests_have_spans(self):
        messages = self.decoder()
        there = self.collector()
        server = self.weir(http_port=(http_port := harness.free_port()))
        server.call("RL.POLICY", "SET", "api", "5/1m")
        before_ns = time.time_ns()
        server.call("RL.TAKE", "secret-key", "5/1m", *TRACED)
        server.call("RL.TAKE", "secret-key", "5/1m", *UNSAMPLED)
        server.call("RL.TAKE", "secret-key", "5/1m")
        server.call("SET", "word", "x")
        with self.assertRaises(harness.Refused):
            server.call("RL.TAKE", "word", "5/1m", *TRACED)
        asked = urllib.request.Request(f"http://127.0.0.1:{http_port}/v1/take", method="POST",
                                       data=b'{"key":"over-http","policy":"api"}',
                                       headers={"traceparent": TRACED[1], "Content-Type": "application/json"})
        with urllib.request.urlopen(asked, timeout=10) as answer:
            self.assertEqual(answer.status, 200)
        self.wait_for(server, "otlp_spans_exported", "3")
        spans = []
        for body in there.bodies("/v1/traces"):
            self.assertNotIn(b"secret-key", body)
            message = messages["/v1/traces"].FromString(body)
            self.assertEqual(attributes_of(message.resource_spans[0].resource)["service.name"], "weir")
            spans += message.resource_spans[0].scope_spans[0].spans
        self.assertEqual([(span.name, span.kind, span.trace_id.hex(), span.parent_span_id.hex(), span.status.code)
                          for span in spans],
                         [("rl.take", 2, TRACE, PARENT, 0), ("rl.take", 2, TRACE, PARENT, 2),
                          ("rl.take", 2, TRACE, PARENT, 0)])
        self.assertEqual(len({span.span_id for span in spans} | {b"\0" * 8}), 4)
        for span in spans:
            self.assertEqual(len(span.span_id), 8)
            self.assertLess(before_ns - 10**9, span.start_time_unix_nano)
            self.assertLess(span.start_time_unix_nano, span.end_time_unix_nano)
            self.assertLess(span.end_time_unix_nano, time.time_ns() + 10**9)

    def test_what_there_is_at_the_end_is_sent(self):
        there = self.collector()
        self.set(OTEL_METRIC_EXPORT_INTERVAL="600000", OTEL_BSP_SCHEDULE_DELAY="600000")
        server = self.weir()
        server.call("RL.TAKE", "k", "5/1m", *TRACED)
        self.assertEqual(there.posts, [])
        self.assertEqual(server.stop(), 0)
        self.assertEqual(sorted(path for path, _, _ in there.posts), ["/v1/metrics", "/v1/traces"])
        there.holds.set()  # it takes the last ones and answers nothing
        server = self.weir()
        self.assertEqual(server.stop(), 0)
        self.assertEqual(len(there.bodies("/v1/metrics")), 2)

    def test_one_of_the_two_may_be_left_out(self):
        there = self.collector()
        self.set(OTEL_TRACES_EXPORTER="none")
        server = self.weir()
        server.call("RL.TAKE", "k", "5/1m", *TRACED)
        self.wait_for(server, "otlp_metrics", "ok")
        self.assertEqual(self.info(server, "otlp_spans"), "off")
        self.assertEqual(there.bodies("/v1/traces"), [])

    def test_a_collector_that_is_away_is_told_of_once(self):
        server = self.weir()
        self.wait_for(server, "otlp_metrics", "failing")
        self.assertIn(f"http://127.0.0.1:{self.port}/v1/metrics: Connection refused", self.info(server, "otlp_error"))
        harness.wait_until(lambda: int(self.info(server, "otlp_exports_failed")) >= 4, "it is tried again")
        self.assertEqual(server.log().count("metrics cannot be exported"), 1)
        self.assertEqual(self.info(server, "otlp_exports"), "0")
        self.collector()
        self.wait_for(server, "otlp_metrics", "ok")
        self.assertEqual(self.info(server, "otlp_error"), "")
        self.assertEqual(server.log().count("metrics are exported again"), 1)

    def test_a_collector_that_refuses(self):
        there = self.collector()
        there.status = 503
        server = self.weir()
        self.wait_for(server, "otlp_metrics", "failing")
        self.assertTrue(self.info(server, "otlp_error").endswith("/v1/metrics answers 503"))
        server.call("RL.TAKE", "k", "5/1m", *TRACED)
        self.wait_for(server, "otlp_spans_dropped", "1")
        there.status = 200
        self.wait_for(server, "otlp_metrics", "ok")
        self.assertEqual(self.info(server, "otlp_spans_exported"), "0")

    def test_a_collector_that_is_silent_holds_nothing_up(self):
        """It has one request of each kind, spans wait in a bounded buffer, and the server ends meanwhile."""
        self.set(OTEL_EXPORTER_OTLP_TIMEOUT="3600000")
        there = self.collector()
        there.holds.set()
        server = self.weir()
        with server.connect() as client:
            client.call("RL.TAKE", "k", "1000000/1s", *TRACED)
            self.wait_for_post(there, "/v1/traces")
            self.wait_for_post(there, "/v1/metrics")
            take = harness.encode("RL.TAKE", "k", "1000000/1s", *TRACED)
            for _ in range(2):
                for _ in range(30):
                    client.send(take * 100)
                    for _ in range(100):
                        client.read()
                self.wait_for_ticks(server)  # more could be sent now
        self.assertEqual(self.info(server, "otlp_spans_dropped"), str(6000 - SPANS_MAX))
        self.assertEqual({path: len(there.bodies(path)) for path in ("/v1/metrics", "/v1/traces")},
                         {"/v1/metrics": 1, "/v1/traces": 1})
        self.assertEqual(server.stop(), 0)

    def test_a_request_ends_in_time(self):
        self.set(OTEL_EXPORTER_OTLP_TIMEOUT="300")
        there = self.collector()
        there.holds.set()
        server = self.weir()
        self.wait_for(server, "otlp_metrics", "failing")
        self.assertIn("there was no answer of HTTP in time", self.info(server, "otlp_error"))
        self.wait_for_post(there, "/v1/metrics", 2)

    def test_a_collector_that_trickles_is_cut(self):
        """Each piece of the answer comes in time, and the whole never does."""
        self.set(OTEL_EXPORTER_OTLP_TIMEOUT="300")
        there = self.collector()
        there.pieces = lambda: itertools.repeat(b"H")
        server = self.weir()
        self.wait_for(server, "otlp_metrics", "failing")
        self.wait_for_post(there, "/v1/metrics", 3)

    def test_an_answer_has_a_bound(self):
        self.set(OTEL_EXPORTER_OTLP_TIMEOUT="3600000")
        there = self.collector()
        there.pieces = lambda: itertools.chain([b"HTTP/1.1 200 OK\r\n\r\n"], itertools.repeat(b"x" * 8192))
        server = self.weir()
        self.wait_for(server, "otlp_metrics", "ok")

    def test_https(self):
        certificates = Certificates(self.path("tls"))
        there = self.collector(certificate=(certificates.path("server.crt"), certificates.path("server.key")))
        self.set(OTEL_EXPORTER_OTLP_ENDPOINT=f"https://localhost:{self.port}")
        server = self.weir()
        self.wait_for(server, "otlp_metrics", "failing")
        self.assertIn("its certificate is not accepted", self.info(server, "otlp_error"))
        server.stop()
        self.set(OTEL_EXPORTER_OTLP_CERTIFICATE=certificates.path("ca.crt"))
        server = self.weir()
        self.wait_for(server, "otlp_metrics", "ok")
        self.assertTrue(there.bodies("/v1/metrics"))

    def test_what_cannot_be_obeyed_is_refused(self):
        self.set(OTEL_EXPORTER_OTLP_PROTOCOL="grpc")
        words = "OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf"
        server = self.server(storage="memory")
        code, _, _ = server.spawn().wait()
        self.assertEqual(code, 1)
        self.assertIn(words, server.log())
        checked = subprocess.run([harness.executable, "--check-config"], capture_output=True, text=True,
                                 timeout=60, check=False)
        self.assertEqual(checked.returncode, 1)
        self.assertIn(words, checked.stderr)

    def test_the_page_s_lines(self):
        """docs/metrics.md: the collector's file listens where the command sends to, and the command is run."""
        with open(PAGE, encoding="utf-8") as file:
            section = file.read().partition("\n## OpenTelemetry\n")[2].partition("\n## ")[0]
        command = re.search(r"(?ms)^```sh\n(OTEL_.*?)^```", section).group(1)
        self.assertIn("endpoint: 0.0.0.0:4318", re.search(r"(?ms)^```yaml\n(.*?)^```", section).group(1))
        self.assertIn("http://127.0.0.1:4318", command)
        there = self.collector()
        *variables, program, option, port = command.replace("\\\n", "").split()
        self.assertEqual((program, option), ("weir-server", "--port"))
        self.set(**dict(pair.replace(":4318", f":{self.port}").split("=") for pair in variables))
        self.set(OTEL_METRIC_EXPORT_INTERVAL="200")
        self.assertTrue(port.isdigit())
        self.weir()
        self.wait_for_post(there, "/v1/metrics")
        listed = set(re.findall(r"`(OTEL_[A-Z_]+)`", section))
        for name in dict(pair.split("=") for pair in variables):
            self.assertIn(name, listed)


if __name__ == "__main__":
    harness.main()
