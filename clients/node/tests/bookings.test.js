// What weir answers to bookings is known when it is away.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';

import { Limiter, takeAll, Weir } from 'weir-client';

import { kPatient } from './support/weirs.js';

const kDenied = [0, 3_600_000, null];
const kGranted = [1, 0, 7];
const kLimits = [{ name: 'hourly', algorithm: 'FIXED', capacity: 10, remaining: 9, reset_ms: 3_600_000, window_ms: 3_600_000 }];
const kTaken = { allowed: 1, retry_ms: 0, policy: 'p', granted: 1, headers: {}, limits: kLimits };
const kBlocked = { ...kTaken, allowed: 0, retry_ms: -1, granted: 0, limits: [] };

/** A limiter, and a client of node-redis whose commands are answered by `replies`. */
function limiterOf(limits, replies, options) {
  const client = Object.assign(new EventEmitter(), { isOpen: true, isReady: true, replies,
    async sendCommand([name]) {
      const reply = this.replies[name] ?? new Error(this.fault);
      if (reply instanceof Error) throw reply;
      return reply;
    } });
  client.goes = (fault = 'the connection is closed') => Object.assign(client, { replies: {}, fault });
  return { client, limiter: new Limiter(new Weir(client, { ...kPatient, retries: 0 }), limits, options) };
}

for (const limits of ['FIXED 10/1h AS hourly', 'POLICY p']) {
  test(`a booking that weir granted is charged here: ${limits}`, async () => {
    const { client, limiter } = limiterOf(limits, { 'RL.TAKE': kTaken, 'RL.RESERVE': kGranted }, { processes: 1 });
    await limiter.take('k');
    assert.deepEqual(await limiter.reserve('k', { cost: 4 }), { granted: true, waitMs: 0, id: 7, source: 'weir' });
    client.goes();
    assert.equal((await limiter.take('k')).remaining, 10 - 1 - 4 - 1);
  });
}

const kAnswers = [
  ['to a booking, a denial', { 'RL.TAKE': [1], 'RL.RESERVE': kDenied },
    async (limiter) => assert.equal((await limiter.reserve('k')).granted, false)],
  ['to a peek', { 'RL.PEEK': kTaken }, (limiter) => limiter.peek('k')],
  ['to what gives back', { 'RL.CANCEL': 1 }, async (limiter) => assert.equal(await limiter.cancel('k', { id: 7 }), 1)],
  ['that is a fault of the program', { 'RL.TAKE': new Error('WRONGTYPE no limiter') },
    (limiter) => assert.rejects(limiter.take('k'), /WRONGTYPE/)],
];
for (const [what, replies, call] of kAnswers) {
  test(`a reply ${what} is one between two time-outs`, async () => {
    const { client, limiter } = limiterOf('5/1s', {});
    for (let count = 0; count < 3; count += 1) {
      client.goes('Command timed out');
      assert.equal((await limiter.take('k')).source, 'local');
      client.replies = replies;
      await call(limiter);
    }
    assert.equal(limiter.state().away, false);
  });
}

test('a take of several keys is a reply to each limiter', async () => {
  const { client, limiter } = limiterOf('5/1s', {});
  const limiters = [limiter, new Limiter(limiter.weir, '6/1s')];
  for (let count = 0; count < 3; count += 1) {
    client.goes('Command timed out');
    for (const each of limiters) assert.equal((await each.take('k')).source, 'local');
    client.replies = { 'RL.MTAKE': { allowed: 1, index: -1, keys: [kTaken, kTaken] } };
    assert.ok((await takeAll(limiters.map((each, number) => [each, `k${number}`]))).allowed);
  }
  assert.deepEqual(limiters.map((each) => each.state().away), [false, false]);
});

test('a denied booking does not say that a policy blocks no more', async () => {
  const { client, limiter } = limiterOf('POLICY p', { 'RL.TAKE': kBlocked, 'RL.RESERVE': [0, -1, null] });
  await limiter.take('k');
  await limiter.reserve('k');
  client.goes();
  assert.equal((await limiter.take('k')).allowed, false);
});

test('by a policy that is not known nothing is booked while weir is away', async () => {
  const { client, limiter } = limiterOf('POLICY p', {}, { processes: 2 });
  client.goes();
  for (const maxWaitMs of [undefined, 60_000]) {
    assert.deepEqual(await limiter.reserve('k', { maxWaitMs }), { granted: false, waitMs: 1000, id: null, source: 'local' });
  }
});
