// Builds dist/: ESM with types, and the same as CommonJS.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import ts from 'typescript';

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, 'dist');

function fail(diagnostics) {
  const host = { getCanonicalFileName: (name) => name, getCurrentDirectory: () => here, getNewLine: () => '\n' };
  process.stderr.write(ts.formatDiagnostics(diagnostics, host));
  process.exit(1);
}

function buildModules() {
  const config = ts.readConfigFile(join(here, 'tsconfig.json'), ts.sys.readFile).config;
  const { options, fileNames, errors } = ts.parseJsonConfigFileContent(config, ts.sys, here);
  const program = ts.createProgram(fileNames, { ...options, outDir: join(dist, 'esm') });
  const found = [...errors, ...ts.getPreEmitDiagnostics(program)];
  if (found.length) fail(found);
  for (const file of program.getSourceFiles()) {
    if (!file.isDeclarationFile && file.fileName.startsWith(join(here, 'src'))) program.emit(file);
  }
}

function buildCommon() {
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS, esModuleInterop: true };
  for (const name of readdirSync(join(here, 'src'), { recursive: true })) {
    if (!name.endsWith('.ts')) continue;
    const source = readFileSync(join(here, 'src', name), 'utf8');
    const { outputText } = ts.transpileModule(source.replaceAll('import.meta.url', '__filename'), { fileName: name, compilerOptions });
    const target = join(dist, 'cjs', name.replace(/ts$/, 'js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, outputText);
  }
  cpSync(join(dist, 'esm'), join(dist, 'cjs'), { recursive: true, filter: (name) => !name.endsWith('.js') });
  writeFileSync(join(dist, 'cjs/package.json'), '{ "type": "commonjs" }\n');
}

rmSync(dist, { recursive: true, force: true });
buildModules();
buildCommon();
