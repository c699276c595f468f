/**
 * Rate limits by weir.
 *
 *     const limiter = new Limiter('redis://127.0.0.1:7000', '100/1m BURST 20', { processes: 4 });
 *     const verdict = await limiter.take('user:42');
 */

export type { AcquireOptions, CallOptions, Reservation, ReserveOptions, TakeOptions } from './calls.js';
export type { ClientLike, Library } from './connection/make.js';
export { Hold, Lease } from './contexts.js';
export type { Failure } from './core/breaker.js';
export type { Away } from './core/core.js';
export type { Cost } from './core/mirror.js';
export { Limiter } from './limiter.js';
export type { HoldOptions, LeaseOptions, LimiterEvent, LimiterOptions } from './limiter.js';
export { Lots } from './lots.js';
export type { LotsOptions } from './lots.js';
export type { Observer, Outcome } from './observing.js';
export type { Policies, Policy } from './policies.js';
export type { Change, State } from './state.js';
export { takeAll } from './together.js';
export type { Item, Verdicts } from './together.js';
export { Denied } from './verdict.js';
export type { HeaderOptions, LimitState, Source, Verdict } from './verdict.js';
export { Weir } from './weir.js';
export type { WeirOptions } from './weir.js';
