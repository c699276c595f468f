import { asError } from '../errors.js';
import type { Words } from '../replies.js';
import { readiness } from './connection.js';
import type { Connection, Emitter } from './connection.js';
import { known } from './names.js';

/** What is used of a Redis or a Cluster of ioredis, 5 and 6. */
export interface IoredisLike extends Emitter {
  readonly status: string;
  readonly isCluster?: boolean;
  connect(): Promise<unknown>;
  call(name: string, ...words: any[]): Promise<unknown>;
  duplicate(...options: any[]): any;
  disconnect(reconnect?: boolean): void;
  pipeline(commands?: any): any;
  sendCommand(command: any, ...more: any[]): any;
}

/** With these a connection is made when a call needs it, and a command is sent once for each time it is asked for. */
export const kIoredisOptions = {
  lazyConnect: true, enableOfflineQueue: false, maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false,
  connectTimeout: 1000, retryStrategy: () => null,
} as const;

// A client that is to connect again has a timer for that. Where one called connect() as well, the timer would connect it
// anew after its owner has ended it.
const kConnectsItself = new Set(['connecting', 'connect', 'reconnecting']);

export class IoredisConnection implements Connection {
  trouble: Error | null = null;
  readonly sendAll?: (commands: readonly Words[]) => Promise<unknown[]>;
  readonly #client: IoredisLike;
  readonly #host: string | undefined;
  #opening: Promise<void> | null = null;

  /** `host` is where it connects to, if it is made here. */
  constructor(client: IoredisLike, host?: string) {
    this.#client = client;
    this.#host = host;
    client.on('error', (error: unknown) => { this.trouble = asError(error); });
    client.on('close', () => { this.trouble ??= new Error('the connection is closed'); });
    client.on('ready', () => { this.trouble = null; });
    if (!client.isCluster) this.sendAll = (commands) => this.#pipeline(commands);
  }

  get isReady(): boolean {
    return this.#client.status === 'ready';
  }

  open(): Promise<void> {
    this.#opening ??= this.#open().finally(() => { this.#opening = null; });
    return this.#opening;
  }

  async #open(): Promise<void> {
    const client = this.#client;
    if (this.#host !== undefined) await known(this.#host);
    return readiness(client, ['close', 'end'], () => this.trouble, () => {
      if (kConnectsItself.has(client.status)) return undefined;
      this.trouble = null;
      return client.connect();
    });
  }

  send(words: Words, key: string | undefined): Promise<unknown> {
    const client = this.#client.isCluster && key !== undefined ? routed(this.#client, key) : this.#client;
    return client.call(...words as [string, ...string[]]);
  }

  async #pipeline(commands: readonly Words[]): Promise<unknown[]> {
    const pipeline = this.#client.pipeline();
    for (const words of commands) pipeline.call(...words);
    return (await pipeline.exec() as [Error | null, unknown][]).map(([error, reply]) => error ?? reply);
  }

  duplicate(): Connection {
    const { isCluster } = this.#client;
    return new IoredisConnection(isCluster
      ? this.#client.duplicate([], { lazyConnect: true, clusterRetryStrategy: () => null })
      : this.#client.duplicate({ ...kIoredisOptions, commandTimeout: undefined }));
  }

  close(): void {
    this.#client.disconnect();
  }
}

/** ioredis knows no keys of commands that are not Redis', and would send each to any node of a cluster first. */
function routed(client: IoredisLike, key: string): IoredisLike {
  return Object.create(client, {
    sendCommand: { value: (command: { keys?: string[] }, ...more: unknown[]) => {
      command.keys = [key];
      return client.sendCommand(command, ...more);
    } },
  }) as IoredisLike;
}

