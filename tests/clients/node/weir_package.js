// Builds clients/node and runs its tests, and says each one's outcome in the lines of ../harness/session.py.
// CLIENTS_PACKAGE and CLIENTS_VIA are the ioredis and the node-redis among the packages of NODE_PATH; CLIENTS_TESTS is the
// end of the files' names: test, or long for those that need minutes.
'use strict';

const { spawnSync } = require('node:child_process');
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { run } = require('node:test');

const { orders, say, check, done } = require('./report');

const kPackage = path.resolve(__dirname, '../../../clients/node');
const kPackages = process.env.NODE_PATH;
const kWithoutServer = ['conformance.test.js', 'keys.test.js'];
const kPartSeconds = process.env.CLIENTS_TESTS === 'long' ? 0 : 200; // 0: as long as they take
const kAtOnce = 3; // files: most of their tests wait for something

// The package as it is, beside the modules that it finds by their own names.
function laidOut() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weir-package-'));
  process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  for (const name of ['src', 'tests', 'build.js', 'package.json', 'tsconfig.json', 'README.md']) {
    fs.cpSync(path.join(kPackage, name), path.join(folder, name), { recursive: true });
  }
  const modules = path.join(folder, 'node_modules');
  fs.mkdirSync(modules);
  for (const name of fs.readdirSync(kPackages)) fs.symlinkSync(path.join(kPackages, name), path.join(modules, name));
  for (const [name, source] of [['ioredis', orders.package], ['redis', orders.via]]) {
    fs.rmSync(path.join(modules, name), { force: true });
    fs.symlinkSync(path.join(kPackages, source), path.join(modules, name));
  }
  return folder;
}

// Beside the folder of the installed modules: what was built of the same sources once.
function keptBuild(folder) {
  const digest = createHash('sha256');
  for (const source of ['src', 'build.js', 'package.json', 'tsconfig.json']) {
    const from = path.join(folder, source);
    const isFolder = fs.statSync(from).isDirectory();
    const names = isFolder ? fs.readdirSync(from, { recursive: true }).sort().filter((name) => name.endsWith('.ts')) : [''];
    for (const name of names) digest.update(`${source} ${name}\n`).update(fs.readFileSync(path.join(from, name)));
  }
  return path.join(path.dirname(kPackages), `dist-${digest.digest('hex').slice(0, 12)}`);
}

function build(folder) {
  const kept = keptBuild(folder);
  const dist = path.join(folder, 'dist');
  if (!fs.existsSync(kept)) {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['build.js'], { cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(stdout + stderr);
    const whole = fs.mkdtempSync(`${kept}-`);
    fs.cpSync(dist, whole, { recursive: true });
    if (!fs.existsSync(kept)) fs.renameSync(whole, kept);
  } else {
    fs.cpSync(kept, dist, { recursive: true });
  }
}

const words = (error) => String(error?.cause?.message ?? error?.message ?? error).replace(/\s+/g, ' ').slice(0, 600);

// A test once, under the name of those that it is part of.
function test(folder) {
  const files = fs.readdirSync(path.join(folder, 'tests')).filter((name) => (orders.isWeir
    ? name.endsWith(`.${process.env.CLIENTS_TESTS}.js`) : kWithoutServer.includes(name)))
    .map((name) => path.join(folder, 'tests', name));
  return new Promise((resolve) => {
    const above = new Map(); // by file: the names of the tests that run
    const nameOf = ({ file, nesting, name }) => {
      const names = [...(above.get(file) ?? []).slice(0, nesting), name];
      return [path.basename(file ?? '', '.js').replace(/\.\w+$/, ''), ...names].join(' ').replaceAll(':', '');
    };
    run({ files, concurrency: kAtOnce, timeout: kPartSeconds ? kPartSeconds * 1000 : undefined })
      .on('test:start', ({ file, nesting, name }) => {
        above.set(file, [...(above.get(file) ?? []).slice(0, nesting), name]);
      })
      .on('test:pass', (event) => {
        if (event.skip !== undefined) say(`skip ${nameOf(event)}: ${event.skip || 'no reason given'}`);
        else if (event.details?.type !== 'suite') say(`ok ${nameOf(event)}`);
      })
      .on('test:fail', (event) => say(`not ok ${nameOf(event)}: ${words(event.details?.error)}`))
      .on('test:diagnostic', ({ message }) => {
        const [, name, figure] = /^(\w+): (.+)/.exec(message) ?? [];
        if (name) say(`figure ${name} ${figure}`);
      })
      .on('end', resolve)
      .resume();
  });
}

async function main() {
  const versions = [orders.package, orders.via].map((name) => require(`${name}/package.json`).version);
  say(`version ${versions.join(', ')}`);
  process.env.WEIR_SERVER = process.env.CLIENTS_PROGRAM;
  process.env.WEIR_CONFORMANCE = `${path.resolve(kPackage, '../conformance')}/`;
  const folder = laidOut();
  let isBuilt = false;
  await check('build-and-types', () => {
    build(folder);
    isBuilt = true;
  });
  if (isBuilt) await test(folder);
  done();
}

main();
