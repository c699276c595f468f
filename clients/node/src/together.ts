/** Takes from several keys, each with its own limiter: from all or from none. */

import * as calls from './calls.js';
import { within } from './connection/within.js';
import { newId } from './engine.js';
import type { Engine } from './engine.js';
import { isCrossSlot, Late } from './errors.js';
import type { Limiter } from './limiter.js';
import { observed } from './observing.js';
import { mapOf } from './replies.js';
import type { Words } from './replies.js';
import type { HeaderOptions, Source, Verdict } from './verdict.js';

const kHoldMs = 10_000; // how long what is taken of one slot waits for the others

/** A limiter, a key of it, and permits (1). */
export type Item = readonly [limiter: Limiter, key: string, cost?: number];

interface Part {
  readonly engine: Engine;
  readonly key: string;
  readonly cost: number;
}

/** `index` is the deciding key's, -1 if all grant; `each` has what each key says. */
export class Verdicts {
  readonly allowed: boolean;
  readonly index: number;
  readonly each: readonly Verdict[];

  /** @internal */
  constructor(allowed: boolean, index: number, each: readonly Verdict[]) {
    this.allowed = allowed;
    this.index = index;
    this.each = each;
  }

  /** Who decided, of the deciding key. */
  get source(): Source {
    return this.each.at(this.index)!.source;
  }

  get retryAfterMs(): number | null {
    return this.index < 0 ? 0 : this.each[this.index]!.retryAfterMs;
  }

  /** Of the deciding key; of the one with the least left if all grant. */
  headers(options?: HeaderOptions): Record<string, string> {
    const chosen = this.each[this.index]
      ?? this.each.reduce((least, verdict) => verdict.remaining < least.remaining ? verdict : least);
    return chosen.headers(options);
  }
}

/** Limiters of one Weir; at most 16 keys, each once. The observer of the first is told. */
export async function takeAll(items: readonly Item[], { signal }: { signal?: AbortSignal } = {}): Promise<Verdicts> {
  const [first] = items;
  if (!first) throw new TypeError('keys are missing');
  const parts = items.map(([{ engine }, key, cost = 1]) => ({ engine, key, cost }));
  return observed(first[0].observer, 'take_all', first[1], () => takeParts(parts, signal));
}

async function takeParts(parts: readonly Part[], signal: AbortSignal | undefined): Promise<Verdicts> {
  const end = parts[0]!.engine.deadline();
  let asks = true;
  for (const { engine, key } of parts) {
    const plan = engine.plan(key);
    const isAsked = plan !== null && await engine.handBack({ key, signal, end }, plan.handBack);
    asks &&= isAsked;
  }
  if (!asks) return decide(parts);
  let replies: unknown[] | null;
  try {
    replies = await parts[0]!.engine.ask([wordsOf(parts)], { key: parts[0]!.key, signal, end });
  } catch (error) {
    if (!isCrossSlot(error)) throw error;
    return oneByOne(parts, end, signal);
  }
  if (!replies) return decide(parts);
  for (const { engine } of parts.slice(1)) engine.replied(); // the first one knows
  const full = mapOf(replies.at(-1));
  const allowed = Boolean(full['allowed']);
  const each = (full['keys'] as unknown[]).map((reply, index) => {
    const { engine, key, cost } = parts[index]!;
    return engine.learn(key, reply, cost);
  });
  return new Verdicts(allowed, full['index'] as number, each);
}

function wordsOf(parts: readonly Part[]): Words {
  const costs = parts.flatMap(({ engine, cost }) => Array<number>(engine.core.known?.length || 1).fill(cost));
  const cost = costs.every((one) => one === costs[0]) ? String(costs[0]) : costs.join(',');
  return ['RL.MTAKE', String(parts.length), ...parts.map(({ key }) => key),
    ...parts.flatMap(({ engine }) => ['EACH', ...engine.words]), 'COST', cost, 'ID', newId(), 'FULL'];
}

/** Here: asked of all first, charged if all grant. */
function decide(parts: readonly Part[]): Verdicts {
  const each = parts.map(({ engine, key, cost }) => engine.decide(key, cost, { charge: false }));
  if (each.every((verdict) => verdict.allowed)) {
    return new Verdicts(true, -1, parts.map(({ engine, key, cost }) => engine.decide(key, cost)));
  }
  const waits = each.map(({ allowed, retryAfterMs }) => allowed ? -1 : retryAfterMs ?? Infinity);
  return new Verdicts(false, waits.indexOf(Math.max(...waits)), each);
}

/**
 * Over slots of a cluster: a hold of each, settled if all grant and given back if not. Who ends in between has taken
 * what it held, so too much is never granted.
 */
async function oneByOne(parts: readonly Part[], end: number, signal: AbortSignal | undefined): Promise<Verdicts> {
  const each: Verdict[] = [];
  try {
    for (const { engine, key, cost } of parts) {
      each.push(await calls.take(engine, key, { cost, signal }, { holdMs: kHoldMs, end }));
      if (!each.at(-1)!.allowed) break;
    }
  } catch (error) {
    await conclude(parts, each, false, end).catch(() => {}); // the first fault is told
    throw error;
  }
  const allowed = each.at(-1)!.allowed;
  await conclude(parts, each, allowed, end);
  return new Verdicts(allowed, allowed ? -1 : each.length - 1, each);
}

/** Settles or gives back what was taken; the call waits for that until its end, and it goes on afterwards. */
async function conclude(parts: readonly Part[], each: readonly Verdict[], allowed: boolean, end: number): Promise<void> {
  const told = each.map(({ id, allowed: isTaken }, index) => {
    const { engine, key, cost } = parts[index]!;
    if (isTaken && !allowed) engine.giveBack(key, cost);
    if (!isTaken || id === null) return undefined;
    return allowed ? calls.ofId(engine, 'RL.SETTLE', key, id, String(cost)) : calls.ofId(engine, 'RL.CANCEL', key, id);
  });
  await within(Promise.all(told), { end }).catch((error: unknown) => {
    if (!(error instanceof Late)) throw error;
  });
}
