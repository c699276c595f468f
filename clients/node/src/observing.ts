/** Who is told of calls: a Telemetry, or the program's own. */

import type { State } from './state.js';

/** What a call answers, as far as it is told: a Verdict, Verdicts, a Reservation, or permits that came back. */
export interface Outcome {
  readonly allowed?: boolean | undefined;
  readonly granted?: boolean | number | undefined;
  readonly source?: string | undefined;
  readonly remaining?: number | undefined;
  readonly retryAfterMs?: number | null | undefined;
  readonly policy?: string | null | undefined;
}

/** What it throws or rejects with, the caller gets. */
export interface Observer {
  /** A limiter begins to tell of itself; it should be held by a WeakRef alone. */
  limiter(limiter: { state(): State }): void;
  /** Around a call of that name, which `work` makes; answers what that answers. */
  calling<T extends Outcome | number>(call: string, key: string, work: () => Promise<T>): Promise<T>;
  /** A take that was decided by a lot. */
  handedOut(outcome: Outcome): void;
}

export function observed<T extends Outcome | number>(observer: Observer | undefined, call: string, key: string,
  work: () => Promise<T>): Promise<T> {
  return observer ? observer.calling(call, key, work) : work();
}
