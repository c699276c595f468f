/** Each call of a limiter. */

import { setTimeout as sleep } from 'node:timers/promises';

import type { Cost } from './core/mirror.js';
import { costWord, newId } from './engine.js';
import type { Engine } from './engine.js';
import type { Words } from './replies.js';
import { answerOf, orNever } from './verdict.js';
import type { Source, Verdict } from './verdict.js';

const kLaterMs = 500; // who waits while weir is away looks again after this at the latest

/** What each call may be given. */
export interface CallOptions {
  /** Permits, or one number for each limit. Default 1. */
  readonly cost?: Cost | undefined;
  /** The call rejects with its reason; what weir had granted by then stays charged. */
  readonly signal?: AbortSignal | undefined;
}

export interface TakeOptions extends CallOptions {
  /** Take what there is, at least one permit. Default false. */
  readonly upto?: boolean | undefined;
  /** Where the caller repeats calls by itself; 1 to 64 bytes. */
  readonly id?: string | undefined;
}

export interface AcquireOptions extends CallOptions {
  /** How long it waits at most. */
  readonly timeoutMs: number;
  readonly id?: string | undefined;
}

export interface ReserveOptions extends CallOptions {
  readonly cost?: number | undefined;
  /** A booking that would wait longer is denied. */
  readonly maxWaitMs?: number | undefined;
  readonly id?: string | undefined;
}

/** A booking: it may be used after `waitMs`. Of a denial it is what it would have been, null for ever. */
export interface Reservation {
  readonly granted: boolean;
  readonly waitMs: number | null;
  readonly id: number | string | null;
  readonly source: Source;
}

function words(cost: Cost, upto: boolean, holdMs: number | undefined): Words {
  return ['COST', costWord(cost), ...(upto ? ['UPTO'] : []),
    ...(holdMs === undefined ? [] : ['HOLD', `${Math.max(1, Math.round(holdMs))}ms`])];
}

/** For who makes a call of several. */
export interface TakeMore {
  readonly holdMs?: number | undefined;
  /** By when it is over, where it is a part of a call; else the deadline's. */
  readonly end?: number | undefined;
}

export async function take(engine: Engine, key: string, options: TakeOptions = {},
  { holdMs, end = engine.deadline() }: TakeMore = {}): Promise<Verdict> {
  const { cost = 1, upto = false, id, signal } = options;
  const plan = engine.plan(key);
  if (!plan) return engine.decide(key, cost, { upto });
  const back = plan.handBack;
  const command = ['RL.TAKE', key, ...engine.words, ...words(cost, upto, holdMs), 'ID', id ?? newId(), 'HEADERS'];
  const replies = await engine.ask(back ? [engine.handBackWords(key, back), command] : [command], { key, signal, end });
  if (!replies) return engine.decide(key, cost, { upto });
  if (back) await engine.handedBack({ key, end }, back, replies[0]);
  return engine.learn(key, replies.at(-1), cost);
}

export async function peek(engine: Engine, key: string, { cost = 1, signal }: CallOptions = {}): Promise<Verdict> {
  const end = engine.deadline();
  if (engine.plan(key)) {
    const command = ['RL.PEEK', key, ...engine.words, 'COST', costWord(cost), 'HEADERS'];
    const replies = await engine.ask([command], { key, signal, end });
    if (replies) return answerOf(replies.at(-1), engine.specs, cost).verdict;
  }
  return engine.decide(key, cost, { charge: false });
}

/** Waits in weir; while it is away, here. */
export async function acquire(engine: Engine, key: string, options: AcquireOptions): Promise<Verdict> {
  const { timeoutMs, cost = 1, id = newId(), signal } = options;
  if (!(timeoutMs >= 0)) throw new TypeError(`timeoutMs is how long the call waits at most, got ${timeoutMs}`);
  const turn = performance.now() + timeoutMs; // by when it is to be its turn
  const end = engine.deadline() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    const plan = engine.plan(key);
    const soon = Math.min(end, engine.deadline());
    if (plan && await engine.handBack({ key, signal, end: soon }, plan.handBack)) {
      const waitMs = Math.max(1, Math.round(turn - performance.now()));
      const command = ['RL.ACQUIRE', key, ...engine.words, ...words(cost, false, undefined), 'TIMEOUT', String(waitMs),
        'ID', id, 'HEADERS'];
      const replies = await engine.ask([command], { key, waits: true, signal, end });
      if (replies) return engine.learn(key, replies.at(-1), cost);
    }
    const verdict = engine.decide(key, cost);
    const left = turn - performance.now();
    const { allowed, retryAfterMs } = verdict;
    if (allowed || retryAfterMs === null || left <= 0 || retryAfterMs > left) return verdict;
    await sleep(Math.min(left, retryAfterMs, kLaterMs), undefined, { signal });
  }
}

export async function reserve(engine: Engine, key: string, options: ReserveOptions = {}): Promise<Reservation> {
  const { cost = 1, maxWaitMs = Infinity, id = newId(), signal } = options;
  const end = engine.deadline();
  const plan = engine.plan(key);
  if (plan && await engine.handBack({ key, signal, end }, plan.handBack)) {
    const longest = maxWaitMs === Infinity ? [] : ['MAXWAIT', String(Math.round(maxWaitMs))];
    const replies = await engine.ask(
      [['RL.RESERVE', key, ...engine.words, 'COST', String(cost), ...longest, 'ID', id]], { key, signal, end });
    if (replies) {
      const [granted, waitMs, booking] = replies.at(-1) as [number, number, number | null];
      engine.note(key, granted ? cost : 0);
      return { granted: Boolean(granted), waitMs: orNever(waitMs), id: booking, source: 'weir' };
    }
  }
  const { isBooked, verdict: { retryAfterMs, source } } = engine.book(key, cost, maxWaitMs);
  return { granted: isBooked, waitMs: retryAfterMs, id: null, source };
}

/** Asked while weir is away, too, for a lease does not wait for the next probe. null if weir does not answer. */
export async function renew(engine: Engine, key: string, id: number | string): Promise<number | null> {
  const end = engine.deadline();
  engine.plan(key); // for its probe
  const replies = await engine.ask([['RL.RENEW', key, String(id)]], { key, end });
  return replies ? Number(replies.at(-1)) : null;
}

/** RL.SETTLE, RL.CANCEL, RL.RELEASE: each may be sent again. null if weir does not answer. */
export async function ofId(engine: Engine, name: string, key: string, id: number | string, ...more: string[]): Promise<unknown> {
  const end = engine.deadline();
  if (!engine.plan(key)) return null;
  const replies = await engine.ask([[name, key, String(id), ...more]], { key, end });
  return replies ? replies.at(-1) : null;
}
