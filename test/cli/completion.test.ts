/** The scripts for shells, by running those shells that there are. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { completedCommands } from '../../cli/completion/words.ts';
import { createProgram } from '../../cli/program.ts';
import { runHere } from './run-curfew.ts';

const has = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0;
const SHELLS = ['bash', 'zsh', 'fish'] as const;
for (const shell of SHELLS.filter(each => !has(each)))
  process.stderr.write(`${shell} is not on PATH: its completion is not run\n`);

let folder: string;
const file = (shell: string): string => join(folder, `curfew.${shell}`);
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'curfew-completion-'));
  for (const shell of SHELLS) writeFileSync(file(shell), (await runHere(['completion', shell])).stdout);
  writeFileSync(join(folder, 'day.yaml'), '');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What bash offers at the end of a line; words as bash cuts them. */
function inBash(line: string): readonly string[] {
  const words = line.split(/ |(?<=^|[^ ])(=)/).filter(word => word !== undefined);
  const list = words.map(word => `'${word}'`).join(' ');
  const script = `cd ${folder}; source ${file('bash')}; COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _curfew; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n').filter(Boolean);
}

describe.runIf(has('bash'))('in bash', () => {
  it.each<[string, readonly string[]]>([
    ['curfew si', ['simulate']],
    ['curfew help va', ['validate']],
    ['curfew policies a', ['admission']],
    ['curfew rbac ', ['finalizerrules', 'hooks', '--help']],
    ['curfew simulate --fau', ['--faults']],
    ['curfew simulate --faults l', ['light']],
    ['curfew simulate --faults=h', ['heavy']],
    ['curfew simulate da', ['day.yaml']],
    ['curfew explain --kubeconfig da', ['day.yaml']],
    ['curfew explain --context x', []],
    ['curfew completion z', ['zsh']],
    ['curfew validate --output ', ['text', 'json']],
  ])('%s', (line, offered) => {
    expect(inBash(line)).toEqual(offered);
  });

  it('offers every command and every option that there is', () => {
    const program = createProgram({ out: () => undefined, error: () => undefined }, () => undefined);
    for (const { path, options, commands } of completedCommands(program)) {
      const offered = inBash(['curfew', ...path, ''].join(' '));
      const long = options.flatMap(({ names }) => names.filter(name => name.startsWith('--')));
      expect(offered).toEqual(expect.arrayContaining([...commands.map(({ name }) => name), ...long]));
    }
  });
});

describe.runIf(has('zsh'))('in zsh', () => {
  it('is a script that zsh reads', () => {
    expect(spawnSync('zsh', ['-n', file('zsh')], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  });
});

describe.runIf(has('fish'))('in fish', () => {
  it('offers commands and choices', () => {
    const offered = (line: string): string => {
      const script = `source ${file('fish')}; complete -C ${JSON.stringify(line)}`;
      const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', script], { encoding: 'utf8' });
      expect(stderr).toBe('');
      return stdout;
    };
    expect(offered('curfew si')).toMatch(/^simulate\t/);
    expect(offered('curfew simulate --faults l')).toMatch(/^light/);
  });
});

it.each(SHELLS)('%s gets a script with every command', async shell => {
  const { code, stdout } = await runHere(['completion', shell]);
  expect(code).toBe(0);
  for (const name of ['simulate', 'validate', 'explain', 'drain', 'doctor', 'admission'])
    expect(stdout).toContain(name);
});
