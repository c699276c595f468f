/** What a limiter says: verdicts, limit by limit, and the HTTP fields made of them. */

import { kNever } from './core/local.js';
import { asks } from './core/mirror.js';
import type { Cost, Decision } from './core/mirror.js';
import { specsOfAnswer } from './core/specs.js';
import type { AnsweredLimit, Spec, Specs } from './core/specs.js';
import { namesOf } from './names.js';
import { mapOf } from './replies.js';

const kClosedRetryMs = 1000;

/** One limit of a key. Times are milliseconds; null is never. */
export interface LimitState {
  readonly name: string;
  readonly limit: number;
  readonly remaining: number;
  readonly resetAfterMs: number | null;
  readonly windowMs: number;
}

/** Who decided: weir, or while it is away this process by its share, or because everything or nothing passes. */
export type Source = 'weir' | 'local' | 'open' | 'closed';

export interface HeaderOptions {
  /** X-RateLimit-Limit, -Remaining and -Reset too. Default false. */
  readonly legacy?: boolean | undefined;
}

interface Parts {
  readonly allowed: boolean;
  readonly deciding?: LimitState | undefined;
  readonly retryAfterMs: number | null;
  readonly policy: string | null;
  readonly limits: readonly LimitState[];
  readonly granted: number;
  readonly id?: number | string | null;
  readonly banned?: boolean;
  readonly source: Source;
  readonly specs?: Specs;
  readonly fields?: Readonly<Record<string, string>>;
}

/** An answer. `limit`, `remaining` and `resetAfterMs` are the deciding limit's. */
export class Verdict {
  readonly allowed: boolean;
  /** -1 where no limit decides. */
  readonly limit: number;
  /** Whole permits that are left; below 0 a debt; -1 where no limit decides. */
  readonly remaining: number;
  /** Milliseconds until the same request succeeds: 0 when allowed, null if it never does. */
  readonly retryAfterMs: number | null;
  readonly resetAfterMs: number | null;
  readonly policy: string | null;
  readonly limits: readonly LimitState[];
  /** Permits taken. */
  readonly granted: number;
  /** Of the lease or the hold, else null. */
  readonly id: number | string | null;
  readonly banned: boolean;
  readonly source: Source;
  readonly #specs: Specs;
  readonly #fields: Readonly<Record<string, string>>;

  /** @internal */
  constructor(parts: Parts) {
    this.allowed = parts.allowed;
    this.limit = parts.deciding?.limit ?? -1;
    this.remaining = parts.deciding?.remaining ?? -1;
    this.retryAfterMs = parts.retryAfterMs;
    this.resetAfterMs = parts.deciding ? parts.deciding.resetAfterMs : 0;
    this.policy = parts.policy;
    this.limits = parts.limits;
    this.granted = parts.granted;
    this.id = parts.id ?? null;
    this.banned = parts.banned ?? false;
    this.source = parts.source;
    this.#specs = parts.specs ?? [];
    this.#fields = parts.fields ?? {};
  }

  /** @internal What the core learns. */
  get specs(): Specs {
    return this.#specs;
  }

