import { expect, it } from 'vitest';
import { refuseAnsweredDrains } from '../../cli/start/answered-drains.ts';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import { createInProcessKubernetesApi } from '../../runtime/in-process/kubernetes-api.ts';

const answerTo = (id: string): string =>
  JSON.stringify({ id, status: 'Succeeded', reason: 'Drained', message: '1 pod was drained', drained: 1, left: [] });

function clusterOf(nodes: Readonly<Record<string, Readonly<Record<string, string>>>>) {
  const core = createApiServer({ clock: { now: () => 0 } });
  for (const [name, annotations] of Object.entries(nodes)) {
    core.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name, annotations } });
  }
  return createInProcessKubernetesApi(core, 'test');
}

it('refuses to drain again what was answered: a person may have taken the node back into use', async () => {
  const kubernetes = clusterOf({
    n1: { 'curfew.dev/drain-requested': 'a', 'curfew.dev/drain-answer': answerTo('a') },
    n2: { 'curfew.dev/drain-requested': ' b ', 'curfew.dev/drain-answer': answerTo('b') },
    n3: {},
  });
  await expect(refuseAnsweredDrains(kubernetes)).rejects.toThrow(
    'a drain that was asked for on n1 n2 is over, and would begin again, since records are in memory here: kubectl annotate node n1 n2 curfew.dev/drain-requested-',
  );
});

it('lets a request begin that was never answered, or after another one', async () => {
  const kubernetes = clusterOf({
    n1: { 'curfew.dev/drain-requested': 'a' },
    n2: { 'curfew.dev/drain-requested': 'b', 'curfew.dev/drain-answer': answerTo('a') },
    n3: { 'curfew.dev/drain-requested': 'c', 'curfew.dev/drain-answer': 'no JSON' },
    n4: { 'curfew.dev/drain-answer': answerTo('d') },
  });
  await expect(refuseAnsweredDrains(kubernetes)).resolves.toBeUndefined();
});
