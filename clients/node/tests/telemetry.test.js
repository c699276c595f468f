// Spans and metrics of OpenTelemetry, as its SDK gets them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { context, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { Redis } from 'ioredis';
import { Limiter, Lots, takeAll, Weir } from 'weir-client';
import { Telemetry } from 'weir-client/telemetry';

import { kPatient, pause, waitUntil, WeirServer } from './support/weirs.js';

const kNames = JSON.parse(readFileSync(new URL('telemetry.json',
  new URL(process.env.WEIR_CONFORMANCE ?? new URL('../../conformance/', import.meta.url), import.meta.url))));

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
after(() => context.disable());

class Reader extends MetricReader {
  async onForceFlush() {}

  async onShutdown() {}
}

class Told {
  exporter = new InMemorySpanExporter();
  reader = new Reader();
  tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(this.exporter)] });
  meters = new MeterProvider({ readers: [this.reader] });

  telemetry(options) {
    return new Telemetry('api', { tracerProvider: this.tracers, meterProvider: this.meters, ...options });
  }

  spans() {
    const found = this.exporter.getFinishedSpans();
    this.exporter.reset();
    return found;
  }

  async metrics() {
    const { resourceMetrics } = await this.reader.collect();
    return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
  }

  /** Its points: their attributes, without the limiter's name, and their values. */
  async metric(wanted) {
    const found = (await this.metrics()).find(({ descriptor: { name } }) => name === wanted);
    return (found?.dataPoints ?? []).map(({ attributes: { 'weir.limiter': _, ...attributes }, value }) => [
      Object.keys(attributes).sort().map((name) => `${name.replace('weir.', '')}=${attributes[name]}`).join(' '),
      value?.count ?? value]);
  }
}

async function serverAndWeir(t) {
  const server = await WeirServer.of(t);
  const weir = new Weir(server.url, kPatient);
  t.after(() => weir.close());
  return { server, weir, told: new Told() };
}

async function eachCall(limiter) {
  await limiter.take('k');
  await limiter.peek('k');
  await limiter.acquire('k', { timeoutMs: 1000 });
  await limiter.cancel('k', await limiter.reserve('k'));
  await (await limiter.hold('k', 1)).cancel();
  await takeAll([[limiter, 'k'], [limiter, 'l']]);
}

test('spans', async (t) => {
  const { weir, told } = await serverAndWeir(t);
  const limiter = new Limiter(weir, 'FIXED 1/1h', { observer: told.telemetry() });
  await limiter.take('k');
  await limiter.take('k');
  const [first, second] = told.spans();
  assert.deepEqual([first.name, first.kind], ['weir take', SpanKind.CLIENT]);
  assert.deepEqual(first.attributes, { 'weir.limiter': 'api', 'weir.call': 'take', 'weir.allowed': true,
    'weir.source': 'weir', 'weir.remaining': 0, 'weir.retry_after': 0 });
  assert.deepEqual([second.attributes['weir.allowed'], second.status.code], [false, SpanStatusCode.UNSET]);
  assert.ok(second.attributes['weir.retry_after'] > 3000 && second.attributes['weir.retry_after'] <= 3600, 'seconds');
});

test('each call has its name', async (t) => {
  const { weir, told } = await serverAndWeir(t);
  await eachCall(new Limiter(weir, '100/1s', { observer: told.telemetry({ keys: true }) }));
  await new Limiter(weir, 'CONCURRENCY 1 LEASE 1h', { observer: told.telemetry() }).lease('m', () => {});
  const spans = told.spans();
  assert.deepEqual(spans.map(({ attributes }) => attributes['weir.call']),
    ['take', 'peek', 'acquire', 'reserve', 'cancel', 'hold', 'take_all', 'lease']);
  assert.deepEqual(spans.map(({ attributes }) => attributes['weir.key']), [...Array(7).fill('k'), undefined]);
});

