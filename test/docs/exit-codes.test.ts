/** docs/exit-codes.md has each command, and the codes that its code ends with. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { describeFailure } from '../../cli/failure.ts';
import { createProgram } from '../../cli/program.ts';
import { UsageError } from '../../cli/usage-error.ts';
import { documentOf, rowsOf } from './observability.ts';
import { ROOT } from './documents.ts';

const page = documentOf('docs/exit-codes.md');
const unquoted = (cell: string): string => cell.replaceAll('`', '');

/** `event send`: every command that does something by itself. */
const leavesOf = (command: Command, path = ''): readonly string[] =>
  command.commands.flatMap(each => {
    const here = path === '' ? each.name() : `${path} ${each.name()}`;
    return each.commands.length === 0 ? [here] : leavesOf(each, here);
  });
const COMMANDS = leavesOf(createProgram({ out: () => undefined, error: () => undefined }, () => undefined));

/** The modules that the action of a command loads, and those that they load in turn when they need them. */
function modulesOf(command: string): readonly string[] {
  const name = command.split(' ').at(-1) ?? '';
  const [definition = ''] = globSync('cli/commands/*.ts', { cwd: ROOT })
    .map(file => readFileSync(join(ROOT, file), 'utf8'))
    // Those of `rbac` are made in a loop.
    .flatMap(text => text.split(/(?=\.command\()/))
    .filter(
      text =>
        text.startsWith(`.command('${name}')`) || (command.startsWith('rbac ') && text.startsWith('.command(use)')),
    );
  return loadedBy('cli/commands/it.ts', definition);
}

function loadedBy(file: string, text: string): readonly string[] {
  return [...text.matchAll(/import\('(\.[^']+)'\)/g)].flatMap(([, path = '']) => {
    const loaded = join(dirname(file), path);
    return [loaded, ...loadedBy(loaded, readFileSync(join(ROOT, loaded), 'utf8'))];
  });
}

/** The codes beyond 0 that a command states itself: each is returned as a number. */
function codesOf(command: string): readonly string[] {
  const codes = modulesOf(command).flatMap(file => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    return [...text.matchAll(/\breturn (?:[^;:?]+\? (\d+) : )?(\d+);/g)].flatMap(([, one, other]) => [one, other]);
  });
  const stated = codes.filter(code => code !== undefined && code !== '0').map(Number);
  return [...new Set(stated)].toSorted((a, b) => a - b).map(String);
}

describe('docs/exit-codes.md', () => {
  const rows = rowsOf(page, 'Of each command').map(([command = '', ...cells]) => ({
    command: unquoted(command),
    cells,
  }));

  it('has each command once, in order', () => {
    expect(rows.map(({ command }) => command)).toEqual(COMMANDS.toSorted());
  });

  it.each(rows)('$command: what it ends with', ({ command, cells: [done = '', one, two, interrupted] }) => {
    expect(modulesOf(command)).not.toEqual([]);
    expect(done).not.toBe('');
    const said = Object.entries({ 1: one, 130: interrupted, 2: two }).filter(([, cell]) => cell !== '');
    // Keys that are numbers come in their order.
    expect(said.map(([code]) => code)).toEqual(codesOf(command));
  });

  it('has what they have in common', () => {
    const common = rowsOf(page, 'All commands').map(([code]) => code);
    const signals = readFileSync(join(ROOT, 'cli/start/interruption.ts'), 'utf8').match(/SIGINT: .*\}/)?.[0] ?? '';
    const failures = [new UsageError('put it right'), new Error('a mistake')].map(
      error => describeFailure(error).exitCode,
    );
    const known = ['0', ...failures.map(String), ...(signals.match(/\d+/g) ?? [])];
    expect(common).toEqual(known.toSorted((a, b) => Number(a) - Number(b)));
  });

  it('has those of the forwarder', () => {
    const stated = [...readFileSync(join(ROOT, 'forwarder/main.ts'), 'utf8').matchAll(/exitCode = (\d+)/g)];
    // In order, and by an error that nobody catches.
    const known = ['0', '1', ...stated.map(([, code]) => code)];
    expect(rowsOf(page, 'Of the forwarder').map(([code]) => code)).toEqual(known);
  });
});
