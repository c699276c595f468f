import { kEpsilon, kNever, whole } from './local.js';
import type { Local, View } from './local.js';
import type { Spec } from './specs.js';

/** A token bucket of the share; it goes into debt down to the limit's capacity. */
export class Bucket implements Local {
  readonly #spec: Spec;
  #level: number;
  #at: number;

  constructor(spec: Spec, share: number, now: number) {
    this.#spec = spec;
    this.#level = spec.capacity * share;
    this.#at = now;
  }

  view(share: number, now: number, cost: number): View {
    const level = this.#refill(share, now);
    const capacity = this.#spec.capacity * share;
    const after = level - cost;
    const allowed = cost <= 0 || after >= -kEpsilon;
    const msEach = this.#spec.periodMs / (this.#spec.count * share);
    const waitMs = cost <= capacity + kEpsilon ? -after * msEach : kNever;
    const left = allowed ? after : level;
    return { allowed, limit: whole(capacity), remaining: whole(left), retryMs: allowed ? 0 : waitMs,
      resetMs: Math.max(0, capacity - left) * msEach };
  }

  charge(share: number, now: number, cost: number): void {
    this.#level = Math.max(this.#refill(share, now) - cost, -this.#spec.capacity);
  }

  giveBack(share: number, now: number, cost: number): void {
    this.#level = Math.min(this.#refill(share, now) + cost, this.#spec.capacity * share);
  }

  drain(share: number, now: number): void {
    this.#level = Math.min(this.#refill(share, now), 0);
  }

  /** A part counts as a whole: each process' part that was left out would pass once more. */
  owed(share: number, now: number): number {
    return Math.max(0, Math.ceil(this.#spec.capacity * share - this.#refill(share, now) - kEpsilon));
  }

  told(): void {}

  #refill(share: number, now: number): number {
    const gained = Math.max(0, now - this.#at) * this.#spec.count * share / this.#spec.periodMs;
    this.#level = Math.min(this.#spec.capacity * share, this.#level + gained);
    this.#at = Math.max(this.#at, now);
    return this.#level;
  }
}
