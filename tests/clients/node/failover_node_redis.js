// node-redis' sentinel client, as an application uses it.
'use strict';

const { createHash } = require('node:crypto');
const { orders } = require('./report');
const { runAll } = require('./failover_checks');

const redis = require(orders.package);

const kScript = "return redis.call('INCRBY', KEYS[1], ARGV[1])";
const kSha = createHash('sha1').update(kScript).digest('hex');

async function connect(sentinels, name) {
  const client = redis.createSentinel({ name, sentinelRootNodes: sentinels, RESP: orders.protocol });
  client.on('error', () => {});
  await client.connect();
  return client;
}

runAll({
  version: require(`${orders.package}/package.json`).version,
  connect,
  incr: (client, key) => client.incr(key),
  script: async (client, key, argument) => {
    const words = { keys: [key], arguments: [argument] };
    try {
      return await client.evalSha(kSha, words);
    } catch (error) {
      if (!String(error.message).startsWith('NOSCRIPT')) throw error;
      return client.eval(kScript, words);
    }
  },
  pair: (client, key) => client.multi().incr(key).incr(key).execAsPipeline(),
  get: (client, key) => client.get(key),
});
