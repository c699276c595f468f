/**
 * Express, Connect and other handlers of Node's http.
 *
 *     app.use(rateLimit({ weir: 'redis://127.0.0.1:7000', limits: '100/1m', processes: 4 }));
 */

import type { Limiter } from '../limiter.js';
import { Gate } from './gate.js';
import type { RateLimitOptions } from './gate.js';
import { callerOf } from './request.js';
import type { NodeRequest, NodeResponse } from './request.js';

export * from './index.js';

/** Passes on, or answers 429. A fault of the program, such as a policy that is not there, goes to `next`. */
export interface Middleware {
  (request: NodeRequest, response: NodeResponse, next: (error?: any) => void): Promise<void>;
  readonly limiter: Limiter;
  /** Ends connections that were made here. */
  close(): void;
}

export function rateLimit(options: RateLimitOptions): Middleware {
  const gate = new Gate(options);
  const middleware = async (request: NodeRequest, response: NodeResponse, next: (error?: unknown) => void) => {
    try {
      const { headers = {}, denial } = await gate.ask(callerOf(request));
      for (const [name, value] of Object.entries(denial?.headers ?? headers)) response.setHeader(name, value);
      if (denial) {
        response.statusCode = denial.status;
        response.end(JSON.stringify(denial.body));
        return;
      }
    } catch (error) {
      return next(error);
    }
    next();
  };
  return Object.assign(middleware, { limiter: gate.limiter, close: () => gate.close() });
}
