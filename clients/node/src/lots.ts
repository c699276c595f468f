/** Permits taken ahead in blocks and handed out in the process, for limits above what a round trip per call carries. */

import * as calls from './calls.js';
import { within } from './connection/within.js';
import type { Engine } from './engine.js';
import { Late } from './errors.js';
import type { Limiter } from './limiter.js';
import { observed } from './observing.js';
import type { Observer, Outcome } from './observing.js';

const kHoldMsMin = 2000;
const kBlocks = 3; // of the time of a block: what it may be handed out for
const kDeniedMsMax = 1000; // who was denied is asked for again after this at the latest

export interface LotsOptions {
  /** For how long a block is to last, by the rate at which the last one was used. Default 100. */
  readonly blockMs?: number | undefined;
}

class Lot {
  left = 0;
  size = 0; // of the last block
  id: number | string | null = null; // of its hold
  since = performance.now();
  until = 0; // what is left then is given back
  deniedUntil = 0;
  isUsed = true;
  fetching: Promise<void> | null = null;
}

/**
 * `const lots = new Lots(limiter); if (await lots.take('user:42')) ...`. All processes together are granted no more than
 * the limit; what a process has ahead is at most half of its share of the capacity. It is given back when it was not used
 * for a block's time, and some blocks after it was taken, so that what is handed out was charged not long before. Not for
 * CONCURRENCY.
 */
export class Lots {
  readonly #engine: Engine;
  readonly #observer: Observer | undefined;
  readonly #blockMs: number;
  readonly #lots = new Map<string, Lot>();
  readonly #timer: NodeJS.Timeout;

  constructor(limiter: Limiter, { blockMs = 100 }: LotsOptions = {}) {
    if (!(blockMs > 0)) throw new TypeError('blockMs must be above 0');
    this.#engine = limiter.engine;
    this.#observer = limiter.observer;
    if (this.#engine.specs?.some(({ kind }) => kind === 'leases')) throw new TypeError('leases are not taken ahead');
    this.#blockMs = blockMs;
    this.#timer = setInterval(() => this.#sweep(), Math.max(blockMs, 20)).unref();
  }

  /** True or false at once while the block lasts, else a promise: `await` does for both. */
  take(key: string, cost = 1): boolean | Promise<boolean> {
    const lot = this.#lots.get(key);
    const allowed = lot ? this.#out(lot, cost) : null;
    if (allowed !== null) {
      this.#observer?.handedOut({ allowed, source: 'lot' });
      return allowed;
    }
    return this.#waited(key, cost);
  }

  async #waited(key: string, cost: number): Promise<boolean> {
    const { allowed } = await observed<Outcome>(this.#observer, 'take', key, () => this.#wait(key, cost));
    return Boolean(allowed);
  }

  /** null: weir is to be asked. */
  #out(lot: Lot, cost: number): boolean | null {
    if (lot.left >= cost) {
      lot.left -= cost;
      lot.isUsed = true;
      return true;
    }
    return !lot.fetching && performance.now() < lot.deniedUntil ? false : null;
  }

  /** Until its deadline for blocks, whoever fetches them; then it is decided here. */
  async #wait(key: string, cost: number): Promise<Outcome> {
    const end = this.#engine.deadline();
    let lot = this.#lots.get(key);
    if (!lot) this.#lots.set(key, lot = new Lot());
    for (;;) {
      const found = this.#out(lot, cost);
      if (found !== null) return { allowed: found, source: 'lot' };
      if (performance.now() >= end) return this.#engine.decide(key, cost);
      const mine = lot;
      lot.fetching ??= this.#fetch(key, lot, cost, end).finally(() => { mine.fetching = null; });
      await within(lot.fetching, { end }).catch((error: unknown) => {
        if (!(error instanceof Late)) throw error;
      });
    }
  }

  async #fetch(key: string, lot: Lot, cost: number, end: number): Promise<void> {
    const size = this.#sizeOf(lot, cost);
    lot.since = performance.now();
    lot.isUsed = true;
    this.#lots.set(key, lot); // a sweep may have forgotten it
    const holdMs = Math.max(kHoldMsMin, 20 * this.#blockMs);
    const { allowed, granted, id, retryAfterMs } = await calls.take(
      this.#engine, key, { cost: size, upto: true }, { holdMs, end });
    const now = performance.now();
    if (allowed) {
      lot.left += granted;
      lot.size = granted;
      lot.id = id;
      lot.until = now + kBlocks * this.#blockMs;
    }
    if (granted < size) {
      const waitMs = allowed ? 0 : Math.min(retryAfterMs ?? kDeniedMsMax, kDeniedMsMax);
      lot.deniedUntil = now + Math.max(waitMs, this.#blockMs);
    }
  }

  /** By the rate of the last block, at most twice as large, and at most half of the share of the capacity. */
  #sizeOf(lot: Lot, cost: number): number {
    const elapsed = Math.max(0.1, performance.now() - lot.since);
    const wanted = Math.ceil((lot.size - lot.left) / elapsed * this.#blockMs);
    const { known, share } = this.#engine.core;
    const capacities = (known ?? []).map(({ capacity }) => Math.floor(capacity * share / 2));
    return Math.max(cost - lot.left, Math.min(wanted, Math.max(1, 2 * lot.size), ...capacities), 1);
  }

  /** Gives back what was not used since the last look, and what was taken long before. */
  #sweep(): void {
    const now = performance.now();
    for (const [key, lot] of this.#lots) {
      const isIdle = !lot.isUsed;
      lot.isUsed = false;
      if (lot.fetching || (!isIdle && now < lot.until)) continue;
      if (isIdle) this.#lots.delete(key);
      void this.#giveBack(key, lot).catch(() => {}); // it stays charged
    }
  }

  async #giveBack(key: string, lot: Lot): Promise<void> {
    const back = Math.min(lot.left, lot.size);
    const { id, size } = lot;
    lot.left = 0;
    lot.id = null;
    if (!back) return;
    this.#engine.giveBack(key, back);
    if (id === null) return;
    await (size > back ? calls.ofId(this.#engine, 'RL.SETTLE', key, id, String(size - back))
      : calls.ofId(this.#engine, 'RL.CANCEL', key, id));
  }

  /** Gives everything back, and takes no more ahead. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const lots = [...this.#lots];
    this.#lots.clear();
    await Promise.all(lots.map(async ([key, lot]) => {
      await lot.fetching?.catch(() => {}); // its fault is told to who asked
      await this.#giveBack(key, lot);
    }));
  }
}
