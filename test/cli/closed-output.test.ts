import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const SCENARIOS = join(ROOT, 'examples', 'scenarios');

describe('a command whose reader has seen enough', () => {
  it('ends without a complaint, as under `| head -1`', async () => {
    const files = readdirSync(SCENARIOS)
      .filter(name => name.startsWith('drain-') && name.endsWith('.yaml'))
      .map(name => join(SCENARIOS, name));
    const child = spawn(process.execPath, [join(ROOT, 'cli', 'curfew.ts'), 'simulate', ...files], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.once('data', () => child.stdout.destroy());
    const [stderr] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect(stderr).toBe('');
    expect(child.exitCode).toBe(0);
  }, 60_000);
});

it('`simulate -` reads standard input', async () => {
  const child = spawn(process.execPath, [join(ROOT, 'cli', 'curfew.ts'), 'simulate', '-']);
  child.stdin.end(readFileSync(join(SCENARIOS, 'refusals-are-said-once.yaml')));
  const [stdout] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  expect(stdout).toContain('ok refusals-are-said-once');
}, 60_000);
