import { kEpsilon, kNever, whole } from './local.js';
import type { Local, View } from './local.js';
import type { Spec } from './specs.js';

/** Leases that this process holds; each ends when it is given back, or with the LEASE of the limit. */
export class Leases implements Local {
  readonly #spec: Spec;
  readonly #held: { end: number; permits: number }[] = [];

  constructor(spec: Spec, _share: number, _now: number) {
    this.#spec = spec;
  }

  view(share: number, now: number, cost: number): View {
    const used = this.#roll(now);
    const capacity = this.#spec.capacity * share;
    const limit = whole(capacity);
    const resetMs = this.#held.length ? this.#held.at(-1)!.end - now : 0;
    if (cost <= 0 || used + cost <= capacity + kEpsilon) {
      return { allowed: true, limit, remaining: whole(capacity - used - cost), retryMs: 0,
        resetMs: cost ? this.#spec.periodMs : resetMs };
    }
    const first = this.#held[0];
    const retryMs = first && cost <= capacity + kEpsilon ? first.end - now : kNever;
    return { allowed: false, limit, remaining: whole(capacity - used), retryMs, resetMs };
  }

  charge(_share: number, now: number, cost: number): void {
    this.#roll(now);
    if (cost) this.#held.push({ end: now + this.#spec.periodMs, permits: cost });
  }

  giveBack(_share: number, now: number, cost: number): void {
    this.#roll(now);
    while (this.#held.length && cost > kEpsilon) {
      const first = this.#held[0]!;
      const back = Math.min(first.permits, cost);
      cost -= back;
      first.permits -= back;
      if (first.permits <= kEpsilon) this.#held.shift();
    }
  }

  drain(share: number, now: number): void {
    const missing = this.#spec.capacity * share - this.#roll(now);
    if (missing > 0) this.charge(share, now, missing);
  }

  owed(): number {
    return 0;
  }

  told(): void {}

  #roll(now: number): number {
    while (this.#held.length && this.#held[0]!.end <= now) this.#held.shift();
    return this.#held.reduce((sum, held) => sum + held.permits, 0);
  }
}
