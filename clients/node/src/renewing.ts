/** When a lease is renewed. Instants are milliseconds that callers hand in. */

import type { Verdict } from './verdict.js';

const kRenewals = 3; // in the length of a lease
const kSoonMs = 50; // the first pause after a renewal that weir has not answered; each further one is twice as long,
const kSoonMsMax = 1000; // but not longer

/** The shortest LEASE among the limits. */
export function leaseMs({ limits, specs }: Verdict): number {
  const found = limits.filter((_, index) => specs[index]?.kind === 'leases').map(({ windowMs }) => windowMs);
  return found.length ? Math.min(...found) : 1000;
}

/** Of one lease, that weir gave or renewed at an instant. */
export class Renewals {
  isLost = false;
  readonly #lastsMs: number;
  #given: number;
  #soonMs: number | null = null; // the next pause, where weir has not answered

  constructor(lastsMs: number, given: number) {
    this.#lastsMs = lastsMs;
    this.#given = given;
  }

  /** How long until the next one; none ends after the lease. */
  pauseMs(now: number): number {
    const regular = this.#lastsMs / kRenewals;
    if (this.#soonMs === null) return regular;
    const soon = this.#soonMs * (0.8 + 0.4 * Math.random());
    this.#soonMs = Math.min(2 * this.#soonMs, kSoonMsMax);
    return Math.max(0, Math.min(soon, regular, this.#given + this.#lastsMs - now));
  }

  /** What weir answered to the one that was sent then, null for nothing; whether the lease still runs. */
  told(sent: number, permits: number | null, now: number): boolean {
    if (permits) {
      this.#given = sent;
      this.#soonMs = null;
    } else if (permits === 0 || now - this.#given >= this.#lastsMs) {
      this.isLost = true;
    } else {
      this.#soonMs ??= kSoonMs;
    }
    return !this.isLost;
  }
}