test('names and units are those of the other languages', async (t) => {
  const { weir, told } = await serverAndWeir(t);
  const limiter = new Limiter(weir, '100/1s', { observer: told.telemetry() });
  await eachCall(limiter);
  const spans = told.spans();
  const metrics = await told.metrics();
  for (const { span, kind, metric, unit, attributes } of kNames) {
    const found = span ? spans.find(({ name }) => name === span) : metrics.find(({ descriptor }) => descriptor.name === metric);
    assert.ok(found, span ?? metric);
    if (metric) assert.equal(found.descriptor.unit, unit, metric);
    else assert.equal(SpanKind[found.kind].toLowerCase(), kind, span);
    assert.deepEqual(Object.keys((found.dataPoints?.[0] ?? found).attributes).sort(), [...attributes].sort(), span ?? metric);
  }
  assert.equal(limiter.state().away, false);
});

test('a fault of the program', async (t) => {
  const { server, weir, told } = await serverAndWeir(t);
  await server.call('SET', 'text', 'x');
  const limiter = new Limiter(weir, '5/1s', { observer: told.telemetry() });
  await assert.rejects(limiter.take('text'), /WRONGTYPE/);
  const [span] = told.spans();
  assert.equal(span.status.code, SpanStatusCode.ERROR);
  assert.deepEqual(span.events.map(({ name }) => name), ['exception']);
  const [[attributes, count]] = await told.metric('weir.call.duration');
  assert.match(attributes, /^error\.type=\w+Error call=take$/); // the name that the client's library has for it
  assert.equal(count, 1);
});

test('it is the parent of what goes on within', async (t) => {
  const { server, told } = await serverAndWeir(t);
  const tracer = told.tracers.getTracer('test');
  const client = new Redis({ port: server.port });
  t.after(() => client.disconnect());
  const call = client.call.bind(client);
  client.call = (name, ...words) => tracer.startActiveSpan(name, (span) => call(name, ...words).finally(() => span.end()));
  const limiter = new Limiter(new Weir(client, kPatient), '5/1s', { observer: told.telemetry() });
  await Promise.all(['a', 'b', 'c'].map((key) => limiter.take(key)));
  const spans = told.spans();
  const inner = spans.filter(({ name }) => name === 'RL.TAKE').map((span) => span.parentSpanContext?.spanId);
  const outer = spans.filter(({ name }) => name === 'weir take').map((span) => span.spanContext().spanId);
  assert.deepEqual(inner.sort(), outer.sort());
  assert.equal(inner.length, 3);
});

test('metrics, there and away', async (t) => {
  const { server, weir, told } = await serverAndWeir(t);
  const limiter = new Limiter(weir, 'FIXED 2/1h', { away: 'closed', observer: told.telemetry() });
  for (let count = 0; count < 3; count += 1) await limiter.take('k');
  assert.deepEqual(await told.metric('weir.away'), [['', 0]]);
  await server.kill();
  await limiter.take('k');
  assert.deepEqual(await told.metric('weir.decisions'), [['allowed=true call=take source=weir', 2],
    ['allowed=false call=take source=weir', 1], ['allowed=false call=take source=closed', 1]]);
  assert.deepEqual([await told.metric('weir.away'), await told.metric('weir.absences')], [[['', 1]], [['', 1]]]);
  await waitUntil(async () => (await told.metric('weir.away.duration'))[0][1] > 0, 'time passes');
  assert.equal((await told.metric('weir.call.duration')).reduce((sum, [, count]) => sum + count, 0), 4);
});

test('what lots hand out is counted without spans', async (t) => {
  const { weir, told } = await serverAndWeir(t);
  const lots = new Lots(new Limiter(weir, 'FIXED 1000000/1h', { observer: told.telemetry() }), { blockMs: 600_000 });
  for (let count = 0; count < 100; count += 1) await lots.take('k');
  assert.deepEqual(await told.metric('weir.decisions'), [['allowed=true call=take source=lot', 100]]);
  assert.ok(told.spans().length < 20);
  await lots.close();
});

test('a limiter that is gone is told of no more', async (t) => {
  const { weir, told } = await serverAndWeir(t);
  const telemetry = told.telemetry();
  (() => { new Limiter(weir, '5/1s', { observer: telemetry }); })();
  setFlagsFromString('--expose-gc');
  await pause(1); // it is kept until the end of the turn of the event loop that made it
  runInNewContext('gc')();
  assert.deepEqual(await told.metric('weir.away'), []);
});
