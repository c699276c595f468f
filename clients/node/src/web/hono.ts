/**
 * Hono.
 *
 *     app.use(rateLimit({ weir: 'redis://127.0.0.1:7000', limits: '100/1m', processes: 4 }));
 *
 * The address of a caller is known with @hono/node-server; elsewhere give a `key`.
 */

import { Gate } from './gate.js';
import type { RateLimitOptions } from './gate.js';
import { nameOfUser } from './keys.js';
import type { Caller } from './keys.js';

export * from './index.js';

/** What is used of Hono's Context. */
export interface ContextLike {
  readonly env: any;
  readonly req: { readonly method: string; readonly path: string; header(name: string): string | undefined };
  get(name: any): any;
  header(name: string, value?: string): void;
}

function callerOf(context: ContextLike): Caller {
  return {
    peer: context.env?.incoming?.socket?.remoteAddress ?? null,
    header: (name) => context.req.header(name) ?? null,
    method: context.req.method,
    path: context.req.path,
    user: nameOfUser(context.get('user')),
    request: context,
  };
}

export function rateLimit(options: RateLimitOptions) {
  const gate = new Gate(options);
  const middleware = async (context: ContextLike, next: () => Promise<void>): Promise<Response | void> => {
    const { headers = {}, denial } = await gate.ask(callerOf(context));
    if (denial) return new Response(JSON.stringify(denial.body), { status: denial.status, headers: denial.headers });
    await next();
    for (const [name, value] of Object.entries(headers)) context.header(name, value);
  };
  return Object.assign(middleware, { limiter: gate.limiter, close: () => gate.close() });
}
