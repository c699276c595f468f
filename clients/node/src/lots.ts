/** Permits taken ahead in blocks and handed out in the process, for limits above what a round trip per call carries. */

import * as calls from './calls.js';
import type { Engine } from './engine.js';
import type { Limiter } from './limiter.js';

const kHoldMsMin = 2000;
const kNeverMs = 1000; // who can never be granted is asked for again after this

export interface LotsOptions {
  /** For how long a block is to last, by the rate at which the last one was used. Default 100. */
  readonly blockMs?: number | undefined;
}

class Lot {
  left = 0;
  size = 0; // of the last block
  id: number | string | null = null; // of its hold
  since = performance.now();
  deniedUntil = 0;
  isUsed = true;
  fetching: Promise<void> | null = null;
}

/**
 * `const lots = new Lots(limiter); if (await lots.take('user:42')) ...`. All processes together are granted no more than
 * the limit; what a process has ahead is at most half the capacity, and is given back when it was not used for a block's
 * time. Not for CONCURRENCY.
 */
export class Lots {
  readonly #engine: Engine;
  readonly #blockMs: number;
  readonly #lots = new Map<string, Lot>();
  readonly #timer: NodeJS.Timeout;

  constructor(limiter: Limiter, { blockMs = 100 }: LotsOptions = {}) {
    if (!(blockMs > 0)) throw new TypeError('blockMs must be above 0');
    this.#engine = limiter.engine;
    if (this.#engine.specs?.some(({ kind }) => kind === 'leases')) throw new TypeError('leases are not taken ahead');
    this.#blockMs = blockMs;
    this.#timer = setInterval(() => { void this.#sweep(); }, Math.max(blockMs, 20)).unref();
  }

  /** True or false at once while the block lasts, else a promise: `await` does for both. */
  take(key: string, cost = 1): boolean | Promise<boolean> {
    const lot = this.#lots.get(key);
    if (lot && lot.left >= cost) {
      lot.left -= cost;
      lot.isUsed = true;
      return true;
    }
    if (lot && !lot.fetching && performance.now() < lot.deniedUntil) return false;
    return this.#wait(key, cost);
  }

  async #wait(key: string, cost: number): Promise<boolean> {
    let lot = this.#lots.get(key);
    if (!lot) this.#lots.set(key, lot = new Lot());
    for (;;) {
      if (lot.left >= cost) {
        lot.left -= cost;
        lot.isUsed = true;
        return true;
      }
      if (!lot.fetching && performance.now() < lot.deniedUntil) return false;
      const mine = lot;
      lot.fetching ??= this.#fetch(key, lot, cost).finally(() => { mine.fetching = null; });
      await lot.fetching;
    }
  }

  async #fetch(key: string, lot: Lot, cost: number): Promise<void> {
    const size = this.#sizeOf(lot, cost);
    lot.since = performance.now();
    lot.isUsed = true;
    this.#lots.set(key, lot); // a sweep may have forgotten it
    const holdMs = Math.max(kHoldMsMin, 20 * this.#blockMs);
    const { allowed, granted, id, retryAfterMs } = await calls.take(this.#engine, key, { cost: size, upto: true }, holdMs);
    if (allowed) {
      lot.left += granted;
      lot.size = granted;
      lot.id = id;
    }
    if (granted < size) {
      const waitMs = allowed ? 0 : retryAfterMs ?? kNeverMs;
      lot.deniedUntil = performance.now() + Math.max(waitMs, this.#blockMs);
    }
  }

  /** By the rate of the last block, at most twice as large, and at most half of the capacity. */
  #sizeOf(lot: Lot, cost: number): number {
    const elapsed = Math.max(0.1, performance.now() - lot.since);
    const wanted = Math.ceil((lot.size - lot.left) / elapsed * this.#blockMs);
    const capacities = (this.#engine.core.known ?? []).map(({ capacity }) => Math.floor(capacity / 2));
    return Math.max(cost - lot.left, Math.min(wanted, Math.max(1, 2 * lot.size), ...capacities), 1);
  }

  /** Gives back what was not used since the last look. */
  async #sweep(): Promise<void> {
    for (const [key, lot] of this.#lots) {
      if (!lot.isUsed && !lot.fetching) {
        this.#lots.delete(key);
        await this.#giveBack(key, lot).catch(() => {}); // it stays charged
      }
      lot.isUsed = false;
    }
  }

  async #giveBack(key: string, lot: Lot): Promise<void> {
    const back = Math.min(lot.left, lot.size);
    lot.left = 0;
    if (!back) return;
    this.#engine.giveBack(key, back);
    if (lot.id === null) return;
    const used = lot.size - back;
    await (used ? calls.ofId(this.#engine, 'RL.SETTLE', key, lot.id, String(used))
      : calls.ofId(this.#engine, 'RL.CANCEL', key, lot.id));
  }

  /** Gives everything back, and takes no more ahead. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const lots = [...this.#lots];
    this.#lots.clear();
    await Promise.all(lots.map(async ([key, lot]) => {
      await lot.fetching;
      await this.#giveBack(key, lot);
    }));
  }
}
