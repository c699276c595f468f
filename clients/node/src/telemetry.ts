/**
 * Spans and metrics of OpenTelemetry, for who has it: it needs the package @opentelemetry/api.
 *
 *     const limiter = new Limiter('redis://127.0.0.1:7000', '100/1m', { observer: new Telemetry('api') });
 */

import { metrics, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Attributes, Counter, Histogram, MeterProvider, Observable, Span, Tracer, TracerProvider } from '@opentelemetry/api';

import type { Observer, Outcome } from './observing.js';
import type { State } from './state.js';

export type { Observer, Outcome } from './observing.js';

const kScope = 'weir';
const kMsPerS = 1000;

export interface TelemetryOptions {
  /** Whether spans have the attribute weir.key; keys often name people. Default false. */
  readonly keys?: boolean | undefined;
  /** Default the global ones. */
  readonly tracerProvider?: TracerProvider | undefined;
  readonly meterProvider?: MeterProvider | undefined;
}

/**
 * An observer for one limiter or several; `name` tells them apart: the attribute weir.limiter.
 *
 * A span `weir CALL` around each call but the takes that a lot decides. Metrics: weir.decisions (calls by weir.call,
 * weir.allowed and weir.source), weir.call.duration (seconds), weir.away (1 or 0), weir.away.duration (seconds in all)
 * and weir.absences.
 */
export class Telemetry implements Observer {
  readonly #name: Attributes;
  readonly #hasKeys: boolean;
  readonly #tracer: Tracer;
  readonly #decisions: Counter;
  readonly #duration: Histogram;
  #limiters: WeakRef<{ state(): State }>[] = [];

  constructor(name: string, { keys = false, tracerProvider, meterProvider }: TelemetryOptions = {}) {
    this.#name = { 'weir.limiter': name };
    this.#hasKeys = keys;
    this.#tracer = (tracerProvider ?? trace).getTracer(kScope);
    const meter = (meterProvider ?? metrics).getMeter(kScope);
    this.#decisions = meter.createCounter('weir.decisions', { unit: '{decision}',
      description: 'Calls of limiters that were decided.' });
    this.#duration = meter.createHistogram('weir.call.duration', { unit: 's', description: 'How long calls of limiters took.' });
    this.#observe(meter.createObservableGauge('weir.away', { unit: '1',
      description: 'Whether weir is away for the limiter.' }), ({ away }) => Number(away));
    this.#observe(meter.createObservableCounter('weir.away.duration', { unit: 's',
      description: 'How long weir has been away for the limiter.' }), ({ awayMs }) => awayMs / kMsPerS);
    this.#observe(meter.createObservableCounter('weir.absences', { unit: '{absence}',
      description: 'How often weir has been away for the limiter.' }), ({ absences }) => absences);
  }

  limiter(limiter: { state(): State }): void {
    this.#limiters.push(new WeakRef(limiter));
  }

  /** Of several limiters the most: they share a name. */
  #observe(instrument: Observable, figure: (state: State) => number): void {
    instrument.addCallback((result) => {
      this.#limiters = this.#limiters.filter((limiter) => limiter.deref());
      const figures = this.#limiters.map((limiter) => figure(limiter.deref()!.state()));
      if (figures.length) result.observe(Math.max(...figures), this.#name);
    });
  }

  calling<T extends Outcome | number>(call: string, key: string, work: () => Promise<T>): Promise<T> {
    const told: Attributes = { ...this.#name, 'weir.call': call };
    const attributes = { ...told, ...(this.#hasKeys ? { 'weir.key': key } : {}) };
    return this.#tracer.startActiveSpan(`weir ${call}`, { kind: SpanKind.CLIENT, attributes }, async (span) => {
      const begin = performance.now();
      try {
        const outcome = await work();
        Object.assign(told, decisionOf(outcome));
        this.#decisions.add(1, told);
        span.setAttributes({ ...told, ...detailsOf(outcome) });
        return outcome;
      } catch (error) {
        told['error.type'] = fault(span, error);
        throw error;
      } finally {
        this.#duration.record((performance.now() - begin) / kMsPerS, told);
        span.end();
      }
    });
  }

  handedOut(outcome: Outcome): void {
    this.#decisions.add(1, { ...this.#name, 'weir.call': 'take', ...decisionOf(outcome) });
  }
}

/** The type of the error, which the span is told. */
function fault(span: Span, error: unknown): string {
  const found = error instanceof Error ? error : new Error(String(error));
  span.recordException(found);
  span.setStatus({ code: SpanStatusCode.ERROR, message: found.message });
  return found.constructor.name;
}

/** For metrics: few values of each. */
function decisionOf(outcome: Outcome | number): Attributes {
  if (typeof outcome === 'number') return { 'weir.allowed': outcome > 0 };
  const { allowed, granted, source } = outcome;
  return { 'weir.allowed': Boolean(allowed ?? granted), ...(source === undefined ? {} : { 'weir.source': source }) };
}

/** For spans. */
function detailsOf(outcome: Outcome | number): Attributes {
  if (typeof outcome === 'number') return {};
  const { remaining, retryAfterMs, policy } = outcome;
  return {
    ...(remaining === undefined ? {} : { 'weir.remaining': remaining }),
    ...(typeof retryAfterMs === 'number' ? { 'weir.retry_after': retryAfterMs / kMsPerS } : {}),
    ...(policy ? { 'weir.policy': policy } : {}),
  };
}
