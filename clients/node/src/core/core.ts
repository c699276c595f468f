/** What a limiter does next: ask weir, or decide here; a state machine of calls, answers and instants, without I/O. */

import { Breaker } from './breaker.js';
import type { Failure } from './breaker.js';
import { kNever } from './local.js';
import { kClosed, kOpen, Mirror } from './mirror.js';
import type { Cost, Decision, Entry, HandBack } from './mirror.js';
import type { Specs } from './specs.js';

/**
 * What is decided while weir is away: `local`, the process' share of the limit, less what it has just used; `strict`,
 * the same as if all had been used when weir went; `open`, everything passes; `closed`, nothing passes.
 */
export type Away = 'local' | 'strict' | 'open' | 'closed';

export const kModes: readonly Away[] = ['local', 'strict', 'open', 'closed'];
export const kKeysMax = 10_000;

/** weir has answered a take. */
export interface Answered {
  readonly specs?: Specs | undefined; // the limits in the answer
  readonly resetsMs?: readonly number[] | undefined;
  readonly blocked?: boolean | undefined; // left out: as it was
  readonly bannedMs?: number | undefined; // likewise
  readonly callers?: number | undefined;
}

export interface CoreOptions {
  readonly away?: Away | undefined;
  readonly processes?: number | null | undefined;
  readonly keysMax?: number | undefined;
  readonly jitter?: (() => number) | undefined;
}

/** One limiter. Instants are milliseconds that callers hand in. */
export class Core {
  readonly away: Away;
  readonly breaker: Breaker;
  readonly mirror: Mirror;
  readonly #fixed: Specs | null;
  readonly #processes: number | null;
  #seen: Specs | null; // of a policy: the limits that weir answered last
  #blocked: boolean | null = null; // whether the policy lets nobody through; null: weir has not told
  #callers = 1;

  constructor(specs: Specs | null, { away = 'local', processes = null, keysMax = kKeysMax, jitter }: CoreOptions = {}) {
    this.away = away;
    this.breaker = new Breaker(jitter ?? (() => 0.5));
    this.mirror = new Mirror(keysMax);
    this.#fixed = this.#seen = specs;
    this.#processes = processes;
  }

  /** The limits, of a policy as weir answered them last; null if it has not. */
  get known(): Specs | null {
    return this.#seen;
  }

