// ioredis 5 and 6, as an application uses it.
'use strict';

const fs = require('node:fs');

const { orders } = require('./report');
const { runAll } = require('./checks');

const Redis = require(orders.package);
const version = require(`${orders.package}/package.json`).version;
const { CLIENTS_TLS_PORT, CLIENTS_TLS_CA } = process.env;
const place = CLIENTS_TLS_PORT
  ? { host: orders.host, port: Number(CLIENTS_TLS_PORT), tls: { ca: fs.readFileSync(CLIENTS_TLS_CA) } }
  : { host: orders.host, port: orders.port };
const hasProtocol = Number(version.split('.')[0]) >= 6;

// With ioredis a wrong password is an error event; the commands would wait for a better day.
function connect({ username, password }) {
  const client = new Redis({ ...place, username, password,
    lazyConnect: true,
    ...(hasProtocol ? { protocol: orders.protocol } : {}),
    retryStrategy: (times) => (password ? null : Math.min(times * 50, 500)) });
  return new Promise((resolve, reject) => {
    client.on('error', reject);
    client.connect().then(() => resolve(client), () => {});
  });
}

async function pipeline(client, commands) {
  const replies = await client.pipeline(commands.map(([name, ...args]) =>
    [name.toLowerCase(), ...args])).exec();
  return replies.map(([error, reply]) => { if (error) throw error; return reply; });
}

async function scan(client, match) {
  const found = [];
  for await (const keys of client.scanStream({ match, count: 50 })) found.push(...keys);
  return found;
}

runAll({
  version,
  libName: 'ioredis',
  errorClass: Redis.ReplyError,
  connect,
  pipeline,
  scan,
  call: (client, ...args) => client.call(...args),
  setBinary: (client, key, value) => client.set(key, value),
  getBinary: (client, key) => client.getBuffer(key),
  info: (client) => client.info(),
  close: (client) => client.disconnect(),
});
