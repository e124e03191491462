/** What `curfew explain` says of policies and a configuration that cannot be read, with Curfew's table and without it. */
import { describe, expect, it } from 'vitest';
import { explain } from '../../../cli/explain.ts';
import { onScenario } from '../../../cli/explain/on-scenario.ts';
import type { ExplainedObject } from '../../../cli/explain/subject.ts';

const FILE = 'test/cli/explain/earlier-versions.yaml';
const WEB: ExplainedObject = { kind: 'nodepool', name: 'web' };
const NODE: ExplainedObject = { kind: 'node', name: 'web-0' };
const POD: ExplainedObject = { kind: 'pod', namespace: 'prod', name: 'p' };

/** The lines of the explanation after twelve minutes. */
async function linesOf(name: string, subject: ExplainedObject, isTableRead: boolean): Promise<readonly string[]> {
  const text = await onScenario(`${FILE}#${name}`, '12m', cluster =>
    explain(isTableRead ? cluster : { ...cluster, records: undefined }, subject, false),
  );
  return (text ?? '').split('\n').map(line => line.trim());
}

const NOT_KNOWN = 'not known here: it is up to a version of NodeLifecyclePolicy a that could be read before';

describe.each(['earlier-repair', 'earlier-selector'])('a policy whose last good version is in force (%s)', name => {
  it('is explained as it is in force', async () => {
    expect(await linesOf(name, WEB, true)).toEqual(
      expect.arrayContaining([
        'repair: by NodeLifecyclePolicy a, mode Enforce (NodeLifecyclePolicy a as of generation 1)',
        expect.stringMatching(
          /^policies: a \(cannot be read: spec\..*; generation 1, which could be read last, is in force\)$/,
        ),
        expect.stringMatching(/^node web-0: repair due at 2024-11-01T15:20:00Z \(in 8m0s\)/),
      ]),
    );
    expect((await linesOf(name, NODE, true))[0]).toContain('will be repaired at 2024-11-01T15:20:00Z');
    const policy = await linesOf(name, { kind: 'policy', name: 'a' }, true);
    expect(policy[0]).toBe('NodeLifecyclePolicy a: 10 nodes, 1 unhealthy');
    expect(policy).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^cannot be read: .*; generation 1, which could be read last, is in force$/),
        expect.stringMatching(/^not Accepted \(Invalid\): .*generation 1, which was accepted last, stays in force$/),
      ]),
    );
  });

  it('is not guessed at without the table', async () => {
    expect(await linesOf(name, WEB, false)).toEqual(
      expect.arrayContaining([
        `repair: ${NOT_KNOWN}`,
        expect.stringMatching(/^policies: a \(cannot be read: .* is not known here \(--stack NAME reads it\)\)$/),
      ]),
    );
    expect(await linesOf(name, NODE, false)).toContainEqual(expect.stringContaining(`repair: `));
    expect((await linesOf(name, NODE, false)).find(line => line.startsWith('repair: '))).toContain(NOT_KNOWN);
  });
});

describe('a protection whose last good version is in force', () => {
  it('is limited as that version says', async () => {
    expect(await linesOf('earlier-protection', POD, true)).toEqual(
      expect.arrayContaining([
        'karpenter.sh/do-not-disrupt: "true" protects until 2024-11-01T15:30:00Z (in 18m0s), limited to 30m0s by NodeLifecyclePolicy a',
        expect.stringMatching(/^protection: NodeLifecyclePolicy a .*\(NodeLifecyclePolicy a as of generation 1\)$/),
      ]),
    );
  });

  it('has no end that is known without the table', async () => {
    expect(await linesOf('earlier-protection', POD, false)).toEqual(
      expect.arrayContaining(['until when is not known here: see the protection below', `protection: ${NOT_KNOWN}`]),
    );
    expect(await linesOf('earlier-protection', NODE, false)).toContainEqual(
      expect.stringMatching(/protected, until when is not known here/),
    );
  });
});

it('a configuration that was never valid turns every gate off', async () => {
  expect(await linesOf('never-valid', NODE, true)).toContainEqual(
    expect.stringMatching(
      /^repair: none: featureGates\.nodeRepair is off; config\.toml .* and none was valid before: /,
    ),
  );
});
