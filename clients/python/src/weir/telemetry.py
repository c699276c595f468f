"""Spans and metrics of OpenTelemetry, for who has it: it needs the package opentelemetry-api.

    from weir.telemetry import Telemetry

    limiter = Limiter("redis://127.0.0.1:7000", "100/1m", observer=Telemetry("api"))
"""

from __future__ import annotations

import contextlib
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from opentelemetry import metrics, trace
from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation
from opentelemetry.trace import SpanKind, TracerProvider

from .state import State

SCOPE = "weir"


class Telemetry:
    """An observer for one limiter or several.

    name              tells them apart: the attribute weir.limiter
    keys              whether spans have the attribute weir.key; keys often name people
    tracer_provider, meter_provider    the global ones if they are left out

    A span `weir CALL` around each call but the takes that a lot decides. Metrics: weir.decisions (calls by weir.call,
    weir.allowed and weir.source), weir.call.duration (seconds), weir.away (1 or 0), weir.away.duration (seconds in
    all) and weir.absences.
    """

    def __init__(self, name: str, *, keys: bool = False, tracer_provider: TracerProvider | None = None,
                 meter_provider: MeterProvider | None = None) -> None:
        self._name, self._keys = {"weir.limiter": name}, keys
        self._tracer = trace.get_tracer(SCOPE, tracer_provider=tracer_provider)
        self._states: list[weakref.WeakMethod[Callable[[], State]]] = []
        meter = metrics.get_meter(SCOPE, meter_provider=meter_provider)
        self._decisions = meter.create_counter("weir.decisions", "{decision}", "Calls of limiters that were decided.")
        self._duration = meter.create_histogram("weir.call.duration", "s", "How long calls of limiters took.")
        meter.create_observable_gauge("weir.away", [self._observe(lambda state: int(state.away))], "1",
                                      "Whether weir is away for the limiter.")
        meter.create_observable_counter("weir.away.duration", [self._observe(lambda state: state.away_seconds)], "s",
                                        "How long weir has been away for the limiter.")
        meter.create_observable_counter("weir.absences", [self._observe(lambda state: state.absences)], "{absence}",
                                        "How often weir has been away for the limiter.")

    def limiter(self, state: Callable[[], State]) -> None:
        self._states.append(weakref.WeakMethod(state))

    def _observe(self, figure: Callable[[State], float]) -> Callable[[CallbackOptions], Iterable[Observation]]:
        """Of several limiters the most: they share a name."""
        def observe(_: CallbackOptions) -> Iterable[Observation]:
            self._states = [state for state in self._states if state() is not None]
            found = [state() for state in self._states]
            figures = [figure(state()) for state in found if state is not None]
            return [Observation(max(figures), self._name)] if figures else []
        return observe

    @contextlib.contextmanager
    def calling(self, call: str, key: str) -> Iterator[Callable[[Any], None]]:
        told: dict[str, str | bool] = {**self._name, "weir.call": call}
        begin, more = time.perf_counter(), {"weir.key": key} if self._keys else {}
        with self._tracer.start_as_current_span(f"weir {call}", kind=SpanKind.CLIENT,
                                                attributes={**told, **more}) as span:
            def tell(outcome: Any) -> None:
                told.update(_decision(outcome))
                self._decisions.add(1, told)
                span.set_attributes({**told, **_details(outcome)})
            try:
                yield tell
            except Exception as error:
                told["error.type"] = type(error).__name__
                raise
            finally:
                self._duration.record(time.perf_counter() - begin, told)

    def handed_out(self, outcome: Any) -> None:
        self._decisions.add(1, {**self._name, "weir.call": "take", **_decision(outcome)})


def _decision(outcome: Any) -> dict[str, str | bool]:
    """For metrics: few values of each."""
    found: dict[str, str | bool] = {"weir.allowed": bool(outcome)}
    source = getattr(outcome, "source", None)
    return found if source is None else {**found, "weir.source": source}


def _details(outcome: Any) -> dict[str, str | int | float]:
    """For spans."""
    names = ("remaining", "retry_after", "policy")
    values = {f"weir.{name}": getattr(outcome, name, None) for name in names}
    return {name: value for name, value in values.items() if value is not None}
