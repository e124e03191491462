#!/usr/bin/env node
/** Starts the command line on the Node that it needs: the one that `npm ci` installs, else this one when it is recent enough. Runs on Node 18 and later. */
import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isNodeRecent, NODE_NEEDED } from './needed-node.js';

const folder = dirname(realpathSync(fileURLToPath(import.meta.url)));

function installedNode() {
  try {
    const found = createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/package.json`);
    const node = join(dirname(found), 'bin', 'node');
    return existsSync(node) ? node : undefined;
  } catch {
    return undefined;
  }
}

const node = isNodeRecent ? process.execPath : installedNode();
if (node === undefined) {
  process.stderr.write(NODE_NEEDED);
  process.exit(2);
}

const child = spawn(node, [join(folder, 'curfew.ts'), ...process.argv.slice(2)], { stdio: 'inherit' });
// Ctrl-C reaches the child by itself: the terminal sends it to both. Others are passed on.
process.on('SIGINT', () => undefined);
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.once('error', error => {
  process.stderr.write(`${node} cannot be started: ${error.message}\n`);
  process.exit(2);
});
child.once('exit', (code, signal) => {
  if (signal === null) process.exit(code ?? 1);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