  /** RateLimit, RateLimit-Policy and, when denied, Retry-After in seconds. */
  headers({ legacy = false }: HeaderOptions = {}): Record<string, string> {
    const found = { ...(Object.keys(this.#fields).length ? this.#fields : this.#made()) };
    if (!this.allowed && this.retryAfterMs !== null) {
      found['Retry-After'] ??= String(Math.max(1, seconds(this.retryAfterMs)));
    }
    if (legacy && this.limits.length) {
      found['X-RateLimit-Limit'] = String(this.limit);
      found['X-RateLimit-Remaining'] = String(Math.max(0, this.remaining));
      found['X-RateLimit-Reset'] = String(seconds(this.resetAfterMs ?? 0));
    }
    return found;
  }

  /** The names of the limits in the HTTP fields, as weir gives them: what AS says, else the policy, or `default`. */
  itemNames(): string[] {
    return namesOf(this.limits.map(({ name }) => name), this.policy);
  }

  #made(): Record<string, string> {
    if (!this.limits.length) return {};
    const names = this.itemNames();
    const specs = this.#specs.length === this.limits.length ? this.#specs : [];
    return { RateLimit: this.limits.map((limit, index) => item(names[index]!, limit)).join(', '),
      'RateLimit-Policy': this.limits.map((limit, index) => policyItem(names[index]!, limit, specs[index])).join(', ') };
  }
}

function seconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

function item(name: string, limit: LimitState): string {
  const end = limit.resetAfterMs === null ? '' : `;t=${seconds(limit.resetAfterMs)}`;
  return `"${name}";r=${Math.max(0, limit.remaining)}${end}`;
}

function policyItem(name: string, limit: LimitState, spec: Spec | undefined): string {
  const count = spec ? Math.trunc(spec.count) : limit.limit;
  const isWhole = limit.windowMs >= 1000 && limit.windowMs % 1000 === 0;
  return `"${name}";q=${count}${isWhole ? `;w=${limit.windowMs / 1000}` : ''}`;
}

/** A lease or a hold was denied; `verdict` says for how long. */
export class Denied extends Error {
  readonly verdict: Verdict;

  constructor(verdict: Verdict) {
    super(`denied, retry after ${verdict.retryAfterMs} ms`);
    this.name = 'Denied';
    this.verdict = verdict;
  }
}

export function orNever(ms: number): number | null {
  return ms === kNever ? null : ms;
}

/** A reply with FULL: the verdict, and what the core learns from it. */
export interface Answer {
  readonly verdict: Verdict;
  readonly resetsMs: readonly number[];
  readonly blocked: boolean;
  readonly bannedMs: number | undefined; // undefined: not told
  readonly callers: number | undefined;
}

/**
 * Of a map that weir answered with FULL or HEADERS to a request of that cost; `known` are the limits that were asked, if
 * they are.
 */
export function answerOf(reply: unknown, known: Specs | null, cost: Cost): Answer {
  const full = mapOf(reply);
  const limits = (full['limits'] as unknown[]).map((limit) => mapOf(limit) as unknown as AnsweredLimit);
  const fields = (full['headers'] ? mapOf(full['headers']) : {}) as Record<string, string>;
  const states = limits.map((limit) => ({ name: limit.name, limit: limit.capacity, remaining: limit.remaining,
    resetAfterMs: orNever(limit.reset_ms), windowMs: limit.window_ms }));
  const allowed = Boolean(full['allowed']);
  const verdict = new Verdict({
    allowed, deciding: deciding(states, allowed), retryAfterMs: orNever(full['retry_ms'] as number),
    policy: full['policy'] as string | null, limits: states, granted: full['granted'] as number,
    id: (full['hold'] ?? full['lease']) as number | null, banned: Boolean(full['banned']), source: 'weir',
    specs: known ?? specsOfAnswer(limits, fields['RateLimit-Policy'] ?? ''), fields });
  return { verdict, resetsMs: limits.map((limit) => limit.reset_ms), blocked: !limits.length && !allowed,
    bannedMs: bannedMsOf(verdict, full['retry_ms'] as number, cost),
    callers: full['callers'] as number | undefined };
}

/**
 * For how long the key is banned. A request of nothing meets no ban, and one that is never granted does not tell when the
 * ban ends.
 */
function bannedMsOf(verdict: Verdict, retryMs: number, cost: Cost): number | undefined {
  if (verdict.allowed || !verdict.banned) return asks(cost) ? 0 : undefined;
  return retryMs < 0 ? undefined : retryMs;
}

/** FULL does not name the deciding limit: the one with the least left, of a denial that which needs longest. */
function deciding(states: readonly LimitState[], allowed: boolean): LimitState | undefined {
  const wait = (state: LimitState) => state.resetAfterMs || Infinity;
  return [...states].sort((one, other) => {
    if (allowed) return one.remaining - other.remaining;
    const isEmpty = Number(one.remaining > 0) - Number(other.remaining > 0);
    return isEmpty || (wait(one) === wait(other) ? 0 : wait(other) - wait(one));
  })[0];
}

/** Of a decision that was made here. */
export function verdictOf(decision: Decision, source: Source, cost: number, policy: string | null): Verdict {
  const { allowed, views, specs } = decision;
  const granted = allowed ? cost : 0;
  const view = views[decision.index];
  if (!view) {
    return new Verdict({ allowed, retryAfterMs: allowed ? 0 : kClosedRetryMs, policy, limits: [], granted, source });
  }
  const limits = specs.map((spec, index) => ({ name: spec.name, limit: views[index]!.limit,
    remaining: views[index]!.remaining, resetAfterMs: views[index]!.resetMs, windowMs: spec.periodMs }));
  return new Verdict({ allowed, deciding: limits[decision.index], retryAfterMs: orNever(view.retryMs), policy, limits,
    granted, source, specs });
}
