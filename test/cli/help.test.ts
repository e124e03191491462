import { expect, it } from 'vitest';
import { runCommandLine } from '../../cli/program.ts';

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
    { heading: 'Simulate it:', commands: ['simulate', 'explore', 'swarm'] },
    { heading: 'Look, and change nothing:', commands: ['explain', 'validate', 'snapshot'] },
    { heading: 'Print what you apply:', commands: ['policies', 'rbac', 'crd-patch'] },
    { heading: 'Change a cluster:', commands: ['drain', 'uninstall', 'republish'] },
    { heading: 'Operate a deployment:', commands: ['stop', 'resume', 'redrive', 'orphans'] },
    { heading: 'Commands:', commands: ['help'] },
  ]);
});
