import { describe, expect, it } from 'vitest';
import type { Mutation } from '../../../simulator/swarm/seed.ts';
import { withKubernetes } from '../../mutants/mutant.ts';
import { scenario } from '../simulate.ts';
import { runScenario } from '../../../simulator/run.ts';

const pod = (name: string, annotations = '{}'): string =>
  `    - { apiVersion: v1, kind: Pod, metadata: { namespace: prod, name: ${name}, annotations: ${annotations} }, spec: { nodeName: n1, containers: [] } }\n`;
const DRAIN = `  config: "[[userNamespaces]]\\nname = '*'\\nmode = 'Immediate'\\n"
  objects:
    - { apiVersion: v1, kind: Node, metadata: { name: n1 }, spec: { providerID: "aws:///us-west-2a/i-1" } }
${pod('p0')}${pod('p1')}`;
const ASKED =
  '    - { at: 2m, busEvent: { source: nvsentinel, detail-type: HealthEvent, detail: { id: e1, nodeName: n1, isFatal: true, quarantineStatus: Quarantined, cluster: simulated } } }\n';
const REFUSED = '    - { at: 1m, refuse: { verb: evict, resource: pods, namespace: prod, name: p0, status: 500 } }\n';

/** A drain that gets no further than to the pod that is refused. */
const HELD_BACK: Mutation = withKubernetes('drain', api => ({
  evict: async (ref, options) =>
    ref.name === 'p0' ? api.evict(ref, options) : { kind: 'blocked', message: 'not its turn' },
}));

async function said(spec: string, mutation: Mutation = {}): Promise<readonly string[]> {
  const generated = { ...scenario(spec), annotations: { 'sim.curfew.dev/generated': 'true' } };
  const { violations } = await runScenario(generated, mutation);
  return violations.map(({ invariant, message }) => `${invariant} ${message}`);
}

describe('one failure holds one thing (I5)', () => {
  it('holds of drains', async () => {
    expect(await said(`${DRAIN}  steps:\n${REFUSED}${ASKED}`)).toEqual([]);
  });

  it('is broken where a refused pod holds another', async () => {
    expect(await said(`${DRAIN}  steps:\n${REFUSED}${ASKED}`, HELD_BACK)).toContainEqual(
      expect.stringMatching(/^I5 nothing holds Pod prod\/p1 .* but that another pod is refused/),
    );
  });

  it('says nothing of a pod that is protected', async () => {
    const protectedToo = DRAIN.replace(pod('p1'), pod('p1', '{ karpenter.sh/do-not-disrupt: "true" }'));
    expect(await said(`${protectedToo}  steps:\n${REFUSED}${ASKED}`)).toEqual([]);
  });
});
