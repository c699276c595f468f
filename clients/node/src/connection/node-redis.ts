import { asError } from '../errors.js';
import type { Words } from '../replies.js';
import { readiness } from './connection.js';
import type { Connection, Emitter } from './connection.js';
import { known } from './names.js';

/** What is used of a client, a sentinel client or a cluster of node-redis, 5 and 6. */
export interface NodeRedisLike extends Emitter {
  readonly isOpen: boolean;
  readonly isReady?: boolean;
  readonly options?: any;
  connect(): Promise<unknown>;
  sendCommand(...words: any[]): Promise<unknown>;
  duplicate(options?: any): any;
  destroy(): unknown;
}

/** With these a connection is made when a call needs it. */
export const kNodeRedisOptions = { disableOfflineQueue: true } as const;
export const kNodeRedisSocket = { reconnectStrategy: false, connectTimeout: 1000 } as const;

type Make = 'client' | 'sentinel' | 'cluster';

function makeOf(client: object): Make {
  return 'nodeClient' in client ? 'cluster' : 'getSentinelNode' in client ? 'sentinel' : 'client';
}

export class NodeRedisConnection implements Connection {
  trouble: Error | null = null;
  readonly #client: NodeRedisLike;
  readonly #make: Make;
  readonly #host: string | undefined;
  #opening: Promise<void> | null = null;

  /** `ours`: it is made here. Its `name` is told to the server, unless the user may not. */
  constructor(client: NodeRedisLike, ours?: { readonly host: string | undefined; readonly name: string }) {
    this.#client = client;
    this.#host = ours?.host;
    this.#make = makeOf(client);
    client.on('error', (error: unknown) => { this.trouble = asError(error); });
    client.on('ready', () => {
      this.trouble = null;
      if (ours) client.sendCommand(['CLIENT', 'SETNAME', ours.name]).catch(() => {});
    });
  }

  get isReady(): boolean {
    return this.#client.isOpen && this.#client.isReady !== false;
  }

  open(): Promise<void> {
    this.#opening ??= this.#open().finally(() => { this.#opening = null; });
    return this.#opening;
  }

  async #open(): Promise<void> {
    const client = this.#client;
    if (this.#host !== undefined) await known(this.#host);
    return readiness(client, ['error', 'end'], () => this.trouble, () => {
      if (client.isOpen) return undefined;
      this.trouble = null;
      return client.connect();
    });
  }

  send(words: Words, key: string | undefined): Promise<unknown> {
    const none = { timeout: undefined }; // the deadline of the Weir bounds it
    if (this.#make === 'cluster') return this.#client.sendCommand(key, false, words, none);
    return this.#make === 'sentinel' ? this.#client.sendCommand(false, words, none) : this.#client.sendCommand(words, none);
  }

  duplicate(): Connection {
    if (this.#make !== 'client') return new NodeRedisConnection(this.#client.duplicate());
    const socket = { ...this.#client.options?.socket, ...kNodeRedisSocket };
    return new NodeRedisConnection(this.#client.duplicate({ ...kNodeRedisOptions, socket }));
  }

  close(): void {
    if (this.#client.isOpen) this.#client.destroy();
  }
}
