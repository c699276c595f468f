// ioredis and node-redis as they are when nothing is set: see ../calls/caller.py.
'use strict';

const readline = require('readline');

const name = process.env.CLIENTS_PACKAGE;
const port = Number(process.env.CLIENTS_PORT);
const { CLIENTS_USER: username, CLIENTS_PASSWORD: password } = process.env;
const readMs = Number(process.env.CLIENTS_READ_MS || 0);
const library = require(name);
const { version } = require(`${name}/package.json`);

const kinds = {
  ioredis() {
    const shared = new library({ port, ...(username ? { username, password } : {}),
      ...(readMs ? { commandTimeout: readMs } : {}) });
    const waiting = shared.duplicate({ commandTimeout: undefined });
    for (const client of [shared, waiting]) client.on('error', () => {});
    return {
      call: (words) => shared.call(...words),
      wait: (words) => waiting.call(...words),
    };
  },
  async redis() {
    const shared = library.createClient({ url: `redis://127.0.0.1:${port}`,
      ...(readMs ? { commandOptions: { timeout: readMs } } : {}) });
    const waiting = library.createClient({ url: `redis://127.0.0.1:${port}` });
    for (const client of [shared, waiting]) {
      client.on('error', () => {});
      await client.connect();
    }
    return {
      call: (words) => shared.sendCommand(words),
      wait: (words) => waiting.sendCommand(words),
    };
  },
};

function shape(reply) {
  return JSON.stringify(reply, (_, value) => (value instanceof Map ? Object.fromEntries(value) : value));
}

async function main() {
  const calls = await kinds[name.startsWith('ioredis') ? 'ioredis' : 'redis']();
  console.log(`version ${version}`);
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [number, how, ...words] = line.split(' ');
    calls[how === 'wait' ? 'wait' : 'call'](words).then(
      (reply) => console.log(
        `${number} ok ${how === 'shape' ? shape(reply) : [].concat(reply).join(' ')}`),
      (error) => console.log(`${number} error ${error.constructor.name}: ${error.message}`));
  }
  process.exit(0);
}

main();
