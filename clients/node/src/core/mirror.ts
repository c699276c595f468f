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

const kKinds = { bucket: Bucket, fixed: FixedWindow, sliding: SlidingWindow, leases: Leases };

function make(spec: Spec, share: number, now: number): Local {
  return new kKinds[spec.kind](spec, share, now);
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

  constructor(specs: Specs, share: number, now: number) {
    this.specs = specs;
    this.states = specs.map((spec) => make(spec, share, now));
  }

  /** Charges nothing. */
  decide(share: number, now: number, cost: Cost): Decision {
    if (this.blocked) return kClosed;
    const views = this.states.map((state, index) => state.view(share, now, costOf(cost, index)));
    return { allowed: views.every((view) => view.allowed), index: deciding(views), views, specs: this.specs };
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
