// A weir-server for tests, on a free port and a directory of its own.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { Redis } from 'ioredis';

export { kPatient } from './timing.js';

export const kProgram = process.env.WEIR_SERVER
  ?? fileURLToPath(new URL('../../../../build/release/weir-server', import.meta.url));
export const kLibraries = ['ioredis', 'redis'];
const kPatienceMs = 60_000;

export { pause };

export async function waitUntil(condition, what, pauseMs = 20) {
  const end = performance.now() + kPatienceMs;
  while (!await condition()) {
    if (performance.now() > end) throw new Error(`not within ${kPatienceMs} ms: ${what}`);
    await pause(pauseMs);
  }
}

export function freePort() {
  return new Promise((resolve, reject) => {
    const probe = net.createServer().on('error', reject).listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/** Whether a server answers PING, in whatever words. */
function answers(port) {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => { socket.write('PING\r\n'); });
    socket.on('data', (data) => { resolve(!data.includes('LOADING')); socket.destroy(); });
    socket.on('error', () => {});
    socket.on('close', () => resolve(false));
  });
}

const kRunning = new Set();
process.on('exit', () => { for (const child of kRunning) child.kill('SIGKILL'); });

export class WeirServer {
  constructor(port, options) {
    this.folder = mkdtempSync(join(tmpdir(), 'weir-client-'));
    this.port = port;
    this.options = options;
    this.url = `redis://127.0.0.1:${port}`;
  }

  /** A server that answers, and ends with the test `t`. */
  static async of(t, ...options) {
    const server = new WeirServer(await freePort(), options);
    t.after(() => server.end());
    return server.start();
  }

  get lives() {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  async start() {
    this.child = spawn(kProgram, ['--port', this.port, '--dir', join(this.folder, 'data'), ...this.options].map(String),
      { stdio: 'ignore' });
    this.child.unref(); // where a test leaves it running, the process ends all the same, and it with that
    kRunning.add(this.child);
    await waitUntil(async () => {
      if (!this.lives) throw new Error('weir-server has ended');
      return answers(this.port);
    }, 'weir answers');
    return this;
  }

  /** kill -9. */
  async kill() {
    if (!this.lives) return;
    this.child.ref();
    const ended = new Promise((resolve) => { this.child.once('exit', resolve); });
    this.child.kill('SIGKILL');
    await ended;
    kRunning.delete(this.child);
  }

  signal(name) {
    this.child.kill(name);
  }

  /** A command on a connection of its own, beside what is tested. */
  call(...words) {
    return this.callAs(undefined, ...words);
  }

  /** The same of a process with this name. */
  async callAs(connectionName, ...words) {
    const client = new Redis({ port: this.port, connectionName, lazyConnect: true, retryStrategy: () => null, enableReadyCheck: false, protocol: 2,
      connectTimeout: 30_000 });
    client.on('error', () => {});
    try {
      await client.connect();
      return await client.call(...words);
    } finally {
      client.disconnect();
    }
  }

  /** How often this command was called. */
  async calls(command) {
    const stats = String(await this.call('INFO', 'commandstats'));
    return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
  }

  async end() {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
