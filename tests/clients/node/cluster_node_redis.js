// node-redis' cluster client, as an application uses it.
'use strict';

const { orders } = require('./report');
const { runAll } = require('./cluster_checks');

const redis = require(orders.package);

async function connect() {
  const client = redis.createCluster({ RESP: orders.protocol,
    rootNodes: [{ url: `redis://${orders.host}:${orders.port}` }],
    defaults: { socket: { reconnectStrategy: () => 50 } } });
  client.on('error', () => {});
  await client.connect();
  return client;
}

function multi(client, commands) {
  const batch = client.multi(commands[0][1]);
  for (const command of commands) batch.addCommand(command[1], false, command);
  return batch;
}

runAll({
  version: require(`${orders.package}/package.json`).version,
  connect,
  nodes: (client) => client.masters.length,
  call: (client, key, ...args) => client.sendCommand(key, false, args),
  pipeline: (client, commands) => multi(client, commands).execAsPipeline(),
  multi: (client, commands) => multi(client, commands).exec(),
  scriptFor: (client, text) => {
    const sha = require('node:crypto').createHash('sha1').update(text).digest('hex');
    return async (key, arg) => {
      try {
        return await client.evalSha(sha, { keys: [key], arguments: [arg] });
      } catch (error) {
        if (!error.message.startsWith('NOSCRIPT')) throw error;
        return client.eval(text, { keys: [key], arguments: [arg] });
      }
    };
  },
  close: (client) => client.destroy(),
});
