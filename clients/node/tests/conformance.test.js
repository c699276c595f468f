// The core by the tables that all clients share; no server is asked.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { Limiter, Weir } from 'weir-client';

import { failureOfWords } from '../dist/esm/core/breaker.js';
import { Core } from '../dist/esm/core/core.js';
import { parse, wordsOf } from '../dist/esm/core/specs.js';
import { answerOf } from '../dist/esm/verdict.js';
import { kPatient } from './support/timing.js';

const kTables = process.env.WEIR_CONFORMANCE ?? new URL('../../conformance/', import.meta.url);
const kSteps = ['answered', 'replied', 'failed', 'plan', 'handed_back', 'decide', 'book', 'give_back', 'probe', 'probed'];
const kNever = -1;

function table(name) {
  return JSON.parse(readFileSync(new URL(`${name}.json`, new URL(kTables, import.meta.url))));
}

function specsOf(rows) {
  return rows?.map(([kind, name, count, periodMs, capacity]) => ({ kind, name, count, periodMs, capacity })) ?? null;
}

function near(got, wanted, what) {
  assert.ok(Math.abs(got - wanted) < 1e-6, `${what} is ${got}, not ${wanted}`);
}

// Does the steps of a row of away.json, or of a table like it, to a core.
class Player {
  constructor({ limits, away, processes, keys_max: keysMax }) {
    this.core = new Core(parse(wordsOf(limits)), { away, processes, keysMax });
    this.ids = 0;
    this.planned = new Map();
  }

  play(step) {
    const kind = kSteps.find((name) => name in step);
    this[kind](step.at, step[kind], step);
  }

  answered(at, { key, granted, specs, resets_ms: resetsMs, callers, blocked, banned_ms: bannedMs }) {
    this.core.replied();
    this.core.answered(key, at, granted, { specs: specsOf(specs) ?? undefined, resetsMs, callers, blocked, bannedMs });
  }

  replied() {
    this.core.replied();
  }

  failed(at, failure, { away }) {
    this.core.failed(at, failure);
    assert.equal(this.core.breaker.away, away);
  }

  plan(at, { key }, { asks, hand_back: wanted }) {
    const plan = this.core.plan(key, at, () => String(this.ids++));
    assert.equal(plan !== null, asks);
    if (!plan) return;
    assert.deepEqual(plan.handBack?.costs ?? null, wanted);
    const before = this.planned.get(key);
    if (before && plan.handBack && String(before.costs) === String(plan.handBack.costs)) {
      assert.equal(plan.handBack.id, before.id, 'the ID of a hand back is kept');
    }
    this.planned.set(key, plan.handBack);
  }

  handed_back(at, { key }) {
    assert.ok(this.planned.get(key));
    this.core.handedBack(key, this.planned.get(key));
  }

  decide(at, { key, cost }, wanted) {
    const { allowed, views, index } = this.core.decide(key, cost, at);
    assert.equal(allowed, wanted.allowed);
    for (const [name, got] of [['remaining', 'remaining'], ['retry', 'retryMs'], ['reset', 'resetMs']]) {
      if (name in wanted) near(views[index][got], wanted[name], name);
    }
  }

  book(at, { key, cost, wait_max: maxWaitMs = Infinity }, { booked, wait }) {
    const { isBooked, decision: { views, index } } = this.core.book(key, cost, maxWaitMs, at);
    assert.equal(isBooked, booked);
    if (wait !== undefined) near(views[index].retryMs, wait, 'wait');
  }

  give_back(at, { key, cost }) {
    this.core.giveBack(key, cost, at);
  }

  probe(at, _, { begins }) {
    assert.equal(this.core.breaker.beginProbe(at), begins);
  }

  probed(at, answered, { away }) {
    this.core.breaker.probed(at, answered);
    assert.equal(this.core.breaker.away, away);
  }
}

test('limits', () => {
  for (const { limits, specs } of table('limits')) assert.deepEqual(parse(wordsOf(limits)), specsOf(specs), limits);
  assert.throws(() => parse(['100']), TypeError);
  assert.throws(() => parse([]), TypeError);
});

test('errors', () => {
  for (const { error, means } of table('errors')) assert.equal(failureOfWords(error) ?? 'program', means, error);
});

test('fields', () => {
  for (const { name, reply, cost = 1, verdict: wanted, banned_ms: bannedMs, specs, headers } of table('fields')) {
    const { verdict, bannedMs: found = null } = answerOf(reply, null, cost);
    assert.equal(found, bannedMs, name);
    const { retryAfterMs, resetAfterMs, allowed, limit, remaining, policy, granted } = verdict;
    assert.deepEqual({ allowed, limit, remaining, retry_ms: retryAfterMs ?? kNever, reset_ms: resetAfterMs ?? kNever, policy,
      granted }, wanted, name);
    assert.deepEqual(verdict.specs, specsOf(specs), name);
    assert.deepEqual(verdict.headers({ legacy: true }), headers, name);
  }
});

for (const row of [...table('away'), ...table('unknown'), ...table('bookings')]) {
  test(`away: ${row.name}`, () => {
    const player = new Player(row);
    row.steps.forEach((step, number) => {
      try {
        player.play(step);
      } catch (error) {
        throw new Error(`step ${number} at ${step.at}: ${error.message}`, { cause: error });
      }
    });
  });
}

test('what a client rejects with that is no Error is weir being away', async () => {
  const client = Object.assign(new EventEmitter(), { isOpen: true, isReady: true,
    sendCommand: () => Promise.reject('the sentinel went') });
  const limiter = new Limiter(new Weir(client, kPatient), '5/1s');
  assert.equal((await limiter.take('k')).source, 'local');
  assert.equal(limiter.state().cause, 'gone');
});
