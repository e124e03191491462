/** What repair must remember: the checks bite by themselves, whatever the scenario expects, and let the real rules pass. */
import { describe, expect, it } from 'vitest';
import { mutationOf } from '../../mutants/mutants.ts';
import { GATE, nodeObjects, simulate } from '../simulate.ts';

const flip = (minute: number, status: string): string => {
  const lastTransitionTime = new Date(Date.UTC(2024, 10, 1, 15, minute)).toISOString();
  const condition = `{ type: Ready, status: "${status}", lastTransitionTime: "${lastTransitionTime}" }`;
  return `    - { at: ${minute}m, patch: { resource: nodes, name: a, merge: { status: { conditions: [${condition}] } } } }\n`;
};

/** Unhealthy for five minutes of ten, three times, and from 30 minutes on. */
const FLAPPING = `${GATE}  objects:
${nodeObjects('a', 'True', '{ maxUnhealthy: 100%, flapping: { window: 1h, unhealthyFor: 18m } }')}  steps:
${[0, 10, 20].map(minute => flip(minute, 'False') + flip(minute + 5, 'True')).join('')}${flip(30, 'False')}`;

const replacement = (minute: number, name: string): string =>
  nodeObjects(name)
    .replaceAll(/nodepool: \w+/g, 'nodepool: a')
    .replaceAll(/^ {4}- /gm, '  --- ')
    .split('  --- ')
    .slice(2)
    .map(text => `    - at: ${minute}m\n      apply:\n        ${text.trim().replaceAll(/\n {6}/g, '\n        ')}\n`)
    .join('')
    .replaceAll('15:00:00Z', `15:${minute}:00Z`);

const FUTILE = `${GATE}  objects:
${nodeObjects('a', 'False', '{ maxUnhealthy: 100%, defaultTolerationDuration: 5m, futility: { repairs: 2, window: 1h } }')}  steps:
${replacement(10, 'b')}${replacement(20, 'c')}`;

const messages = async (spec: string, mutant?: string): Promise<readonly string[]> => {
  const { violations } = await simulate(spec, mutant === undefined ? {} : mutationOf(mutant));
  return violations.map(({ invariant, message }) => `${invariant}: ${message}`);
};

describe('a node that comes and goes', () => {
  it('is repaired once it was unhealthy for long enough in all', async () => {
    expect(await messages(FLAPPING)).toEqual([]);
  });

  it.each(['repair-blind-to-flapping', 'repair-forgets-episodes'])('%s is found', async mutant => {
    const [first] = await messages(FLAPPING, mutant);
    expect(first).toMatch(/^I5: Node a .* could be repaired since 2024-11-01T15:3[2-4]/);
  });
});

describe('a pool whose repairs do not help', () => {
  it('is left alone by the real rules', async () => {
    expect(await messages(FUTILE)).toEqual([]);
  });

  it('is found when it is repaired on', async () => {
    const [first] = await messages(FUTILE, 'repair-that-does-not-help');
    expect(first).toMatch(/^I3: repair .* nodeclaims c: 2 repairs of its pool for Ready=False did not help, futility/);
  });
});
