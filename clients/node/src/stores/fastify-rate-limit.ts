/**
 * A store of @fastify/rate-limit.
 *
 *     app.register(rateLimit, { max: 100, timeWindow: '1 minute', store: storeOf({ weir: 'redis://127.0.0.1:7000' }) });
 */

import { Windows } from './windows.js';
import type { StoreOptions } from './windows.js';

type Done = (error: Error | null, result?: { current: number; ttl: number }) => void;
type Route = { readonly routeInfo?: { readonly method?: unknown; readonly url?: string } };

/** What the library uses of a store. */
export interface Store {
  incr(key: string, done: Done, timeWindow: number, max: number): void;
  read(key: string, done: Done, timeWindow: number, max: number): void;
  child(route: any): Store;
}

/** A class, as the library takes it: it makes a store of its own for each route. */
export function storeOf(options: StoreOptions): new (settings?: any) => Store {
  const windows = new Windows(options);

  return class WeirStore implements Store {
    #prefix = options.prefix ?? 'fastify:';

    incr(key: string, done: Done, timeWindow: number, max: number): void {
      answer(windows.count(this.#prefix + key, timeWindow, max), done);
    }

    read(key: string, done: Done, timeWindow: number, max: number): void {
      answer(windows.look(this.#prefix + key, timeWindow, max), done);
    }

    child({ routeInfo = {} }: Route): Store {
      const child = new WeirStore();
      child.#prefix = `${this.#prefix}${String(routeInfo.method ?? '')}${routeInfo.url ?? ''}-`;
      return child;
    }
  };
}

function answer(counted: Promise<{ hits: number; resetMs: number }>, done: Done): void {
  counted.then(({ hits, resetMs }) => done(null, { current: hits, ttl: Math.ceil(resetMs) }), done);
}
