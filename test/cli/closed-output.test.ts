import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../../cli/program.ts';
import { SCENARIO_HEAD } from '../builders/scenario.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SCENARIOS = join(ROOT, 'examples', 'scenarios');

describe('a command whose reader has seen enough', () => {
  it('ends without a complaint, as under `| head -1`', async () => {
    const files = readdirSync(SCENARIOS)
      .filter(name => name.startsWith('drain-a') && name.endsWith('.yaml'))
      .map(name => join(SCENARIOS, name));
    expect(await untilFirstOutput(['simulate', ...files])).toEqual({ code: 0, stderr: '' });
  });

  it.each([['text'], ['json']])('says by its exit code what the rest came to, as %s', async form => {
    const folder = mkdtempSync(join(tmpdir(), 'curfew-closed-'));
    const failing = join(folder, 'failing.yaml');
    writeFileSync(failing, `${SCENARIO_HEAD}  expect: [{ write: { verb: delete } }]\n`);
    const good = Array.from({ length: 4 }, () => join(SCENARIOS, 'drain-answers.yaml'));
    const ended = await untilFirstOutput(['simulate', ...good, failing, '--output', form]);
    expect(ended).toEqual({ code: 1, stderr: '' });
    rmSync(folder, { recursive: true });
  });
});

it('`simulate -` reads standard input', async () => {
  const child = spawn(process.execPath, [join(ROOT, 'cli', 'curfew.ts'), 'simulate', '-']);
  child.stdin.end(readFileSync(join(SCENARIOS, 'refusals-are-said-once.yaml')));
  const [stdout] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  expect(stdout).toContain('ok refusals-are-said-once');
});

it('the page is there before the first line of the text, whose reader may have seen enough', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'curfew-page-'));
  const [scenario, other] = ['do-not-disrupt-too-long.yaml', 'do-not-disrupt-any-kind-of-pod.yaml'].map(name =>
    join(SCENARIOS, name),
  );
  const trace = join(folder, 'trace.jsonl');
  writeFileSync(trace, await printed(['simulate', `${scenario}`, '--output', 'jsonl'], () => undefined));
  for (const [index, args] of [
    ['simulate', `${scenario}`],
    ['compare', `${scenario}`, `${other}`],
    ['audit', '--from-audit', trace],
  ].entries()) {
    const page = join(folder, `${index}.html`);
    let wasThere: boolean | undefined;
    await printed([...args, '--html', page], () => (wasThere ??= existsSync(page)));
    expect({ args, wasThere }).toEqual({ args, wasThere: true });
  }
  rmSync(folder, { recursive: true });
});

/** How a command ends whose output is closed after its first part. */
async function untilFirstOutput(args: readonly string[]): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [join(ROOT, 'cli', 'curfew.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.once('data', () => child.stdout.destroy());
  const [stderr] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { code: child.exitCode, stderr };
}

/** What a command prints; `onOutput` is called before each part. */
async function printed(args: readonly string[], onOutput: () => void): Promise<string> {
  let all = '';
  const out = (part: string): void => {
    onOutput();
    all += part;
  };
  await runCommandLine(args, { out, error: () => undefined });
  return all;
}
