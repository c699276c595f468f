// What four processes let pass over a short outage, beyond the limit.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { excess, kBurst, kKilled, kProcesses, kRate, kStopped, measure } from './support/bound.js';

const kOutageMs = 3000;
const kLate = 1; // permits: clocks of processes are read while others run
// Who is back first may take what the others have not handed back yet: within a second they have.
const kOthers = kBurst * (1 - 1 / kProcesses);

test('the measure itself', () => { // a bucket's worst case is none, a part of a second burst is so much
  const exact = [...Array(kBurst).fill(0), ...Array.from({ length: 49 }, (_, number) => (number + 1) * 1000 / kRate)];
  assert.ok(Math.abs(excess(exact.map((at) => [at, at]))) < 1e-6);
  assert.ok(Math.abs(excess([...exact, ...Array(7).fill(1000)].map((at) => [at, at])) - 7) < 1e-6);
});

test('local, killed', async (t) => {
  const { beyond, inAll, meanwhile } = await measure(t, { away: 'local', outageMs: kOutageMs, ...kKilled });
  t.diagnostic(`local: ${beyond.toFixed(1)} beyond the limit, ${inAll.toFixed(1)} in all`);
  assert.ok(beyond <= kBurst + kLate, `${beyond} beyond the limit`);
  assert.ok(inAll <= kBurst + kOthers + kLate, `${inAll} beyond the limit in all`);
  assert.ok(meanwhile > 0);
});

test('strict, stopped', async (t) => {
  const { beyond, inAll } = await measure(t, { away: 'strict', outageMs: kOutageMs, ...kStopped });
  t.diagnostic(`strict: ${beyond.toFixed(1)} beyond the limit, ${inAll.toFixed(1)} in all`);
  assert.ok(beyond <= kLate, `${beyond} beyond the limit`);
  assert.ok(inAll <= kOthers + kLate, `${inAll} beyond the limit in all`);
});
