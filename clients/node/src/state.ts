import type { Failure } from './core/breaker.js';

/** `limiter.state()`. Counts are since the limiter was made. */
export interface State {
  readonly away: boolean;
  /** null while weir is there. */
  readonly cause: Failure | null;
  /** Milliseconds since the last change. */
  readonly forMs: number;
  /** Milliseconds away in all. */
  readonly awayMs: number;
  readonly absences: number;
  /** Calls that weir has answered. */
  readonly asked: number;
  /** Calls that it has not. */
  readonly decidedHere: number;
  readonly probes: number;
  /** The part of the limit that this process hands out while weir is away. */
  readonly share: number;
  /** Keys in the mirror. */
  readonly keys: number;
}

/** What the events `away` and `back` tell. */
export interface Change {
  readonly away: boolean;
  /** Why it went; of `back` why it had gone. */
  readonly cause: Failure;
  /** Milliseconds, of the state that ended. */
  readonly lastedMs: number;
}