  /** The part of the limit that this process hands out while weir is away. */
  get share(): number {
    return 1 / Math.max(1, this.#processes ?? this.#callers);
  }

  /** Of a policy: its limits until weir has told them. */
  assume(specs: Specs | null): void {
    this.#seen = specs;
  }

  /** How a call begins: null, it is decided here; else weir is asked, with a hand back first if there is one. */
  plan(key: string, now: number, newId: () => string): { readonly handBack: HandBack | null } | null {
    if (this.breaker.away) return null;
    const entry = this.mirror.find(key, this.#fixed);
    if (!entry?.grantedHere) return { handBack: null };
    if (!entry.handBack) {
      const costs = entry.owed(this.share, now);
      if (!costs.some(Boolean)) {
        entry.grantedHere = false;
        return { handBack: null };
      }
      entry.handBack = { costs, id: newId() };
    }
    return { handBack: entry.handBack };
  }

  /** weir has answered the hand back. */
  handedBack(key: string, handBack: HandBack): void {
    const entry = this.mirror.find(key, this.#fixed);
    if (entry?.handBack?.id === handBack.id) {
      entry.handBack = null;
      entry.grantedHere = false;
    }
  }

  /** weir has replied to a request in time, whatever it was asked. */
  replied(): void {
    this.breaker.answered();
  }

  /** weir has answered a take, with `granted` permits. */
  answered(key: string, now: number, granted: Cost, { specs, resetsMs = [], blocked, bannedMs, callers }: Answered = {}): void {
    if (callers !== undefined) this.#callers = callers;
    // Once a key was let through, it may be the override of another that lets none through.
    if (blocked !== undefined) this.#blocked = blocked && this.#blocked !== false;
    const told = blocked && this.#seen ? null : this.#fixed ?? specs ?? null; // such an answer tells no limits
    if (told?.length || !this.#seen) this.#seen = told; // where a key has no limits, that says nothing of other keys'
    let entry = this.mirror.find(key, told);
    const known = told ?? this.#seen;
    if (!known) return;
    if (!entry || entry.unknown) entry = this.#add(key, known, now);
    entry.blocked = blocked ?? entry.blocked;
    if (bannedMs !== undefined) entry.bannedUntil = now + bannedMs;
    entry.charge(this.share, now, granted, false);
    entry.states.forEach((state, index) => {
      const resetMs = resetsMs[index];
      if (resetMs !== undefined) state.told(now, resetMs);
    });
  }

  /** weir did not answer a call. True if it counts as away from now on. */
  failed(now: number, failure: Failure): boolean {
    return this.breaker.failed(now, failure);
  }

  /** A call is decided here, after plan() said so or weir failed to answer it. */
  decide(key: string, cost: Cost, now: number, charge = true): Decision {
    if (this.away === 'open') return kOpen;
    const entry = this.away === 'closed' ? null : this.#entryAway(key, now);
    if (!entry) return kClosed;
    const decision = entry.decide(this.share, now, cost);
    if (charge && decision.allowed) this.charge(key, cost, now);
    return decision;
  }

  /**
   * Books here what may be used later. Only where a limit says how long that is: not where the limits are not known, nor
   * where nothing passes; and not of limits of which weir books nothing.
   */
  book(key: string, cost: Cost, maxWaitMs: number, now: number): { readonly isBooked: boolean; readonly decision: Decision } {
    const refused = this.#refusedBooking(key, cost, now);
    if (refused) return { isBooked: false, decision: refused };
    const decision = this.decide(key, cost, now);
    const waitMs = decision.views[decision.index]?.retryMs ?? kNever;
    if (decision.allowed || waitMs === kNever || waitMs > maxWaitMs) return { isBooked: decision.allowed, decision };
    this.charge(key, cost, now);
    return { isBooked: true, decision };
  }

  #refusedBooking(key: string, cost: Cost, now: number): Decision | null {
    if (this.away === 'open' || this.away === 'closed') return null;
    return this.#entryAway(key, now)?.refusedBooking(this.share, now, cost) ?? null;
  }

  /** Takes here without asking, into debt if need be: after decide() without a charge, and for bookings. */
  charge(key: string, cost: Cost, now: number): void {
    const entry = this.#entryAway(key, now);
    if (!entry) return;
    entry.charge(this.share, now, cost, true);
    entry.handBack = null;
  }

  /** What was charged and not used. */
  giveBack(key: string, cost: number, now: number): void {
    this.mirror.find(key, this.#fixed)?.giveBack(this.share, now, cost);
  }

  /** A key that is not in the mirror starts empty; null if its limits are not known. */
  #entryAway(key: string, now: number): Entry | null {
    let entry = this.mirror.find(key, this.#fixed);
    if (!entry || (entry.unknown && entry.blocked && !this.#blocked)) {
      if (!this.#seen) return null;
      entry = this.#add(key, this.#seen, now);
      entry.unknown = true;
      entry.drainedIn = this.breaker.absences;
      entry.drain(this.share, now);
    } else if (this.away === 'strict' && !this.breaker.away) { // one time-out, which is no absence yet
      entry.drain(this.share, now);
    } else if (this.away === 'strict' && entry.drainedIn !== this.breaker.absences) {
      entry.drainedIn = this.breaker.absences;
      entry.drain(this.share, this.breaker.since);
    }
    return entry;
  }

  /** A key of a policy that lets nobody through is let through no more than those that weir has answered. */
  #add(key: string, specs: Specs, now: number): Entry {
    const entry = this.mirror.add(key, specs, this.share, now);
    entry.blocked = this.#blocked ?? false;
    return entry;
  }
}
