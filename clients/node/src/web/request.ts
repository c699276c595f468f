/** Requests of Node's own http, which Express and Fastify build on. */

import { nameOfUser } from './keys.js';
import type { Caller } from './keys.js';

export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

export interface NodeResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body?: any): unknown;
}

/** `request` is the framework's, which may know a user and the url before routers have cut it. */
export function callerOf(raw: NodeRequest, request: object = raw): Caller {
  const { user, originalUrl } = request as { user?: unknown; originalUrl?: string };
  return {
    peer: raw.socket.remoteAddress ?? null,
    header: (name) => {
      const value = raw.headers[name.toLowerCase()];
      return Array.isArray(value) ? value.join(', ') : value ?? null;
    },
    method: raw.method ?? 'GET',
    path: (originalUrl ?? raw.url ?? '/').split('?', 1)[0]!,
    user: nameOfUser(user),
    request,
  };
}
