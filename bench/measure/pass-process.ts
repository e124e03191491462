/** The repair function in a fresh process: it hears that a node which is due has changed, and makes a pass over the whole pool. */
import * as z from 'zod';
import { createReconciler } from '../../functions/repair/route.ts';
import { createKubernetesApi } from '../../shared/adapters/kubernetes/kubernetes-api.ts';
import { createTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { CLUSTER_EVENT_VERSION } from '../../shared/contract/cluster-event.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { seconds, toIsoText } from '../../shared/domain/time.ts';
import type { AuditRecord } from '../../shared/ports/audit-log.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { objectOf } from '../../shared/ports/read-answer.ts';
import { answerQuestions } from './answering.ts';
import { repairPorts } from './repair-ports.ts';
import { spin } from './spin.ts';
import { readUsage } from './usage.ts';

const passSchema = z.object({ url: z.string(), node: z.string(), whole: z.boolean() });
const spinSchema = z.object({ turns: z.number() });

answerQuestions({
  async pass(argument) {
    const { url, node, whole } = passSchema.parse(argument);
    const transport = createTransport({
      server: url,
      clock: systemClock,
      userAgent: 'curfew-bench',
      requestTimeout: seconds(60),
    });
    const api = createKubernetesApi(transport);
    const audit: AuditRecord[] = [];
    let deletedTime = NaN;
    const kubernetes: KubernetesApi = {
      ...(whole ? withWholeLists(api) : api),
      async delete(...call) {
        const outcome = await api.delete(...call);
        deletedTime = performance.now();
        return outcome;
      },
    };
    const reconcile = createReconciler({
      ...repairPorts(kubernetes),
      audit: { write: record => void audit.push(record) },
    });
    const event = await changeOf(api, node);
    const idle = readUsage();
    const startTime = performance.now();
    await reconcile({ kind: 'clusterEvent', event });
    const passMs = performance.now() - startTime;
    const decisions = audit.filter(({ name }) => name === node).map(({ decision }) => decision);
    return { passMs, deletedMs: deletedTime - startTime, decisions, idle, usage: readUsage() };
  },

  /** How long a loop takes that does nothing but count. */
  spin(argument) {
    const [startTime, before] = [performance.now(), readUsage()];
    spin(spinSchema.parse(argument).turns);
    return { ms: performance.now() - startTime, cpuMs: readUsage().cpuMs - before.cpuMs };
  },
});

/** As the forwarder publishes it. */
async function changeOf(api: KubernetesApi, name: string) {
  const object = objectOf(await api.get({ type: RESOURCES.Node, name }), { ifNotServed: 'throw' });
  if (object === undefined) throw new Error(`there is no node ${name}`);
  const { uid, resourceVersion } = object.metadata;
  return {
    schemaVersion: CLUSTER_EVENT_VERSION,
    cluster: 'bench',
    change: 'Modified' as const,
    subject: { apiVersion: 'v1', kind: 'Node' as const, name, uid },
    resourceVersion,
    // Not its conditions: their time would be doubted, since they are much older than this event.
    changed: ['taints'],
    hints: {},
    groupKey: name,
    eventKey: `${uid}:${resourceVersion}`,
    observedTime: toIsoText(systemClock.now()),
  };
}

/** As before lists were projected: objects are kept whole until the list has ended. */
function withWholeLists(api: KubernetesApi): KubernetesApi {
  return {
    ...api,
    async list(type, query, options) {
      const answer = await api.list(type, query);
      const { project } = options ?? {};
      if (project === undefined || answer.kind !== 'there') return answer;
      return { kind: 'there', objects: answer.objects.map(project) };
    },
  };
}
