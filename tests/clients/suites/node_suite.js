// Runs the tests that a Node package carries against a server: CLIENTS_PACKAGE's, over CLIENTS_VIA.
// The package is copied out of the cache, so that a test may write, and is given clients that know
// the server's port where a test leaves it out. A line per test, as harness/session.py wants it; a
// test that fails is tried again, as many of them measure time on a machine that may be busy.
'use strict';

const fs = require('node:fs');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { run } = require('node:test');

const { env } = process;
const kTries = 6;
const port = Number(env.CLIENTS_PORT);
const say = (line) => fs.writeSync(1, line + '\n');
const oneLine = (text) => String(text).replace(/\s+/g, ' ').replace(/: /g, ' - ').trim();
const installed = (name) => path.join(env.NODE_PATH, name);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weir-suite-'));
const copy = path.join(folder, 'package');

function report(name, error) {
  const why = error ? `${error.name}: ${error.message}`.replace(/\s+/g, ' ').slice(0, 400) : '';
  say(error ? `not ok ${oneLine(name)}: ${why}` : `ok ${oneLine(name)}`);
}

// Both servers are to keep one promise. Nothing is killed here, and the tests count milliseconds.
async function syncEverySecond() {
  const socket = net.connect(port, '127.0.0.1');
  socket.write('CONFIG SET appendfsync everysec\r\n');
  const reply = await new Promise((resolve, reject) => {
    socket.once('data', resolve).once('error', reject);
  });
  if (!String(reply).startsWith('+OK')) throw new Error(`the server says ${reply}`);
  socket.destroy();
}

// A module that stands before the real client and puts in the port.
function addClient(name, real, text) {
  const place = path.join(folder, 'node_modules', name);
  fs.mkdirSync(place, { recursive: true });
  fs.writeFileSync(path.join(place, 'index.js'),
    text.replace('REAL', JSON.stringify(installed(real))).replace('PORT', String(port)));
}

const kIoredis = `const Redis = require(REAL);
const at = { host: '127.0.0.1', port: PORT };
module.exports = class extends Redis {
  constructor(options) { super(options && options.port ? options : { ...at, ...options }); }
};
module.exports.Cluster = Redis.Cluster;
`;

const kNodeRedis = `const redis = require(REAL);
const at = { host: '127.0.0.1', port: PORT };
module.exports = { ...redis, createClient: (options) => redis.createClient({ ...at, ...options }) };
`;

async function bottleneck() {
  Object.assign(env, { REDIS_HOST: '127.0.0.1', REDIS_PORT: String(port),
    DATASTORE: env.CLIENTS_VIA === 'ioredis' ? 'ioredis' : 'redis' });
  const { default: Mocha } = await import(pathToFileURL(require.resolve('mocha')).href);
  class Reporter {
    constructor(runner) {
      runner.on('pass', (test) => report(test.fullTitle()));
      runner.on('fail', (test, error) => report(test.fullTitle(), error));
    }
  }
  const mocha = new Mocha({ reporter: Reporter, retries: kTries - 1, timeout: 10000 });
  const tests = path.join(copy, 'test');
  for (const file of fs.readdirSync(tests).filter((name) => name.endsWith('.js')).sort()) {
    if (!['bottleneck.js', 'context.js'].includes(file)) mocha.addFile(path.join(tests, file));
  }
  await new Promise((resolve) => mocha.run(resolve));
}

// One run of a file of node:test: whether each of its tests passed.
async function tried(file) {
  const results = new Map();
  const events = run({ files: [file], concurrency: false });
  let suite = '';
  events.on('test:start', ({ name, nesting }) => { if (nesting === 0) suite = name; });
  const note = ({ name, nesting, details }) => {
    if (nesting > 0) results.set(`${suite} - ${name}`, details.error?.cause ?? details.error);
  };
  events.on('test:pass', note);
  events.on('test:fail', note);
  for await (const _ of events);
  return results;
}

async function fastifyRateLimit() {
  const file = path.join(copy, 'test/redis-rate-limit.test.js');
  const address = 'host: REDIS_HOST';
  const text = fs.readFileSync(file, 'utf8');
  if (!text.includes(address)) throw new Error('the tests name their server in another way');
  fs.writeFileSync(file, text.replaceAll(address, `${address}, port: ${port}`));
  const results = await tried(file);
  for (let again = 1; again < kTries && [...results.values()].some(Boolean); again += 1) {
    for (const [name, error] of await tried(file)) if (!error) results.set(name, undefined);
  }
  for (const [name, error] of results) report(name, error);
}

const kSuites = { bottleneck, '@fastify/rate-limit': fastifyRateLimit };

async function main() {
  try {
    const source = installed(env.CLIENTS_PACKAGE);
    say(`version ${JSON.parse(fs.readFileSync(path.join(source, 'package.json'))).version}`);
    await syncEverySecond();
    fs.cpSync(source, copy, { recursive: true });
    process.chdir(copy);  // as the package's own test script would have it
    addClient('ioredis', 'ioredis', kIoredis);
    addClient('redis', 'redis3', kNodeRedis);
    await kSuites[env.CLIENTS_PACKAGE]();
    say('done');
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
  process.exit(0);
}

main();
