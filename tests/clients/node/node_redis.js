// node-redis (the package redis) 5 and 6, as an application uses it.
'use strict';

const { orders } = require('./report');
const { runAll } = require('./checks');

const redis = require(orders.package);
const { version } = require(`${orders.package}/package.json`);
const asBuffers = { [redis.RESP_TYPES.BLOB_STRING]: Buffer };

async function connect({ username, password }) {
  const client = redis.createClient({ username, password, RESP: orders.protocol,
    socket: { host: orders.host, port: orders.port,
      reconnectStrategy: (times) => (password ? false : Math.min((times + 1) * 50, 500)) } });
  client.on('error', () => {});  // told while the server is away; a failed connect() rejects
  await client.connect();
  return client;
}

function pipeline(client, commands) {
  const batch = client.multi();
  for (const command of commands) batch.addCommand(command);
  return batch.execAsPipeline();
}

async function scan(client, MATCH) {
  const found = [];
  for await (const keys of client.scanIterator({ MATCH, COUNT: 50 })) found.push(...keys);
  return found;
}

runAll({
  version,
  libName: 'node-redis',
  errorClass: redis.ErrorReply,
  connect,
  pipeline,
  scan,
  call: (client, ...args) => client.sendCommand(args),
  setBinary: (client, key, value) => client.set(key, value),
  getBinary: (client, key) => client.withTypeMapping(asBuffers).get(key),
  info: (client) => client.info(),
  close: (client) => client.destroy(),
});
