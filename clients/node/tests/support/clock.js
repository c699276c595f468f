// A clock of its own, which goes on when nothing else is to be done: what waits for long takes no time.
import { syncBuiltinESMExports } from 'node:module';
import promises from 'node:timers/promises';

const kTurns = 6; // of the event loop, in which what has been set off goes on

export class Clock {
  now = 1e6;
  #timers = new Set();

  #after(callback, ms = 0) {
    const timer = { at: this.now + Math.max(0, ms), callback, unref: () => timer };
    this.#timers.add(timer);
    return timer;
  }

  async #goOn() {
    for (let turn = 0; turn < kTurns; turn += 1) await new Promise(setImmediate);
  }

  #next() {
    let next;
    for (const timer of this.#timers) if (!next || timer.at < next.at) next = timer;
    if (!next) throw new Error('it waits for nothing');
    this.#timers.delete(next);
    this.now = Math.max(this.now, next.at);
    next.callback();
  }

  /** Of the work, by this clock. */
  async ms(work) {
    const begin = this.now;
    let end = null;
    const done = work().finally(() => { end = this.now; });
    await this.#goOn();
    while (end === null) {
      this.#next();
      await this.#goOn();
    }
    await done;
    return end - begin;
  }

  at(ms) {
    return new Promise((resolve) => { this.#after(resolve, ms - this.now); });
  }

  /** While the work runs, all goes by this clock. */
  async while(work) {
    const { setTimeout, clearTimeout, setInterval } = globalThis;
    const sleep = promises.setTimeout;
    globalThis.setTimeout = (callback, ms) => this.#after(callback, ms);
    globalThis.clearTimeout = (timer) => { this.#timers.delete(timer); };
    globalThis.setInterval = () => ({ unref: () => undefined });
    promises.setTimeout = (ms) => this.at(this.now + ms);
    performance.now = () => this.now;
    syncBuiltinESMExports();
    try {
      return await work();
    } finally {
      delete performance.now;
      promises.setTimeout = sleep;
      Object.assign(globalThis, { setTimeout, clearTimeout, setInterval });
      syncBuiltinESMExports();
    }
  }
}
