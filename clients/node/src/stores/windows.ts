/** Fixed windows for libraries that count by themselves and compare then. */

import type { ClientLike } from '../connection/make.js';
import type { Away } from '../core/core.js';
import { Limiter } from '../limiter.js';
import type { Verdict } from '../verdict.js';
import { Weir } from '../weir.js';

const kCounted = 1e12; // so many permits are never used up: a window that counts
const kLimitersMax = 1000;

export interface StoreOptions {
  /** A Weir, or what one is made of: its url, or a client of ioredis or node-redis. */
  readonly weir: Weir | string | ClientLike;
  /** How many processes use these limits, for when weir is away. Default 1. */
  readonly processes?: number | undefined;
  /** What is decided while weir is away. Default `local`. */
  readonly away?: Away | undefined;
  /** Before each key in weir. */
  readonly prefix?: string | undefined;
}

/** What a library asks of a window. */
export interface Count {
  /** More than the limit where it is denied. */
  readonly hits: number;
  readonly resetMs: number;
}

export class Windows {
  readonly weir: Weir;
  readonly #isOurs: boolean;
  readonly #options: StoreOptions;
  readonly #limiters = new Map<string, Limiter>();

  constructor(options: StoreOptions) {
    this.#isOurs = !(options.weir instanceof Weir);
    this.weir = options.weir instanceof Weir ? options.weir : new Weir(options.weir);
    this.#options = options;
  }

  limiter(limits: string): Limiter {
    let found = this.#limiters.get(limits);
    if (!found) {
      const { processes, away } = this.#options;
      if (this.#limiters.size >= kLimitersMax) this.#limiters.clear(); // limits that requests make up
      this.#limiters.set(limits, found = new Limiter(this.weir, limits, { processes, away }));
    }
    return found;
  }

  /** Counts a request; `limit` is not known, or 0, where the library alone decides. */
  async count(key: string, windowMs: number, limit: number | undefined): Promise<Count> {
    return this.#counted(await this.#of(windowMs, limit).take(key), limit);
  }

  async look(key: string, windowMs: number, limit: number | undefined): Promise<Count> {
    return this.#counted(await this.#of(windowMs, limit).peek(key, { cost: 0 }), limit);
  }

  #of(windowMs: number, limit = 0): Limiter {
    return this.limiter(`FIXED ${limit >= 1 ? Math.floor(limit) : kCounted}/${Math.max(1, Math.round(windowMs))}ms`);
  }

  #counted(verdict: Verdict, limit = 0): Count {
    const resetMs = Math.max(0, verdict.resetAfterMs ?? 0);
    if (!verdict.allowed) return { hits: (limit >= 1 ? Math.floor(limit) : kCounted) + 1, resetMs };
    const used = verdict.limit < 0 ? 0 : verdict.limit - verdict.remaining;
    const factor = verdict.source === 'weir' ? 1 : this.#options.processes ?? 1;
    const hits = Math.ceil(used * factor);
    return { hits: limit >= 1 ? Math.min(hits, Math.floor(limit)) : hits, resetMs };
  }

  /** A command that is no call of a limiter. */
  async ask(key: string, ...words: string[]): Promise<unknown> {
    const [reply] = await this.weir.send({ commands: [words], key, end: performance.now() + this.weir.deadlineMs });
    if (reply instanceof Error) throw reply;
    return reply;
  }

  close(): void {
    if (this.#isOurs) this.weir.close();
  }
}
