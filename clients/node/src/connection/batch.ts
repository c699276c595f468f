import type { Words } from '../replies.js';
import type { Connection } from './connection.js';

interface Waiting {
  readonly words: Words;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Calls of one turn of the event loop in one pipeline. */
export class Batch {
  #waiting: Waiting[] = [];
  #connection: Connection | null = null;

  send(connection: Connection, words: Words): Promise<unknown> {
    if (this.#connection !== connection) this.#flush();
    return new Promise((resolve, reject) => {
      if (!this.#waiting.length) {
        this.#connection = connection;
        setImmediate(() => this.#flush());
      }
      this.#waiting.push({ words, resolve, reject });
    });
  }

  #flush(): void {
    const waiting = this.#waiting;
    const connection = this.#connection;
    this.#waiting = [];
    this.#connection = null;
    if (!connection || !waiting.length) return;
    connection.sendAll!(waiting.map(({ words }) => words)).then(
      (replies) => waiting.forEach((one, index) => one.resolve(replies[index])),
      (error: unknown) => waiting.forEach((one) => one.reject(error)));
  }
}
