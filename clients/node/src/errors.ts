/** Which errors mean that weir is away, and which are the program's own. */

import { failureOfWords } from './core/breaker.js';
import type { Failure } from './core/breaker.js';

/** Nothing came within the deadline. */
export class Late extends Error {
  constructor() {
    super('weir did not answer in time');
    this.name = 'Late';
  }
}

// What a server says begins with a word in capitals; what the clients and the system say of a connection does not.
const kReply = /^[A-Z][A-Z0-9]+ /;

export function isReply(error: unknown): error is Error {
  return error instanceof Error && kReply.test(error.message);
}

/** Clients reject with texts, too. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

// Time-outs of a client that was given, shorter than the deadline.
const kLate = /\btime(d |-)?out\b|ETIMEDOUT/i;

/** null: it is a fault of the program, and thrown. */
export function failureOf(error: unknown): Failure | null {
  if (error instanceof Late) return 'late';
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) return null;
  if (isReply(error)) return failureOfWords(error.message);
  return kLate.test(String(error)) ? 'late' : 'gone';
}

const kCrossSlot = /^CROSSSLOT |same (hash|key) slot|different nodes/i;

/** Keys of several slots of a cluster, as the server or a client refuses them. */
export function isCrossSlot(error: unknown): boolean {
  return error instanceof Error && kCrossSlot.test(error.message);
}
