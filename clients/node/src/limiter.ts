import { EventEmitter } from 'node:events';

import * as calls from './calls.js';
import type { AcquireOptions, CallOptions, Reservation, ReserveOptions, TakeOptions } from './calls.js';
import { Hold, Lease } from './contexts.js';
import type { ClientLike } from './connection/make.js';
import { Engine } from './engine.js';
import type { EngineOptions } from './engine.js';
import { observed } from './observing.js';
import type { Observer, Outcome } from './observing.js';
import type { Change, State } from './state.js';
import { Denied } from './verdict.js';
import type { Verdict } from './verdict.js';
import { Weir } from './weir.js';

export interface LimiterOptions extends EngineOptions {
  /** What is decided while weir is away. Default `local`. */
  readonly away?: EngineOptions['away'];
  /**
   * How many processes use these limits: each hands out so many a part while weir is away. Where it is left out, what
   * weir tells (`callers` of FULL) counts, or 1.
   */
  readonly processes?: number | undefined;
  /** Of a policy: its limits until weir has told them. */
  readonly fallback?: string | readonly string[] | undefined;
  /** Keys that the process remembers. Default 10,000. */
  readonly keysMax?: number | undefined;
  /** Is told of calls: a Telemetry of weir-client/telemetry, for OpenTelemetry. */
  readonly observer?: Observer | undefined;
}

export interface HoldOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long it may be settled. Default 60,000. */
  readonly lastsMs?: number | undefined;
}

export interface LeaseOptions {
  readonly cost?: number | undefined;
  /** Wait for a turn so long at most; denied at once where it is left out. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** `away` when weir counts as away from now on, `back` when it is back. */
export type LimiterEvent = 'away' | 'back';

export interface Limiter {
  on(event: LimiterEvent, listener: (change: Change) => void): this;
  once(event: LimiterEvent, listener: (change: Change) => void): this;
  off(event: LimiterEvent, listener: (change: Change) => void): this;
}

/**
 * Limits of weir under keys: `new Limiter(weir, '100/1m BURST 20').take('user:42')`. Emits `away` and `back`, each
 * with a Change.
 */
export class Limiter extends EventEmitter {
  readonly weir: Weir;
  /** @internal */
  readonly engine: Engine;
  /** @internal */
  readonly observer: Observer | undefined;

  /** `to` is a Weir, which limiters share, or what one is made of; `limits` as in RL.TAKE, `POLICY name` among them. */
  constructor(to: Weir | string | ClientLike, limits: string | readonly string[], options: LimiterOptions = {}) {
    super();
    this.weir = to instanceof Weir ? to : new Weir(to);
    this.engine = new Engine(this.weir, limits, options, (change) => this.emit(change.away ? 'away' : 'back', change));
    this.observer = options.observer;
    this.observer?.limiter(this);
  }

  #observed<T extends Outcome | number>(call: string, key: string, work: () => Promise<T>): Promise<T> {
    return observed(this.observer, call, key, work);
  }

  /** Takes from all limits of the key, or from none. */
  take(key: string, options?: TakeOptions): Promise<Verdict> {
    return this.#observed('take', key, () => calls.take(this.engine, key, options));
  }

  /** The verdict that take() would give; changes nothing. */
  peek(key: string, options?: CallOptions): Promise<Verdict> {
    return this.#observed('peek', key, () => calls.peek(this.engine, key, options));
  }

  /** Waits for its turn. */
  acquire(key: string, options: AcquireOptions): Promise<Verdict> {
    return this.#observed('acquire', key, () => calls.acquire(this.engine, key, options));
  }

  /** Books now what may be used after `waitMs`. */
  reserve(key: string, options?: ReserveOptions): Promise<Reservation> {
    return this.#observed('reserve', key, () => calls.reserve(this.engine, key, options));
  }

  /** Gives a booking back; how many permits came back. */
  async cancel(key: string, { id }: Reservation): Promise<number> {
    if (id === null) return 0;
    return this.#observed('cancel', key, async () => Number(await calls.ofId(this.engine, 'RL.CANCEL', key, id) ?? 0));
  }

  /** Takes an estimate, for settle() to say what was used. Throws Denied if there is not enough. */
  hold(key: string, estimate: number, options?: HoldOptions): Promise<Hold>;
  /** Settles `hold.used` when the work is done, and gives everything back when it throws. */
  hold<T>(key: string, estimate: number, work: (hold: Hold) => T | Promise<T>): Promise<T>;
  hold<T>(key: string, estimate: number, options: HoldOptions, work: (hold: Hold) => T | Promise<T>): Promise<T>;
  async hold<T>(key: string, estimate: number, ...more: unknown[]): Promise<Hold | T> {
    const work = more.find((word) => typeof word === 'function') as ((hold: Hold) => T | Promise<T>) | undefined;
    const { lastsMs = 60_000, signal } = (typeof more[0] === 'object' ? more[0] : {}) as HoldOptions;
    const verdict = await this.#observed('hold', key,
      () => calls.take(this.engine, key, { cost: estimate, signal }, { holdMs: lastsMs }));
    if (!verdict.allowed) throw new Denied(verdict);
    const hold = new Hold(this.engine, key, estimate, verdict);
    if (!work) return hold;
    try {
      const outcome = await work(hold);
      if (!hold.settled) await hold.settle();
      return outcome;
    } catch (error) {
      if (!hold.settled) await hold.cancel();
      throw error;
    }
  }

  /** A lease of CONCURRENCY, which renews itself until release(). Throws Denied if there is none. */
  lease(key: string, options?: LeaseOptions): Promise<Lease>;
  /** Gives it back when the work is done; `lease.lost` is a signal for the work. */
  lease<T>(key: string, work: (lease: Lease) => T | Promise<T>): Promise<T>;
  lease<T>(key: string, options: LeaseOptions, work: (lease: Lease) => T | Promise<T>): Promise<T>;
  async lease<T>(key: string, ...more: unknown[]): Promise<Lease | T> {
    const work = more.find((word) => typeof word === 'function') as ((lease: Lease) => T | Promise<T>) | undefined;
    const { cost = 1, timeoutMs, signal } = (typeof more[0] === 'object' ? more[0] : {}) as LeaseOptions;
    const verdict = await this.#observed('lease', key, () => timeoutMs === undefined
      ? calls.take(this.engine, key, { cost, signal }) : calls.acquire(this.engine, key, { cost, timeoutMs, signal }));
    if (!verdict.allowed) throw new Denied(verdict);
    const lease = new Lease(this.engine, key, cost, verdict);
    if (!work) return lease;
    try {
      return await work(lease);
    } finally {
      await lease.release();
    }
  }

  /** Whether weir is away for this limiter, since when, and what was decided where. */
  state(): State {
    return this.engine.state();
  }

  /** Closes the connections, which other limiters may share. */
  close(): void {
    this.weir.close();
  }
}
