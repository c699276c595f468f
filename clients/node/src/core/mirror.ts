/** The keys that this process uses, each with its own state of every limit; bounded, the longest unused goes first. */

import { Bucket } from './bucket.js';
import { Leases } from './leases.js';
import { kNever } from './local.js';
import type { Local, View } from './local.js';
import { sameSpecs } from './specs.js';
import type { Spec, Specs } from './specs.js';
import { FixedWindow, SlidingWindow } from './windows.js';

/** Permits, one number for all limits or one for each. */
export type Cost = number | readonly number[];

/** What was granted here while weir was away, and is charged before the first take after its return. */
export interface HandBack {
  readonly costs: readonly number[];
  readonly id: string;
}

/** What all limits of a key say together. `index` is the deciding limit's; -1 where there is none. */
export interface Decision {
  readonly allowed: boolean;
  readonly index: number;
  readonly views: readonly View[];
  readonly specs: Specs;
}

export const kOpen: Decision = { allowed: true, index: -1, views: [], specs: [] };
export const kClosed: Decision = { allowed: false, index: -1, views: [], specs: [] };

const kKinds = { bucket: Bucket, interval: Bucket, fixed: FixedWindow, sliding: SlidingWindow, leases: Leases };

function make(spec: Spec, share: number, now: number): Local {
  return new kKinds[spec.kind](spec, share, now);
}

/** Whether it is more than nothing. */
export function asks(cost: Cost): boolean {
  return typeof cost === 'number' ? cost > 0 : cost.some((each) => each > 0);
}

export function costOf(cost: Cost, index: number): number {
  return typeof cost === 'number' ? cost : cost[index] ?? 0;
}

function waitOf(view: View): number {
  return view.retryMs === kNever ? Infinity : view.retryMs;
}

/** A denial's longest wait; else the least that is left. The first of equals. */
function deciding(views: readonly View[]): number {
  let best = -1;
  const isDenied = views.some((view) => !view.allowed);
  views.forEach((view, index) => {
    if (isDenied && view.allowed) return;
    const other = views[best];
    if (!other || (isDenied ? waitOf(view) > waitOf(other) : view.remaining < other.remaining)) best = index;
  });
  return best;
}

/** A key. */
export class Entry {
  readonly specs: Specs;
  readonly states: readonly Local[];
  grantedHere = false;
  unknown = false; // it was first decided here, and nothing was granted: what weir answers begins it anew
  drainedIn = 0; // the absence in which it was drained, of mode strict
  handBack: HandBack | null = null; // fixed, so that it may be sent again
  blocked = false; // the policy lets nobody through
  bannedUntil = -Infinity;

  constructor(specs: Specs, share: number, now: number) {
    this.specs = specs;
    this.states = specs.map((spec) => make(spec, share, now));
  }

  /** Charges nothing. */
  decide(share: number, now: number, cost: Cost): Decision {
    if (this.blocked) return kClosed;
    const views = this.states.map((state, index) => state.view(share, now, costOf(cost, index)));
    const index = deciding(views);
    const rest = this.bannedUntil - now;
    const view = views[index];
    const isBanned = rest > 0 && asks(cost) && view !== undefined && (view.allowed || waitOf(view) < rest);
    if (isBanned) return this.#denied(views, index, rest);
    return { allowed: views.every((each) => each.allowed), index, views, specs: this.specs };
  }

  /** By this limit, whatever its state says. */
  #denied(views: readonly View[], index: number, retryMs: number): Decision {
    return { allowed: false, index, specs: this.specs,
      views: views.map((view, at) => at === index ? { ...view, allowed: false, retryMs } : view) };
  }

  /**
   * weir books of buckets alone: the first limit that is none denies for ever. Nor does it book of a key that is banned.
   * null if all take bookings.
   */
  refusedBooking(share: number, now: number, cost: Cost): Decision | null {
    if (this.blocked) return null;
    const decision = this.decide(share, now, cost);
    const index = this.specs.findIndex(({ kind }) => kind !== 'bucket');
    if (index >= 0) return this.#denied(decision.views, index, kNever);
    return this.bannedUntil > now && asks(cost) ? decision : null;
  }

  charge(share: number, now: number, cost: Cost, here: boolean): void {
    this.states.forEach((state, index) => state.charge(share, now, costOf(cost, index), here));
    if (!here) return;
    this.grantedHere = true;
    this.unknown = false;
  }

  giveBack(share: number, now: number, cost: number): void {
    for (const state of this.states) state.giveBack(share, now, cost);
  }

  drain(share: number, now: number): void {
    for (const state of this.states) state.drain(share, now);
  }

  owed(share: number, now: number): number[] {
    return this.states.map((state) => state.owed(share, now));
  }
}

export class Mirror {
  readonly #keysMax: number;
  readonly #entries = new Map<string, Entry>(); // in the order of use

  constructor(keysMax: number) {
    this.#keysMax = keysMax;
  }

  get size(): number {
    return this.#entries.size;
  }

  find(key: string, specs: Specs | null): Entry | null {
    const entry = this.#entries.get(key);
    if (!entry || (specs && !sameSpecs(entry.specs, specs))) return null;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry;
  }

  add(key: string, specs: Specs, share: number, now: number): Entry {
    const entry = new Entry(specs, share, now);
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#keysMax) break;
      this.#entries.delete(oldest);
    }
    return entry;
  }
}
