/**
 * A store of express-rate-limit.
 *
 *     rateLimit({ windowMs: 60_000, limit: 100, store: new WeirStore({ weir: 'redis://127.0.0.1:7000', processes: 4 }) })
 */

import { randomBytes } from 'node:crypto';

import { Windows } from './windows.js';
import type { Count, StoreOptions } from './windows.js';

const kWindowMs = 60_000;

/** Hits and when they are forgotten, as the library has it. */
export interface Hits {
  totalHits: number;
  resetTime: Date;
}

export class WeirStore {
  /** Counts are shared by all processes. */
  readonly localKeys = false;
  readonly prefix: string;
  readonly #windows: Windows;
  #windowMs = kWindowMs;
  #limit: number | undefined; // not known where it is a function of the request

  constructor(options: StoreOptions) {
    this.#windows = new Windows(options);
    this.prefix = options.prefix ?? 'express:';
  }

  init(options: { readonly windowMs: number; readonly limit?: unknown }): void {
    this.#windowMs = options.windowMs;
    this.#limit = typeof options.limit === 'number' ? options.limit : undefined;
  }

  async get(key: string): Promise<Hits> {
    return hitsOf(await this.#windows.look(this.prefix + key, this.#windowMs, this.#limit));
  }

  async increment(key: string): Promise<Hits> {
    return hitsOf(await this.#windows.count(this.prefix + key, this.#windowMs, this.#limit));
  }

  /** RL.REFUND: the user needs @ratelimitadmin. */
  async decrement(key: string): Promise<void> {
    await this.#windows.ask(this.prefix + key, 'RL.REFUND', this.prefix + key, '1', 'ID', randomBytes(12).toString('hex'));
  }

  /** RL.RESET: the user needs @ratelimitadmin. */
  async resetKey(key: string): Promise<void> {
    await this.#windows.ask(this.prefix + key, 'RL.RESET', this.prefix + key);
  }

  shutdown(): void {
    this.#windows.close();
  }
}

function hitsOf({ hits, resetMs }: Count): Hits {
  return { totalHits: hits, resetTime: new Date(Date.now() + resetMs) };
}
