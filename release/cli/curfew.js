#!/usr/bin/env node
/** The command of the released package. Older versions of Node read this file, and are told which one is needed. */
const NEEDED = 24;

if (Number(process.versions.node.split('.')[0]) < NEEDED) {
  process.stderr.write(
    `curfew needs Node ${NEEDED} or later, this is ${process.version}: install it from https://nodejs.org.\n`,
  );
  process.exitCode = 2;
} else {
  await import('../lib/curfew.mjs');
}
