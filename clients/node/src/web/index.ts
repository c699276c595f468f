/** Whom requests are counted for: the option `key` of all adapters. */

export type { RateLimitOptions } from './gate.js';
export { byAddress, byHeader, byUser, perRoute } from './keys.js';
export type { AddressOptions, Caller, Key } from './keys.js';
