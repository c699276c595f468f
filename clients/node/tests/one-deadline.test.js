// One deadline for each call, however many requests it makes, and one ID for each of them, however often it is sent: by a
// clock of its own.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Lots, takeAll } from 'weir-client';

import * as calls from '../dist/esm/calls.js';
import { Hold } from '../dist/esm/contexts.js';
import { Engine } from '../dist/esm/engine.js';
import { Late } from '../dist/esm/errors.js';
import { Clock } from './support/clock.js';

const kDeadlineMs = 100;
const kWaitMs = 1000;
const kDepth = 6; // requests of which each may be late or answered; those after them are late
const kBeforeMs = 1e-3; // an answer comes so long before its time is over
const kFull = { allowed: 1, limits: [], retry_ms: 0, policy: null, granted: 5, lease: null, hold: 7, banned: 0 };
const kLimits = ['100/1m', '100/1m FIXED 1000/1h'];
const kCharge = ['RL.TAKE', 'RL.ACQUIRE', 'RL.RESERVE', 'RL.MTAKE'];

function replyTo(words) {
  if (['HEADERS', 'FULL'].includes(words.at(-1))) return { ...kFull, index: -1, keys: [kFull, kFull] };
  if (words[0] === 'RL.TAKE') return [1, 0, 0, 0, 0, 0]; // SHADOW: a limit would deny a hand back of several costs
  return words[0] === 'RL.RESERVE' ? [0, 0, 0] : 1;
}

/** In place of a Weir: it answers each request when its time is all but over, or not at all. */
class World {
  deadlineMs = kDeadlineMs;
  retries = 1;
  sent = [];
  faultOf = () => null;

  constructor(clock, answered, isCluster = false) {
    this.clock = clock;
    this.answered = answered[Symbol.iterator]();
    this.isCluster = isCluster;
  }

  async send({ commands, end }) {
    const last = commands.at(-1);
    if (last[0] === 'RL.PEEK' && last.at(-1) !== 'HEADERS') return new Promise(() => {}); // a probe, beside the call
    this.sent.push(...commands);
    const fault = this.faultOf(last);
    if (fault) throw fault;
    const isAnswered = this.answered.next().value ?? false;
    await this.clock.at(isAnswered ? end - kBeforeMs : end);
    if (!isAnswered) throw new Late();
    if (this.isCluster && last[0] === 'RL.MTAKE') throw new Error("CROSSSLOT Keys in request don't hash to the same slot");
    return commands.map(replyTo);
  }

  renew() {}
}

/** A limiter that owes a hand back of each key. */
function owing(world, limits) {
  const engine = new Engine(world, limits, {}, () => {});
  for (const key of ['a', 'b']) engine.core.answered(key, performance.now(), 1);
  engine.core.failed(performance.now(), 'gone');
  for (const key of ['a', 'b']) assert.ok(engine.decide(key, 5).allowed);
  engine.core.breaker.beginProbe(performance.now() + 2000);
  engine.core.breaker.probed(performance.now() + 2000, true);
  assert.ok(engine.plan('a').handBack);
  return engine;
}

const kHeld = { source: 'weir', id: 7 };
const kAll = (engine) => takeAll([[{ engine }, 'a'], [{ engine }, 'b']]);
const kCalls = {
  take: (engine) => calls.take(engine, 'a'),
  peek: (engine) => calls.peek(engine, 'a'),
  acquire: (engine) => calls.acquire(engine, 'a', { timeoutMs: kWaitMs }),
  reserve: (engine) => calls.reserve(engine, 'a'),
  hold: (engine) => calls.take(engine, 'a', { cost: 5 }, { holdMs: 60_000 }),
  settle: (engine) => new Hold(engine, 'a', 5, kHeld).settle(3),
  release: (engine) => calls.ofId(engine, 'RL.RELEASE', 'a', 7),
  'take of lots': async (engine) => new Lots({ engine }).take('a'),
  takeAll: kAll,
  'takeAll over slots': kAll,
};

/** Of all that weir may do: how long the call takes, and what it sends. */
async function* played(limits, name) {
  for (let pattern = 0; pattern < 2 ** kDepth; pattern += 1) {
    const clock = new Clock();
    const world = new World(clock, Array.from({ length: kDepth }, (_, bit) => Boolean(pattern >> bit & 1)),
      name.endsWith('slots'));
    const ms = await clock.while(() => {
      const engine = owing(world, limits);
      return clock.ms(() => kCalls[name](engine));
    });
    yield { ms, sent: world.sent };
  }
}

/** The IDs of all that charges, by what it is: by its name, its key and its last option before the ID. */
function idsOf(sent) {
  const found = new Map();
  for (const words of sent.filter(([name]) => kCharge.includes(name))) {
    const place = words.indexOf('ID');
    const isCall = ['HEADERS', 'FULL'].includes(words.at(-1));
    const what = `${words[0]} ${words[1]} ${isCall ? words.at(-1) : words.slice(place - 2, place)}`;
    found.set(what, (found.get(what) ?? new Set()).add(place < 0 ? undefined : words[place + 1]));
  }
  return found;
}

for (const limits of kLimits) {
  for (const name of Object.keys(kCalls)) {
    test(`one deadline and one ID: ${name} of ${limits}`, async () => {
      let most = 0;
      const mayTakeMs = kDeadlineMs + (name === 'acquire' ? kWaitMs : 0);
      for await (const { ms, sent } of played(limits, name)) {
        assert.ok(ms <= mayTakeMs + 1e-6, `it took ${ms} ms`);
        most = Math.max(most, sent.length);
        for (const [what, ids] of idsOf(sent)) assert.ok(ids.size === 1 && !ids.has(undefined), `${what}: ${[...ids]}`);
      }
      assert.ok(most >= 2, 'it was asked again');
    });
  }

  test(`after a hand back that is not answered nothing more is asked: ${limits}`, async () => {
    for (const name of ['acquire', 'reserve', 'takeAll']) {
      const clock = new Clock();
      const world = new World(clock, Array(kDepth).fill(true));
      world.faultOf = (words) => words.includes('HEADERS') || words[0] !== 'RL.TAKE' ? null : new Error('it was cut');
      await clock.while(() => {
        const engine = owing(world, limits);
        return clock.ms(() => kCalls[name](engine));
      });
      assert.deepEqual([...new Set(world.sent.map((words) => words[0]))], ['RL.TAKE'], name);
    }
  });
}

test('where there is no time to ask, weir was not late', async () => {
  const clock = new Clock();
  const world = new World(clock, []);
  await clock.while(async () => {
    const engine = new Engine(world, '5/1s', {}, () => {});
    for (let count = 0; count < 5; count += 1) {
      await clock.ms(() => calls.take(engine, 'a', {}, { end: performance.now() }));
    }
    assert.deepEqual([world.sent.length, engine.state().away], [0, false]);
  });
});
