/**
 * A storage of @nestjs/throttler.
 *
 *     ThrottlerModule.forRoot({ throttlers: [{ ttl: 60_000, limit: 100 }],
 *       storage: new WeirThrottlerStorage({ weir: 'redis://127.0.0.1:7000', processes: 4 }) })
 */

import { Windows } from './windows.js';
import type { StoreOptions } from './windows.js';

/** What the guard is told. Times are seconds. */
export interface ThrottlerRecord {
  totalHits: number;
  timeToExpire: number;
  isBlocked: boolean;
  timeToBlockExpire: number;
}

export class WeirThrottlerStorage {
  readonly #windows: Windows;
  readonly #prefix: string;

  constructor(options: StoreOptions) {
    this.#windows = new Windows(options);
    this.#prefix = options.prefix ?? 'throttler:';
  }

  /** Who asks for more than `limit` in `ttl` is banned for `blockDuration`; both are milliseconds. */
  async increment(key: string, ttl: number, limit: number, blockDuration: number, name: string): Promise<ThrottlerRecord> {
    const window = `FIXED ${Math.max(1, Math.floor(limit))}/${Math.round(ttl)}ms`;
    const ban = blockDuration > 0 ? ` BAN ${Math.round(blockDuration)}ms AFTER 1 WITHIN ${Math.round(ttl)}ms` : '';
    const verdict = await this.#windows.limiter(window + ban).take(`${this.#prefix}${name}:${key}`, { cost: limit < 1 ? 2 : 1 });
    const { allowed, retryAfterMs, resetAfterMs } = verdict;
    return { totalHits: allowed ? Math.max(0, verdict.limit - verdict.remaining) : limit + 1,
      timeToExpire: Math.ceil((resetAfterMs ?? 0) / 1000), isBlocked: !allowed,
      timeToBlockExpire: allowed ? 0 : Math.ceil((retryAfterMs ?? blockDuration) / 1000) };
  }

  onApplicationShutdown(): void {
    this.#windows.close();
  }
}
