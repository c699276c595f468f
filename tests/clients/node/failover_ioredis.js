// ioredis with sentinels, as an application uses it.
'use strict';

const { orders } = require('./report');
const { runAll } = require('./failover_checks');

const Redis = require(orders.package);

function connect(sentinels, name) {
  const client = new Redis({ sentinels, name, protocol: orders.protocol });
  client.on('error', () => {});
  client.defineCommand('add', { numberOfKeys: 1, lua: "return redis.call('INCRBY', KEYS[1], ARGV[1])" });
  return new Promise((resolve) => { client.once('ready', () => resolve(client)); });
}

runAll({
  version: require(`${orders.package}/package.json`).version,
  connect,
  incr: (client, key) => client.incr(key),
  script: (client, key, argument) => client.add(key, argument),
  pair: async (client, key) => {
    for (const [error] of await client.pipeline().incr(key).incr(key).exec()) if (error) throw error;
  },
  get: (client, key) => client.get(key),
});
