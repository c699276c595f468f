"""Spans and metrics of OpenTelemetry, as its SDK gets them."""

import asyncio
import json
import unittest
from pathlib import Path

import redis
from weir import Limiter, Weir, aio, take_all

from .timing import PATIENT_S
from .weirs import WeirServer, wait_until

try:
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from weir.telemetry import Telemetry
except ImportError as error:
    MISSING = f"not installed: {error.name}"
else:
    MISSING = ""


NAMES = Path(__file__).resolve().parents[2] / "conformance/telemetry.json"


@unittest.skipIf(MISSING, MISSING)
class Spans(unittest.TestCase):
    def setUp(self):
        self.server = WeirServer().__enter__()
        self.addCleanup(self.server.__exit__)
        self.weir = Weir(self.server.url, deadline=PATIENT_S)
        self.addCleanup(self.weir.close)
        self.exporter, self.reader = InMemorySpanExporter(), InMemoryMetricReader()
        self.tracers, self.meters = TracerProvider(), MeterProvider([self.reader])
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))

    def telemetry(self, **options):
        return Telemetry("api", tracer_provider=self.tracers, meter_provider=self.meters, **options)

    def spans(self):
        found = self.exporter.get_finished_spans()
        self.exporter.clear()
        return found

    def metric(self, name):
        """Its points: their attributes, without the limiter's name, and their values."""
        found = self.reader.get_metrics_data()
        return {} if found is None else {tuple(sorted((key.removeprefix("weir."), value) for key, value in point.attributes.items()
                             if key != "weir.limiter")): getattr(point, "value", None) or getattr(point, "count", 0)
                for resource in found.resource_metrics for scope in resource.scope_metrics
                for metric in scope.metrics if metric.name == name for point in metric.data.data_points}

    def test_spans(self):
        limiter = Limiter(self.weir, "FIXED 1/1h", observer=self.telemetry())
        limiter.take("k")
        limiter.take("k")
        first, second = self.spans()
        self.assertEqual((first.name, first.kind.name), ("weir take", "CLIENT"))
        self.assertEqual(dict(first.attributes), {
            "weir.limiter": "api", "weir.call": "take", "weir.allowed": True, "weir.source": "weir",
            "weir.remaining": 0, "weir.retry_after": 0.0})
        self.assertEqual((second.attributes["weir.allowed"], second.status.is_ok), (False, True))
        self.assertTrue(3000 < second.attributes["weir.retry_after"] <= 3600, "seconds")

    def make_calls(self, limiter):
        """One of each that a limiter has."""
        limiter.take("k")
        limiter.peek("k")
        limiter.acquire("k", 1)
        limiter.cancel("k", limiter.reserve("k"))
        limiter.hold("k", 1).cancel()
        take_all([(limiter, "k"), (limiter, "l")])

    def test_each_call_has_its_name(self):
        self.make_calls(Limiter(self.weir, "100/1s", observer=self.telemetry(keys=True)))
        with Limiter(self.weir, "CONCURRENCY 1 LEASE 1h", observer=self.telemetry()).lease("m"):
            pass
        spans = self.spans()
        self.assertEqual([span.attributes["weir.call"] for span in spans],
                         ["take", "peek", "acquire", "reserve", "cancel", "hold", "take_all", "lease"])
        self.assertEqual([span.attributes.get("weir.key") for span in spans], ["k"] * 7 + [None])

    def test_names_and_units_are_those_of_the_other_languages(self):
        limiter = Limiter(self.weir, "100/1s", observer=self.telemetry())  # which is told of as long as it is there
        self.make_calls(limiter)
        spans = {span.name: span for span in self.spans()}
        metrics = {metric.name: metric for resource in self.reader.get_metrics_data().resource_metrics
                   for scope in resource.scope_metrics for metric in scope.metrics}
        for row in json.loads(NAMES.read_text()):
            with self.subTest(row):
                if "span" in row:
                    found = spans[row["span"]]
                    self.assertEqual(found.kind.name.lower(), row["kind"])
                else:
                    self.assertEqual(metrics[row["metric"]].unit, row["unit"])
                    found = next(iter(metrics[row["metric"]].data.data_points))
                self.assertEqual(set(found.attributes), set(row["attributes"]))

    def test_a_fault_of_the_program(self):
        self.server.call("SET", "text", "x")
        limiter = Limiter(self.weir, "5/1s", observer=self.telemetry())
        with self.assertRaises(redis.ResponseError):
            limiter.take("text")
        span, = self.spans()
        self.assertFalse(span.status.is_ok)
        self.assertEqual([event.name for event in span.events], ["exception"])
        self.assertEqual(self.metric("weir.call.duration"), {(("call", "take"), ("error.type", "ResponseError")): 1})

    def test_it_is_the_parent_of_what_goes_on_within(self):
        tracer = self.tracers.get_tracer("test")

        class Client(redis.Redis):
            def execute_command(self, *words):
                with tracer.start_as_current_span(words[0]):
                    return super().execute_command(*words)

        async def takes():
            class Aio(redis.asyncio.Redis):
                async def execute_command(self, *words):
                    with tracer.start_as_current_span(words[0]):
                        return await super().execute_command(*words)
            async with Aio(port=self.server.port) as client:
                limiter = aio.Limiter(aio.Weir(client=client, deadline=PATIENT_S), "5/1s", observer=self.telemetry())
                await asyncio.gather(*(limiter.take(f"k{number}") for number in range(3)))
        with Client(port=self.server.port) as client:
            Limiter(Weir(client=client, deadline=PATIENT_S), "5/1s", observer=self.telemetry()).take("k")
        asyncio.run(takes())
        spans = self.spans()
        inner = [span.parent.span_id for span in spans if span.name == "RL.TAKE"]
        outer = [span.context.span_id for span in spans if span.name == "weir take"]
        self.assertEqual(sorted(inner), sorted(outer))
        self.assertEqual(len(inner), 4)

    def test_metrics_there_and_away(self):
        limiter = Limiter(self.weir, "FIXED 2/1h", away="closed", observer=self.telemetry())
        for _ in range(3):
            limiter.take("k")
        self.assertEqual(self.metric("weir.away"), {(): 0})
        self.server.kill()
        limiter.take("k")
        self.assertEqual(self.metric("weir.decisions"), {
            (("allowed", True), ("call", "take"), ("source", "weir")): 2,
            (("allowed", False), ("call", "take"), ("source", "weir")): 1,
            (("allowed", False), ("call", "take"), ("source", "closed")): 1})
        self.assertEqual((self.metric("weir.away"), self.metric("weir.absences")), ({(): 1}, {(): 1}))
        wait_until(lambda: self.metric("weir.away.duration")[()] > 0, "time passes")
        self.assertEqual(sum(self.metric("weir.call.duration").values()), 4)

    def test_what_lots_hand_out_is_counted_without_spans(self):
        limiter = Limiter(self.weir, "FIXED 1000000/1h", lots=600.0, observer=self.telemetry())
        for _ in range(100):
            limiter.take("k")
        self.assertEqual(sum(self.metric("weir.decisions").values()), 100)
        self.assertLess(len(self.spans()), 20)
        limiter.close()

    def test_a_limiter_that_is_gone_is_told_of_no_more(self):
        telemetry = self.telemetry()
        Limiter(self.weir, "5/1s", observer=telemetry)
        self.assertEqual(self.metric("weir.away"), {})

    def test_asyncio(self):
        async def calls():
            async with aio.Weir(self.server.url, deadline=PATIENT_S) as weir:
                limiter = aio.Limiter(weir, "CONCURRENCY 2 LEASE 1h", observer=self.telemetry())
                async with limiter.lease("k"):
                    await limiter.peek("k")
                await aio.take_all([(limiter, "a"), (limiter, "b")])
        asyncio.run(calls())
        self.assertEqual([span.name for span in self.spans()], ["weir lease", "weir peek", "weir take_all"])


if __name__ == "__main__":
    unittest.main()
