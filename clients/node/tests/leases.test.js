// Leases whose renewals are not answered: tried again soon, so that none is lost by a connection that was cut.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, test } from 'node:test';

import { Limiter, Weir } from 'weir-client';

import { leaseMs, Renewals } from '../dist/esm/renewing.js';
import { hurried } from './support/timing.js';
import { kPatient, waitUntil } from './support/weirs.js';

const kLong = 'CONCURRENCY 1 LEASE 1h';
const kRenewalMs = 1_200_000; // of a lease of an hour: a third of it
const kSoonMsMax = 1000;

describe('the pauses between renewals', () => {
  /** The instants of the tries; null is no answer, `eachMs` is how long each takes. */
  function tries(lastsMs, answers, eachMs = 0) {
    const lease = new Renewals(lastsMs, 0);
    const found = [];
    let now = 0;
    for (const answer of answers) {
      const sent = now += lease.pauseMs(now);
      found.push(sent);
      now += eachMs;
      if (!lease.told(sent, answer, now)) break;
    }
    return { found, isLost: lease.isLost };
  }
  const none = (length) => Array(length).fill(null);

  test('thrice in its length', () => {
    assert.deepEqual(tries(30_000, [1, 1, 1, 1]), { found: [10_000, 20_000, 30_000, 40_000], isLost: false });
  });

  test('soon again, and then less often', () => {
    const { found, isLost } = tries(300_000, [1, ...none(60)]);
    const pauses = found.slice(2).map((at, index) => at - found[index + 1]);
    assert.ok(pauses[0] < 100);
    assert.ok(Math.min(...pauses.slice(6)) > kSoonMsMax / 2, 'not often');
    assert.ok(Math.max(...pauses) < 2 * kSoonMsMax);
    assert.equal(isLost, false);
  });

  test('lost at its end and not after', () => {
    for (const lastsMs of [500, 2000, 30_000]) {
      const { found, isLost } = tries(lastsMs, none(1000));
      assert.equal(isLost, true);
      assert.ok(Math.abs(found.at(-1) - lastsMs) < 1e-6);
      assert.deepEqual(tries(lastsMs, [0]), { found: [lastsMs / 3], isLost: true });
    }
  });

  test('one that is not answered loses none', () => {
    for (const lastsMs of [500, 1000, 2000, 30_000, 3_600_000]) {
      const { found, isLost } = tries(lastsMs, [null, 1, null, null, 1], 50);
      assert.deepEqual([found.length, isLost], [5, false]);
    }
  });
});

function answerOf(limits) {
  const states = { CONCURRENCY: 3_600_000, GCRA: 1000 };
  return { allowed: 1, retry_ms: 0, policy: null, granted: 1, headers: {}, lease: 7, limits: limits.map((algorithm) => (
    { name: algorithm, algorithm, capacity: 1, remaining: 0, reset_ms: 0, window_ms: states[algorithm] })) };
}

/** A client of node-redis whose renewals are answered by `renewed`. */
class Client extends EventEmitter {
  isOpen = true;
  isReady = true;
  renewals = 0;
  taken = answerOf(['CONCURRENCY']);

  constructor(renewed) {
    super();
    this.renewed = renewed;
  }

  async sendCommand([name]) {
    if (name === 'RL.PEEK') return new Promise(() => {}); // a probe that is not answered: weir stays away
    if (name !== 'RL.RENEW') return name === 'RL.TAKE' ? this.taken : 1;
    this.renewals += 1;
    return this.renewed(this.renewals);
  }
}

test('after a renewal whose connection is cut the next one comes soon, though weir counts as away', async (t) => {
  const client = new Client((number) => {
    if (number === 1) throw new Error('the connection is closed');
    return 1;
  });
  const limiter = new Limiter(new Weir(client, { ...kPatient, retries: 0 }), kLong);
  const lease = await hurried(kRenewalMs, 20, () => limiter.lease('pool'));
  t.after(() => lease.release());
  await waitUntil(() => client.renewals >= 2, 'it is renewed');
  assert.deepEqual([limiter.state().away, lease.lost.aborted], [true, false]);
});

test('a fault of the program loses it at its end', async (t) => {
  const client = new Client(() => { throw new Error('NOPERM no'); });
  client.taken.limits[0].window_ms = 500;
  const limiter = new Limiter(new Weir(client, kPatient), 'CONCURRENCY 1 LEASE 500ms');
  const lease = await limiter.lease('pool');
  t.after(() => lease.release());
  await waitUntil(() => lease.lost.aborted, 'it is lost');
  await assert.rejects(lease.renew(), /NOPERM/);
});

test("its length is the lease's, not the window of a limit beside it", async () => {
  const client = new Client(() => 1);
  client.taken = answerOf(['CONCURRENCY', 'GCRA']);
  assert.equal(leaseMs(await new Limiter(client, `${kLong} 100/1s`).take('pool')), 3_600_000);
});
