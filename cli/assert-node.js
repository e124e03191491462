/**
 * Runs before the scripts of package.json that run TypeScript: they need the Node that package.json pins (without it, on an unusual platform,
 * any Node from 24 on), and what `npm ci` installs, for development too.
 */
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { isNodeRecent, NODE_NEEDED } from './needed-node.js';

if (!isNodeRecent) end(NODE_NEEDED);
try {
  createRequire(import.meta.url).resolve('vitest/package.json');
} catch {
  end(
    `The packages for development are not installed: run "npm ci --include=dev --include=optional" in ${dirname(import.meta.dirname)}.\n`,
  );
}

/** @param {string} message */
function end(message) {
  process.stderr.write(message);
  process.exit(2);
}
