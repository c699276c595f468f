// ioredis' Cluster, as an application uses it.
'use strict';

const { orders } = require('./report');
const { runAll } = require('./cluster_checks');

const Redis = require(orders.package);

function connect() {
  const client = new Redis.Cluster([{ host: orders.host, port: orders.port }], {
    clusterRetryStrategy: () => 50, retryDelayOnClusterDown: 50, retryDelayOnFailover: 50,
    redisOptions: { protocol: orders.protocol } });
  client.on('error', () => {});
  return new Promise((resolve, reject) => {
    client.once('ready', () => resolve(client));
    client.once('end', () => reject(new Error('it ended before it was ready')));
  });
}

const unwrapped = (replies) => replies.map(([error, reply]) => { if (error) throw error; return reply; });
const lower = (commands) => commands.map(([name, ...args]) => [name.toLowerCase(), ...args]);

let scripts = 0;

runAll({
  version: require(`${orders.package}/package.json`).version,
  connect,
  nodes: (client) => client.nodes('master').length,
  call: (client, key, ...args) => client.call(...args),
  pipeline: async (client, commands) => unwrapped(await client.pipeline(lower(commands)).exec()),
  multi: async (client, commands) => unwrapped(await client.multi(lower(commands)).exec()),
  scriptFor: (client, lua) => {
    const name = `script${scripts++}`;
    client.defineCommand(name, { numberOfKeys: 1, lua });
    return (key, arg) => client[name](key, arg);
  },
  close: (client) => client.disconnect(),
});
