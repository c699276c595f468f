/**
 * A process' own state of one limit. Each is charged with what weir granted to this process, and decides while weir is
 * away. `share` is the part of the limit that this process may hand out, 0 to 1. Instants and durations are milliseconds.
 */

export const kEpsilon = 1e-9;
export const kNever = -1;

/** What a limit says to a cost: as the integers of RL.TAKE, times not rounded. */
export interface View {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly retryMs: number; // 0 when allowed, kNever if it can never be allowed
  readonly resetMs: number;
}

export interface Local {
  view(share: number, now: number, cost: number): View;
  /** Takes without asking: what weir granted, or (`here`) what was granted by this process. */
  charge(share: number, now: number, cost: number, here: boolean): void;
  giveBack(share: number, now: number, cost: number): void;
  /** From this instant on it is as if all had just been used. */
  drain(share: number, now: number): void;
  /** What weir has to be charged with after the return. */
  owed(share: number, now: number): number;
  /** weir said when the limit is full again. */
  told(now: number, resetMs: number): void;
}

export function whole(permits: number): number {
  return Math.floor(permits + kEpsilon);
}
