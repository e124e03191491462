import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram, runCommandLine } from '../../cli/program.ts';

/** What a user can type, by its words: `policies admission`. */
function leavesOf(program: Command): ReadonlyMap<string, Command> {
  const below = (command: Command, path: readonly string[]): (readonly [string, Command])[] =>
    command.commands.length === 0
      ? [[path.join(' '), command]]
      : command.commands.flatMap(each => below(each, [...path, each.name()]));
  return new Map(below(program, []));
}

/** Of the whole where there are no words. */
async function helpOf(words = ''): Promise<string> {
  let said = '';
  const output = { out: (text: string) => (said += text), error: (text: string) => (said += text) };
  expect(await runCommandLine([...words.split(' ').filter(Boolean), '--help'], output)).toBe(0);
  return said;
}

describe('the help of each command', () => {
  const silent = { out: () => undefined, error: () => undefined };
  it.each([...leavesOf(createProgram(silent, () => undefined)).keys()])(
    '%s has examples that it takes',
    async words => {
      const [, examples = ''] = (await helpOf(words)).split('Examples:\n');
      const lines = examples.split('\n').filter(line => line !== '');
      const typed = lines
        .filter(line => !line.startsWith('  # '))
        .map(line =>
          line
            .trim()
            .replace(/ > \S+$/, '')
            .replace(/^npx /, ''),
        );
      expect(typed.length).toBeGreaterThan(0);
      expect(lines).toHaveLength(2 * typed.length);
      for (const line of typed) {
        const program = createProgram(silent, () => undefined);
        const ran: string[] = [];
        for (const [path, command] of leavesOf(program)) command.action(() => void ran.push(path));
        const [name, ...args] = line.split(' ');
        await program.parseAsync(args, { from: 'user' });
        expect({ line, name, ran }).toEqual({ line, name: 'curfew', ran: [words] });
      }
    },
  );

  it('says the default of each option that takes a value and may be left out', async () => {
    const quiet: string[] = [];
    // Without it something else is done.
    const chooses = /^(--example|--kubeconfig|--seeds|--faults|--scenario|--template|--reason|--forget)$/;
    for (const [path, command] of leavesOf(createProgram(silent, () => undefined))) {
      for (const { long, required, mandatory, description, defaultValue } of command.options) {
        const isLeftOut = required && !mandatory && defaultValue === undefined && !chooses.test(long ?? '');
        if (isLeftOut && !/default/.test(description)) quiet.push(`${path} ${long}`);
      }
    }
    expect(quiet).toEqual([]);
  });

  it.each([
    [['help', 'nope'], "error: unknown command 'nope'"],
    [['help', 'simulte'], '(Did you mean simulate?)'],
    [['help', 'policies', 'admision'], '(Did you mean admission?)'],
  ])('of a command that there is not is one sentence: %j', async (args, sentence) => {
    let said = '';
    const output = { out: (text: string) => (said += text), error: (text: string) => (said += text) };
    expect(await runCommandLine(args, output)).toBe(2);
    expect(said).toContain(sentence);
    expect(said.split('\n').length).toBeLessThan(5);
  });

  it('fits a narrow terminal', async () => {
    for (const words of ['', 'simulate', 'policies admission']) {
      let said = '';
      const output = { out: (text: string) => (said += text), error: () => undefined, width: 40 };
      expect(await runCommandLine([...words.split(' ').filter(Boolean), '--help'], output)).toBe(0);
      const [text = ''] = said.split('Examples:');
      // A word that is longer stays whole.
      const long = text
        .split('\n')
        .filter(line => line.length > 40 && line.trim().includes(' ') && !line.startsWith('Usage:'));
      expect(long).toEqual([]);
    }
  });

  // The whole help is longer than a screen, and what was wrong would be out of sight.
  it('is named after a mistake, not printed', async () => {
    let said = '';
    const output = { out: silent.out, error: (text: string) => (said += text) };
    expect(await runCommandLine(['simulte'], output)).toBe(2);
    expect(await runCommandLine(['explain'], output)).toBe(2);
    expect(said).toContain('(Did you mean simulate?)');
    expect(said).toContain("missing required argument 'kind'");
    expect(said.split('\n').length).toBeLessThan(12);
  });

  it('names the exit codes once, for all', async () => {
    const help = await helpOf();
    for (const code of ['0', '1', '2', '130']) expect(help).toMatch(new RegExp(`^  ${code} +\\S`, 'm'));
  });
});

it('lists each command under what it is for', async () => {
  let said = '';
  const output = { out: (text: string) => (said += text), error: (text: string) => (said += text) };
  expect(await runCommandLine(['--help'], output)).toBe(0);
  const groups = said.split(/^(?=\S.*:$)/m).map(text => ({
    heading: text.split('\n')[0],
    commands: [...text.matchAll(/^ {2}([a-z][\w-]*) /gm)].map(([, name]) => name),
  }));
  expect(groups.filter(({ commands }) => commands.length > 0)).toEqual([
    { heading: 'Run it:', commands: ['start'] },
    { heading: 'Simulate it:', commands: ['simulate', 'compare', 'explore', 'swarm', 'search'] },
    { heading: 'Look, and change nothing:', commands: ['explain', 'validate', 'snapshot'] },
    { heading: 'Print what you apply:', commands: ['policies', 'rbac', 'crd-patch'] },
    { heading: 'Change a cluster:', commands: ['drain', 'uninstall', 'republish'] },
    {
      heading: 'Operate a deployment:',
      commands: ['audit', 'event', 'stop', 'resume', 'doctor', 'redrive', 'orphans'],
    },
    { heading: 'Your shell:', commands: ['completion'] },
    { heading: 'Commands:', commands: ['help'] },
  ]);
});
