/** Holds and leases. */

import * as calls from './calls.js';
import type { Engine } from './engine.js';
import { leaseMs, Renewals } from './renewing.js';
import type { Verdict } from './verdict.js';

const kTimerMsMax = 2 ** 31 - 1;

/** An estimate that was taken, until settle() says what was used. */
export class Hold {
  readonly verdict: Verdict;
  /** What the end of a `hold(key, options, work)` settles; the estimate if it is not set. */
  used: number;
  settled = false;
  readonly #engine: Engine;
  readonly #key: string;
  readonly #estimate: number;

  /** @internal */
  constructor(engine: Engine, key: string, estimate: number, verdict: Verdict) {
    this.#engine = engine;
    this.#key = key;
    this.#estimate = this.used = estimate;
    this.verdict = verdict;
  }

  /** False if weir did not get to know: then the estimate stays charged. */
  async settle(used: number = this.used): Promise<boolean> {
    this.settled = true;
    const { source, id } = this.verdict;
    if (used < this.#estimate) this.#engine.giveBack(this.#key, this.#estimate - used);
    if (source !== 'weir') {
      if (used > this.#estimate) this.#engine.charge(this.#key, used - this.#estimate);
      return true;
    }
    if (id === null) return true;
    return null !== await (used === 0 ? calls.ofId(this.#engine, 'RL.CANCEL', this.#key, id)
      : calls.ofId(this.#engine, 'RL.SETTLE', this.#key, id, String(used)));
  }

  /** Gives everything back. */
  cancel(): Promise<boolean> {
    return this.settle(0);
  }
}

/** A lease of CONCURRENCY, renewed until it is released. */
export class Lease {
  readonly verdict: Verdict;
  readonly #engine: Engine;
  readonly #key: string;
  readonly #cost: number;
  readonly #renewals: Renewals;
  readonly #lost = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  /** @internal */
  constructor(engine: Engine, key: string, cost: number, verdict: Verdict) {
    this.#engine = engine;
    this.#key = key;
    this.#cost = cost;
    this.verdict = verdict;
    this.#renewals = new Renewals(leaseMs(verdict), performance.now());
    if (verdict.id !== null) this.#later();
  }

  /** Aborted when the lease has ended in spite of its renewals. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** False if the lease has ended; true while weir is away and the lease still runs. */
  async renew(): Promise<boolean> {
    const sent = performance.now();
    let permits: number | null = null;
    try {
      permits = await calls.renew(this.#engine, this.#key, this.verdict.id!);
    } finally {
      const isHeld = this.#isOver || this.#renewals.told(sent, permits, performance.now());
      if (!isHeld) this.#lost.abort(new Error('the lease has ended'));
    }
    return !this.#lost.signal.aborted;
  }

  /** Gives it back. */
  async release(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#engine.giveBack(this.#key, this.#cost);
    if (this.verdict.id !== null) await calls.ofId(this.#engine, 'RL.RELEASE', this.#key, this.verdict.id);
  }

  #later(): void {
    const pauseMs = Math.min(this.#renewals.pauseMs(performance.now()), kTimerMsMax);
    this.#timer = setTimeout(() => { void this.#renewOn(); }, pauseMs);
  }

  async #renewOn(): Promise<void> {
    await this.renew().catch(() => {}); // a fault of the program: the lease is lost at its end
    if (!this.#isOver && !this.#renewals.isLost) this.#later();
  }
}
