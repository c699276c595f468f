/**
 * Fastify 4 and 5.
 *
 *     await app.register(rateLimit, { weir: 'redis://127.0.0.1:7000', limits: '100/1m', processes: 4 });
 */

import { Gate } from './gate.js';
import type { RateLimitOptions } from './gate.js';
import { callerOf } from './request.js';
import type { NodeRequest } from './request.js';

export * from './index.js';

export interface FastifyRateLimitOptions extends RateLimitOptions {
  /** When a request is counted: `preHandler` where a plugin has to find its user before. Default `onRequest`. */
  readonly hook?: 'onRequest' | 'preHandler' | undefined;
}

interface Reply {
  code(status: number): any;
  headers(fields: Record<string, string>): any;
  send(body: string): any;
}

/** What is used of a FastifyInstance. */
export interface FastifyLike {
  addHook(name: any, hook: any): any;
}

/** A plugin: all routes of the instance that it is registered in, and of those within, are limited. */
async function plugin(fastify: FastifyLike, options: FastifyRateLimitOptions): Promise<void> {
  const { hook = 'onRequest', ...more } = options;
  const gate = new Gate(more);
  fastify.addHook(hook, async (request: { raw: NodeRequest }, reply: Reply) => {
    const { headers, denial } = await gate.ask(callerOf(request.raw, request));
    if (denial) return reply.code(denial.status).headers(denial.headers).send(JSON.stringify(denial.body));
    if (headers) reply.headers(headers);
    return undefined;
  });
  fastify.addHook('onClose', async () => gate.close());
}

// As fastify-plugin does it: the hooks are of the instance itself, not of one within.
export const rateLimit = Object.assign(plugin, {
  [Symbol.for('skip-override')]: true,
  [Symbol.for('fastify.display-name')]: 'weir-client',
  [Symbol.for('plugin-meta')]: { name: 'weir-client', fastify: '>=4' },
});
