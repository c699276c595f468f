// Limiters of Bottleneck in two processes, this one and one that it starts (this file, forked).
// Both are told the same, and each job is noted when it begins and when it ends.
'use strict';

const { fork } = require('node:child_process');
const Bottleneck = require('bottleneck');
const { orders, pause, range } = require('./report');

function clientOptions() {
  const address = { host: orders.host, port: orders.port };
  if (orders.via !== 'ioredis') return { ...address, retry_strategy: () => 50 };
  return { ...address, protocol: orders.protocol, retryStrategy: () => 50,
    maxRetriesPerRequest: null };
}

const datastore = () => ({ datastore: orders.via === 'ioredis' ? 'ioredis' : 'redis',
  Redis: require(orders.via), clientOptions: clientOptions() });

// What one process does: limiters by name, whose events go to note().
class Side {
  constructor(note) {
    this.note = note;
    this.limiters = {};
  }

  async make({ name, count = 1, options }) {
    this.limiters[name] = range(count).map(() => {
      const limiter = new Bottleneck({ ...datastore(), id: name, ...options });
      limiter.on('error', (error) => this.note({ name, what: 'error', why: String(error) }));
      limiter.on('message', (text) => this.note({ name, what: 'message', text }));
      return limiter;
    });
    await Promise.all(this.limiters[name].map((limiter) => limiter.ready()));
  }

  // Each limiter is given the jobs; nobody waits for them, but the notes tell.
  schedule({ name, jobs, ms = 0 }) {
    const note = (what) => this.note({ name, what, at: Date.now() });
    for (const limiter of this.limiters[name]) {
      for (const _ of range(jobs)) {
        limiter.schedule(async () => { note('begin'); await pause(ms); note('end'); })
          .catch((error) => this.note({ name, what: 'refused', why: error.message }));
      }
    }
  }

  // What the limiters had begun is cut off, and no failure of theirs.
  async drop({ name }) {
    for (const limiter of this.limiters[name]) {
      limiter.removeAllListeners('error');
      await limiter.disconnect(false);
    }
    delete this.limiters[name];
  }
}

// Both processes: what is asked of the pair is asked of each.
class Pair {
  constructor() {
    this.notes = [];
    this.side = new Side((note) => this.notes.push({ ...note, side: 'here' }));
    this.child = fork(__filename, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.waiting = [];
    this.child.on('message', (message) => {
      if (message.done) this.waiting.shift()();
      else this.notes.push({ ...message, side: 'there' });
    });
  }

  async both(what, details) {
    const there = new Promise((resolve) => this.waiting.push(resolve));
    this.child.send({ what, details });
    await Promise.all([this.side[what](details), there]);
  }

  limiter(name) { return this.side.limiters[name][0]; }

  of(name, what) { return this.notes.filter((note) => note.name === name && note.what === what); }
}

async function obey({ what, details }) {
  await side[what](details);
  process.send({ done: true });
}

const side = require.main === module ? new Side((note) => process.send(note)) : null;
if (side) {
  process.on('message', obey);
  process.on('disconnect', () => process.exit(0));
}

module.exports = { Bottleneck, Pair, datastore };
