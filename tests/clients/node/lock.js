// Makes package-lock.json anew from package.json: `node lock.js`, or `node lock.js weir_package` for
// those of that folder. No registry's address and no sponsor's gets into it, nor msgpackr's optional native part: a lock file that lists it is refused
// where a registry has not every platform's build of it.
'use strict';

const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const isNativeExtra = (name) => /msgpackr-extract|node-gyp-build-optional-packages/.test(name);

function cleaned(lock) {
  for (const [name, entry] of Object.entries(lock.packages)) {
    delete entry.funding;
    if (isNativeExtra(name)) delete lock.packages[name];
    for (const other of Object.keys(entry.optionalDependencies ?? {})) {
      if (isNativeExtra(other)) delete entry.optionalDependencies[other];
    }
  }
  return lock;
}

const source = path.join(__dirname, process.argv[2] ?? '.');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weir-clients-lock-'));
try {
  fs.copyFileSync(path.join(source, 'package.json'), path.join(folder, 'package.json'));
  execFileSync('npm', ['install', '--package-lock-only', '--omit-lockfile-registry-resolved',
    '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit' });
  const lock = JSON.parse(fs.readFileSync(path.join(folder, 'package-lock.json'), 'utf8'));
  fs.writeFileSync(path.join(source, 'package-lock.json'),
    JSON.stringify(cleaned(lock), null, 2) + '\n');
} finally {
  fs.rmSync(folder, { recursive: true });
}
