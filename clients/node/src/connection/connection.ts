/** What the clients of different makes have in common. */

import { asError } from '../errors.js';
import type { Words } from '../replies.js';

/** A client that is connected, or will be when it is asked. */
export interface Connection {
  readonly isReady: boolean;
  /** Why it is not, where that is known. */
  readonly trouble: Error | null;
  /** Connects, once for all who ask meanwhile; throws when it was refused or cut. */
  open(): Promise<void>;
  /** `key` is where a cluster sends it. Called in one turn, several are sent in their order. */
  send(words: Words, key: string | undefined): Promise<unknown>;
  /** All in one write, where the client does not do so by itself; an error stands for its reply. */
  sendAll?(commands: readonly Words[]): Promise<unknown[]>;
  /** Another one with the same settings, for calls that wait. */
  duplicate(): Connection;
  /** Ends it at once. */
  close(): void;
}

/** Remembers why a client is not connected. Both makes tell by events of these names. */
export interface Emitter {
  on(event: string, listener: (...words: any[]) => void): unknown;
  once(event: string, listener: (...words: any[]) => void): unknown;
  removeListener(event: string, listener: (...words: any[]) => void): unknown;
}

/** Waits for `ready`; `broken` are the events that say it comes not now. `start` begins to connect. */
export function readiness(client: Emitter, broken: readonly string[], trouble: () => Error | null,
  start: () => Promise<unknown> | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onReady = () => settle(resolve);
    const onBroken = () => settle(() => reject(trouble() ?? new Error('the connection is closed')));
    const settle = (done: () => void) => {
      client.removeListener('ready', onReady);
      for (const event of broken) client.removeListener(event, onBroken);
      done();
    };
    client.on('ready', onReady);
    for (const event of broken) client.on(event, onBroken);
    start()?.then(onReady, (error: unknown) => settle(() => reject(trouble() ?? asError(error))));
  });
}
