/**
 * NestJS, on Express or Fastify.
 *
 *     app.useGlobalGuards(new WeirGuard({ weir: 'redis://127.0.0.1:7000', limits: '100/1m', processes: 4 }));
 *
 * or `@UseGuards(new WeirGuard({ ... }))` of a controller or a route. Nest calls the body of a 429 application/json,
 * unless `app.useGlobalFilters(new ProblemFilter())` says that it is application/problem+json.
 */

import { Catch, HttpException } from '@nestjs/common';
import type { ArgumentsHost, CanActivate, ExceptionFilter, ExecutionContext, OnApplicationShutdown } from '@nestjs/common';

import type { Limiter } from '../limiter.js';
import { Gate } from './gate.js';
import type { Denial, RateLimitOptions } from './gate.js';
import { callerOf } from './request.js';
import type { NodeRequest, NodeResponse } from './request.js';

export * from './index.js';

type AnyRequest = NodeRequest & { raw?: NodeRequest };
type AnyResponse = NodeResponse & { raw?: NodeResponse; header(name: string, value: string): unknown };

/** A 429 whose body is a problem. */
export class TooManyRequests extends HttpException {
  /** @internal */
  constructor(readonly denial: Denial) {
    super(denial.body, denial.status);
  }
}

/** Answers TooManyRequests as application/problem+json. */
export class ProblemFilter implements ExceptionFilter<TooManyRequests> {
  catch({ denial }: TooManyRequests, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<AnyResponse & { hijack?(): unknown }>();
    response.hijack?.(); // Fastify leaves the rest to us
    const raw = response.raw ?? response;
    raw.statusCode = denial.status;
    for (const [name, value] of Object.entries(denial.headers)) raw.setHeader(name, value);
    raw.end(JSON.stringify(denial.body));
  }
}
Catch(TooManyRequests)(ProblemFilter);

/** A guard: lets pass, or throws TooManyRequests. What is no HTTP passes. */
export class WeirGuard implements CanActivate, OnApplicationShutdown {
  readonly #gate: Gate;

  constructor(options: RateLimitOptions) {
    this.#gate = new Gate(options);
  }

  get limiter(): Limiter {
    return this.#gate.limiter;
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (context.getType() !== 'http') return true;
    const http = context.switchToHttp();
    const request = http.getRequest<AnyRequest>();
    const { headers, denial } = await this.#gate.ask(callerOf(request.raw ?? request, request));
    for (const [name, value] of Object.entries(denial?.headers ?? headers ?? {})) {
      if (name !== 'Content-Type') http.getResponse<AnyResponse>().header(name, value);
    }
    if (denial) throw new TooManyRequests(denial);
    return true;
  }

  /** Ends connections that were made here. */
  onApplicationShutdown(): void {
    this.#gate.close();
  }
}
