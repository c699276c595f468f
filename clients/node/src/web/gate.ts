/** What the adapters share: whom a request is counted for, at what cost, and the answer of a denial. */

import type { ClientLike } from '../connection/make.js';
import { Limiter } from '../limiter.js';
import type { LimiterOptions } from '../limiter.js';
import type { Verdict } from '../verdict.js';
import { Weir } from '../weir.js';
import { byAddress } from './keys.js';
import type { Caller, Key } from './keys.js';

const kStatus = 429;
const kProblem = 'https://iana.org/assignments/http-problem-types#quota-exceeded';
const kTitle = 'Request cannot be satisfied as assigned quota has been exceeded';

/** The options of all adapters, with those of a Limiter: away, processes, fallback, observer. */
export interface RateLimitOptions extends LimiterOptions {
  /** A Weir, or what one is made of: its url, or a client of ioredis or node-redis. */
  readonly weir: Weir | string | ClientLike;
  readonly limits: string | readonly string[];
  /** Whom a request is counted for. Default byAddress(). */
  readonly key?: Key | undefined;
  /** Requests that are not counted. Default none. */
  readonly skip?: ((caller: Caller) => boolean | Promise<boolean>) | undefined;
  /** Permits of a request. Default 1. */
  readonly cost?: number | ((caller: Caller) => number | Promise<number>) | undefined;
  /** Before each key in weir. Default `http:`. */
  readonly prefix?: string | undefined;
  /** X-RateLimit-* fields too. Default false. */
  readonly legacy?: boolean | undefined;
}

/** A 429. */
export interface Denial {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Of application/problem+json. */
  readonly body: { readonly type: string; readonly title: string; readonly status: number; readonly 'violated-policies': string[] };
}

/** What a request is answered: nothing if it is not counted, fields to add if it passes, or a denial. */
export type Outcome = { readonly headers?: Record<string, string>; readonly denial?: Denial };

export class Gate {
  readonly limiter: Limiter;
  readonly #options: RateLimitOptions;
  readonly #isOurs: boolean;

  constructor(options: RateLimitOptions) {
    const { weir, limits, ...more } = options;
    this.limiter = new Limiter(weir, limits, more);
    this.#isOurs = !(weir instanceof Weir);
    this.#options = options;
  }

  async ask(caller: Caller): Promise<Outcome> {
    const { key = kByAddress, skip, cost: costs = 1, prefix = 'http:', legacy } = this.#options;
    if (await skip?.(caller)) return {};
    const cost = typeof costs === 'number' ? costs : await costs(caller);
    const verdict = await this.limiter.take(prefix + await key(caller), { cost });
    const headers = verdict.headers({ legacy });
    return verdict.allowed ? { headers } : { denial: denialOf(verdict, cost, headers) };
  }

  /** Ends connections that were made here. */
  close(): void {
    if (this.#isOurs) this.limiter.close();
  }
}

const kByAddress = byAddress();

function denialOf(verdict: Verdict, cost: number, headers: Record<string, string>): Denial {
  const violated = verdict.itemNames().filter((_, index) => verdict.limits[index]!.remaining < cost);
  return { status: kStatus, headers: { ...headers, 'Content-Type': 'application/problem+json' },
    body: { type: kProblem, title: kTitle, status: kStatus, 'violated-policies': violated } };
}
