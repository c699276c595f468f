import { kEpsilon, kNever, whole } from './local.js';
import type { Local, View } from './local.js';
import type { Spec } from './specs.js';

const kSlots = 20;

/** A window whose end is weir's where weir told it. */
export class FixedWindow implements Local {
  readonly #spec: Spec;
  #used = 0;
  #here = 0;
  #end: number; // what is past is over: the next use begins a window

  constructor(spec: Spec, _share: number, now: number) {
    this.#spec = spec;
    this.#end = now;
  }

  view(share: number, now: number, cost: number): View {
    this.#roll(now);
    const capacity = this.#spec.capacity * share;
    const rest = Math.max(0, this.#end - now);
    const limit = whole(capacity);
    if (cost <= 0 || this.#used + cost <= capacity + kEpsilon) {
      return { allowed: true, limit, remaining: whole(capacity - this.#used - cost), retryMs: 0,
        resetMs: rest || (cost ? this.#spec.periodMs : 0) };
    }
    const retryMs = cost <= capacity + kEpsilon ? rest : kNever;
    return { allowed: false, limit, remaining: whole(capacity - this.#used), retryMs, resetMs: rest };
  }

  charge(_share: number, now: number, cost: number, here: boolean): void {
    if (!cost) return;
    this.#begin(now);
    this.#used += cost;
    if (here) this.#here += cost;
  }

  giveBack(_share: number, now: number, cost: number): void {
    this.#roll(now);
    this.#used = Math.max(0, this.#used - cost);
    this.#here = Math.max(0, this.#here - cost);
  }

  drain(share: number, now: number): void {
    this.#begin(now);
    this.#used = Math.max(this.#used, this.#spec.capacity * share);
  }

  owed(_share: number, now: number): number {
    this.#roll(now);
    return whole(this.#here);
  }

  told(now: number, resetMs: number): void {
    if (resetMs > 0 && this.#used) this.#end = now + resetMs;
  }

  #roll(now: number): void {
    if (now >= this.#end) this.#used = this.#here = 0;
  }

  #begin(now: number): void {
    this.#roll(now);
    if (now >= this.#end) this.#end = now + this.#spec.periodMs;
  }
}

interface Slot {
  readonly number: number;
  used: number;
  here: number; // of it, granted by this process
}

/** Counts in slots of a twentieth of the period, each kept until its last instant has left the window. */
export class SlidingWindow implements Local {
  readonly #spec: Spec;
  readonly #slotMs: number;
  readonly #slots: Slot[] = [];

  constructor(spec: Spec, _share: number, _now: number) {
    this.#spec = spec;
    this.#slotMs = spec.periodMs / kSlots;
  }

  view(share: number, now: number, cost: number): View {
    const used = this.#roll(now);
    const capacity = this.#spec.capacity * share;
    const limit = whole(capacity);
    const last = this.#slots.at(-1);
    const resetMs = last ? this.#over(last.number) - now : 0;
    if (cost <= 0 || used + cost <= capacity + kEpsilon) {
      return { allowed: true, limit, remaining: whole(capacity - used - cost), retryMs: 0,
        resetMs: cost ? this.#spec.periodMs : resetMs };
    }
    const retryMs = cost <= capacity + kEpsilon ? this.#wait(now, used + cost - capacity) : kNever;
    return { allowed: false, limit, remaining: whole(capacity - used), retryMs, resetMs };
  }

  charge(_share: number, now: number, cost: number, here: boolean): void {
    this.#roll(now);
    const number = Math.floor(now / this.#slotMs);
    const mine = here ? cost : 0;
    const last = this.#slots.at(-1);
    if (last && last.number >= number) {
      last.used += cost;
      last.here += mine;
    } else if (cost) {
      this.#slots.push({ number, used: cost, here: mine });
    }
  }

  giveBack(_share: number, now: number, cost: number): void {
    this.#roll(now);
    while (this.#slots.length && cost > kEpsilon) {
      const last = this.#slots.at(-1)!;
      const back = Math.min(last.used, cost);
      cost -= back;
      last.used -= back;
      last.here = Math.max(0, last.here - back);
      if (last.used <= kEpsilon) this.#slots.pop();
    }
  }

  drain(share: number, now: number): void {
    const missing = this.#spec.capacity * share - this.#roll(now);
    if (missing > 0) this.charge(share, now, missing, false);
  }

  owed(_share: number, now: number): number {
    this.#roll(now);
    return whole(this.#slots.reduce((sum, slot) => sum + slot.here, 0));
  }

  told(): void {}

  #roll(now: number): number {
    while (this.#slots.length && this.#over(this.#slots[0]!.number) <= now + kEpsilon) this.#slots.shift();
    return this.#slots.reduce((sum, slot) => sum + slot.used, 0);
  }

  #over(number: number): number {
    return (number + 1) * this.#slotMs + this.#spec.periodMs;
  }

  #wait(now: number, permits: number): number {
    for (const slot of this.#slots) {
      permits -= slot.used;
      if (permits <= kEpsilon) return this.#over(slot.number) - now;
    }
    return kNever;
  }
}
