import type { Connection } from './connection/connection.js';
import { Batch } from './connection/batch.js';
import { connectionOf, connector } from './connection/make.js';
import type { ClientLike, Library } from './connection/make.js';
import { Waits } from './connection/waits.js';
import { within } from './connection/within.js';
import type { Bounds } from './connection/within.js';
import { asError, Late } from './errors.js';
import { Policies } from './policies.js';
import type { Words } from './replies.js';

export interface WeirOptions {
  /** Milliseconds after which a call that does not wait has its verdict, whatever happens. Default 100. */
  readonly deadlineMs?: number | undefined;
  /** How often it is sent again within that time, under the same ID. Default 1. */
  readonly retries?: number | undefined;
  /** Calls of one turn of the event loop are one write. Of ioredis; node-redis does so by itself. Default false. */
  readonly batch?: boolean | undefined;
  /** With a url: the client to make; the first of ioredis and redis that is installed. */
  readonly library?: Library | undefined;
  /** With a url: the library's own options, such as tls or username. */
  readonly clientOptions?: object | undefined;
}

/** What is sent together. */
export interface Sending extends Bounds {
  readonly commands: readonly Words[];
  /** Where a cluster sends it. */
  readonly key?: string | undefined;
  /** On a connection for calls that wait. */
  readonly waits?: boolean | undefined;
}

/** A weir-server, a shard, or a cluster, which limiters share. */
export class Weir {
  readonly deadlineMs: number;
  readonly retries: number;
  /** Named policies, for users with @ratelimitadmin. */
  readonly policies: Policies;
  readonly #make: (() => Connection) | null; // of a url: connections that are this Weir's own
  readonly #batch: Batch | null;
  readonly #waits: Waits;
  #connection: Connection;

  /**
   * `to` is a url, redis:// or rediss://, or a client of ioredis (Redis, its sentinels too, Cluster) or node-redis
   * (createClient, createCluster), which stays its owner's to close.
   */
  constructor(to: string | ClientLike, options: WeirOptions = {}) {
    const { deadlineMs = 100, retries = 1, batch = false } = options;
    if (!(deadlineMs > 0) || !(retries >= 0)) throw new TypeError('deadlineMs must be above 0, retries not below');
    this.deadlineMs = deadlineMs;
    this.retries = retries;
    this.#make = typeof to === 'string' ? connector(to, options.library, options.clientOptions) : null;
    this.#connection = this.#make ? this.#make() : connectionOf(to as ClientLike);
    this.#batch = batch && this.#connection.sendAll ? new Batch() : null;
    this.#waits = new Waits(this.#make ?? (() => this.#connection.duplicate()));
    this.policies = new Policies(this);
  }

  /** @internal A reply or an error for each command; throws what ended the connection, or a Late at the end. */
  send(sending: Sending): Promise<unknown[]> {
    if (sending.signal?.aborted) return Promise.reject(sending.signal.reason);
    return sending.waits ? this.#sendWaiting(sending) : this.#sendOn(this.#connection, sending);
  }

  #sendOn(connection: Connection, sending: Sending): Promise<unknown[]> {
    const late = () => connection.isReady ? new Late() : connection.trouble ?? new Late();
    return within(this.#exchange(connection, sending), { ...sending, late });
  }

  async #exchange(connection: Connection, { commands, key, end, signal, waits }: Sending): Promise<unknown[]> {
    if (!connection.isReady) {
      await connection.open();
      if (signal?.aborted || performance.now() >= end) throw new Late(); // it was given up
    }
    const batch = waits ? null : this.#batch;
    return Promise.all(commands.map((words) => (batch ? batch.send(connection, words) : connection.send(words, key))
      .catch(asError)));
  }

  async #sendWaiting(sending: Sending): Promise<unknown[]> {
    const connection = this.#waits.take();
    let isOver = false;
    try {
      const replies = await this.#sendOn(connection, sending);
      isOver = true;
      return replies;
    } finally {
      this.#waits.giveBack(connection, isOver);
    }
  }

  /** @internal Nothing was heard of a probe: a connection of our own is made anew, one that is given is left alone. */
  renew(): void {
    if (!this.#make) return;
    this.#connection.close();
    this.#connection = this.#make();
  }

  /** Ends the connections that were made here; a client that was given stays. */
  close(): void {
    this.#waits.close();
    if (this.#make) this.#connection.close();
  }
}
