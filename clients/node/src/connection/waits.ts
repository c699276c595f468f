import type { Connection } from './connection.js';

const kIdleMax = 4;

/** Connections for calls that wait, one for each: on one, calls wait one after the other. */
export class Waits {
  readonly #make: () => Connection;
  readonly #idle: Connection[] = [];
  readonly #busy = new Set<Connection>();

  constructor(make: () => Connection) {
    this.#make = make;
  }

  take(): Connection {
    const connection = this.#idle.pop() ?? this.#make();
    this.#busy.add(connection);
    return connection;
  }

  /** `isOver`: its call was answered. A connection whose call is given up ends: who has gone takes nothing. */
  giveBack(connection: Connection, isOver: boolean): void {
    if (!this.#busy.delete(connection)) return;
    if (isOver && this.#idle.length < kIdleMax) this.#idle.push(connection);
    else connection.close();
  }

  close(): void {
    for (const connection of [...this.#idle.splice(0), ...this.#busy]) connection.close();
    this.#busy.clear();
  }
}
