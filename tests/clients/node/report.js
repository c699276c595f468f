// What every Node program of tests/clients shares: its orders, its report, its callers.
// The lines it writes are described in ../harness/session.py.
'use strict';

const assert = require('node:assert');
const readline = require('node:readline');
const { isDeepStrictEqual } = require('node:util');

const env = process.env;
const orders = {
  host: '127.0.0.1',
  port: Number(env.CLIENTS_PORT),
  protocol: Number(env.CLIENTS_PROTOCOL),
  isWeir: env.CLIENTS_SERVER === 'weir',
  isDurable: env.CLIENTS_DURABLE === '1',
  package: env.CLIENTS_PACKAGE,
  via: env.CLIENTS_VIA,  // the package a limiter library speaks through
};

class Skip extends Error {}

const say = (line) => process.stdout.write(line + '\n');
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const range = (count) => Array.from({ length: count }, (_, index) => index);
const sorted = (list) => [...list].sort((a, b) => a - b);
const oneLine = (error) => `${error.name}: ${error.message}`.replace(/\s+/g, ' ').slice(0, 600);

async function check(name, body) {
  try {
    await body();
    say(`ok ${name}`);
  } catch (error) {
    say(error instanceof Skip ? `skip ${name}: ${error.message}` : `not ok ${name}: ${oneLine(error)}`);
  }
}

const brief = (value) => (JSON.stringify(value) ?? String(value)).slice(0, 250);

function equal(got, wanted, what = 'got') {
  assert(isDeepStrictEqual(got, wanted), `${what} ${brief(got)}, wanted ${brief(wanted)}`);
}

function between(low, got, high, what = 'got') {
  assert(low <= got && got <= high, `${what} ${got}, wanted ${low} to ${high}`);
}

// The library's own error of this class, with the server's words in it.
async function refused(kind, text, call) {
  let got;
  try {
    got = await call();
  } catch (error) {
    assert(error instanceof kind, `${oneLine(error)} is no ${kind.name}`);
    assert(error.message.includes(text), `the error says ${error.message}, wanted ${text}`);
    return;
  }
  assert.fail(`got ${brief(got)}, wanted an error with ${text}`);
}

function needWeir(why = 'Redis has no CL.THROTTLE') {
  if (!orders.isWeir) throw new Skip(why);
}

function needDurable() {
  if (!orders.isDurable) throw new Skip('the server keeps nothing over a restart');
}

const input = readline.createInterface({ input: process.stdin });
const lines = input[Symbol.asyncIterator]();

// Has the server killed and started again; resolves when it answers.
async function restartServer() {
  say('restart');
  if ((await lines.next()).done) process.exit(1);
}

// Has an owner of a cluster give a slot to another; resolves when all of them say so.
async function moveSlot(slot) {
  say(`move ${slot}`);
  if ((await lines.next()).done) process.exit(1);
}

function done() {
  say('done');
  process.exit(0);
}

module.exports = { orders, Skip, say, pause, range, sorted, check, equal, between, refused, needWeir,
  needDurable, restartServer, moveSlot, done };
