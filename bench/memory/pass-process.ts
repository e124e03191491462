/** The repair function in a fresh process: it looks at the node that is due, which makes a pass over the whole pool. */
import * as z from 'zod';
import { createReconciler } from '../../functions/repair/reconcile.ts';
import { createKubernetesApi } from '../../shared/adapters/kubernetes/kubernetes-api.ts';
import { createTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { seconds } from '../../shared/domain/time.ts';
import type { AuditRecord } from '../../shared/ports/audit-log.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { nodeName } from '../node-objects.ts';
import { answerQuestions } from '../measure/answering.ts';
import { repairPorts } from '../measure/repair-ports.ts';
import { readUsage } from '../measure/usage.ts';

const passSchema = z.object({ url: z.string(), whole: z.boolean() });

answerQuestions({
  async pass(argument) {
    const { url, whole } = passSchema.parse(argument);
    const transport = createTransport({
      server: url,
      clock: systemClock,
      userAgent: 'curfew-bench',
      requestTimeout: seconds(60),
    });
    const api = createKubernetesApi(transport);
    const audit: AuditRecord[] = [];
    const reconcile = createReconciler({
      ...repairPorts(whole ? withWholeLists(api) : api),
      audit: { write: record => void audit.push(record) },
    });
    const idle = readUsage();
    const startTime = performance.now();
    const subject = { apiVersion: 'v1', kind: 'Node', name: nodeName(0) };
    await reconcile({ kind: 'wakeUp', owner: 'repair', subject, wakeTime: systemClock.now() });
    const passMs = performance.now() - startTime;
    return { passMs, decision: audit.at(-1)?.decision ?? 'nothing', idle, usage: readUsage() };
  },
});

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
