/**
 * The whole on real parts, with `kill -9` in the middle of a toleration: the forwarder, the function, DynamoDB. The repair still
 * happens once, on time or as soon as the parts are back.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLocalStack, type LocalStack } from '../../cli/start/local-stack.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { seconds, toTimestamp } from '../../shared/domain/time.ts';

const TOLERATION_SECONDS = 6;
const CASES = ['nothing', 'forwarder', 'function', 'dynamodb'] as const;
type Victim = (typeof CASES)[number];

let stack: LocalStack;
const problems: string[] = [];
/** When each deletion of a NodeClaim by Curfew was accepted, epoch ms. */
const deletions: { readonly name: string; readonly time: number }[] = [];

beforeAll(async () => {
  stack = await startLocalStack({ onProblem: problem => problems.push(problem) });
  const { core } = stack.cluster;
  core.observe(({ verb, user, ref }) => {
    if (verb === 'delete' && user.startsWith('curfew-')) deletions.push({ name: ref.name, time: systemClock.now() });
  });
  core.seed({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'curfew', name: 'curfew-config' },
    data: { 'config.toml': '[featureGates]\nnodeRepair = true\n' },
  });
  for (const victim of CASES) {
    const labels = { 'karpenter.sh/nodepool': victim };
    const providerID = `aws:///us-west-2a/i-${victim}`;
    const policies = [{ conditionType: 'Ready', toleration: `${TOLERATION_SECONDS}s` }];
    core.seed({
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: victim },
      spec: { repair: { policies } },
    });
    core.seed({
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: { name: `claim-${victim}`, labels, finalizers: ['karpenter.sh/termination'] },
      status: { providerID, nodeName: `node-${victim}` },
    });
    core.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: `node-${victim}`, labels }, spec: { providerID } });
  }
});

afterAll(async () => {
  await stack.stop();
});

/** Polls until `condition` holds; the test's own time-out ends a wait for nothing. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await systemClock.sleep(seconds(0.05));
}

function flip(victim: Victim): number {
  const time = Math.floor(systemClock.now() / 1000) * 1000;
  const lastTransitionTime = toTimestamp(systemClock.now());
  const condition = { type: 'Ready', status: 'False', reason: 'Test', message: '', lastTransitionTime };
  stack.cluster.core.patch(
    { type: RESOURCES.Node, name: `node-${victim}` },
    { type: 'merge', body: { status: { conditions: [condition] } } },
    { user: 'kubelet', subresource: 'status' },
  );
  return time + TOLERATION_SECONDS * 1000;
}

const KILLS: Record<Victim, () => Promise<void>> = {
  nothing: async () => undefined,
  forwarder: async () => stack.forwarder.kill(),
  function: async () => {
    await until(async () => (await stack.aws.killFunction('repair')) > 0);
  },
  dynamodb: () => stack.aws.restartDynamoDb(2000),
};

describe('kill -9 in the middle of a toleration', () => {
  // At the same time: each kill also happens in the middle of the other nodes' tolerations.
  it.concurrent.each(CASES)(
    'of %s: the repair happens once, and not early',
    async victim => {
      const due = flip(victim);
      await systemClock.sleep(seconds(2));
      await KILLS[victim]();
      const ofVictim = (): typeof deletions => deletions.filter(({ name }) => name === `claim-${victim}`);
      await until(() => ofVictim().length > 0);
      // Until the NodeClaim and its node are gone, a second deletion would still be accepted.
      await until(() =>
        stack.cluster.core.list(RESOURCES.Node).items.every(node => node.metadata.name !== `node-${victim}`),
      );
      expect(ofVictim()).toHaveLength(1);
      expect(ofVictim()[0]?.time).toBeGreaterThanOrEqual(due);
    },
    90_000,
  );
});
