/** Connections of a url or of a client that is given. */

import { createRequire } from 'node:module';
import { hostname } from 'node:os';

import type { Connection } from './connection.js';
import { IoredisConnection, kIoredisOptions } from './ioredis.js';
import type { IoredisLike } from './ioredis.js';
import { kNodeRedisOptions, kNodeRedisSocket, NodeRedisConnection } from './node-redis.js';
import type { NodeRedisLike } from './node-redis.js';

export type Library = 'ioredis' | 'redis';
export type ClientLike = IoredisLike | NodeRedisLike;

const load = createRequire(import.meta.url);

/** By which weir counts the callers of a policy: one a process. */
export function nameOfProcess(): string {
  return `weir-${hostname().replace(/[^\w.-]/g, '-').slice(0, 48)}-${process.pid}`;
}

export function connectionOf(client: ClientLike): Connection {
  return 'call' in client ? new IoredisConnection(client as IoredisLike) : new NodeRedisConnection(client as NodeRedisLike);
}

function isMissing(error: unknown): boolean {
  return (error as { code?: string }).code === 'MODULE_NOT_FOUND';
}

/** The module of the library, or of the first that is installed. */
function loaded(library: Library | undefined): [Library, any] {
  for (const name of library ? [library] : ['ioredis', 'redis'] as const) {
    try {
      return [name, load(name)];
    } catch (error) {
      if (library || !isMissing(error)) throw error;
    }
  }
  throw new Error('weir needs a Redis client: install ioredis or redis');
}

/** The host of the url, unless the library's options name another place. */
function hostOf(url: string, options: object = {}): string | undefined {
  if ('host' in options || 'path' in options || 'sentinels' in options) return undefined;
  return new URL(url).hostname.replace(/^\[|\]$/g, '');
}

/** Makes connections to the url; `options` are the library's own. */
export function connector(url: string, library: Library | undefined, options: object = {}): () => Connection {
  if (!/^rediss?:\/\//.test(url)) throw new TypeError(`a url begins with redis:// or rediss://, got '${url}'`);
  const [name, module] = loaded(library);
  if (name === 'ioredis') {
    return () => new IoredisConnection(new module.Redis(url, {
      ...kIoredisOptions, connectionName: nameOfProcess(), ...options }), hostOf(url, options));
  }
  const { socket, ...more } = options as { socket?: object };
  return () => new NodeRedisConnection(module.createClient({
    url, ...kNodeRedisOptions, ...more, socket: { ...kNodeRedisSocket, ...socket } }), { host: hostOf(url, socket), name: nameOfProcess() });
}
