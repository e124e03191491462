/** Pods that make the end of a node interesting: classes, protections, grace periods, kubelets that take their time. */
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes, seconds, toDurationMs, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import type { Manifest } from '../../scenario/scenario.ts';
import { pickWeighted, wholeSecond } from './draw.ts';
import { toManifest, type Model } from './model.ts';
import { DO_NOT_DISRUPT } from './pods.ts';
import { durationOf } from './settings.ts';

const NAMESPACES = ['default', 'prod', 'batch'] as const;
const PROTECTIONS = ['30s', '2m', '10m', 'true', '4d'] as const;
const DAEMON_SET: JsonObject = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'd1', controller: true };

/** On one of the nodes; remembered in the model. */
export function drawBusyPod(random: Random, model: Model, time: EpochMs): Manifest {
  const name = `p${(model.counter += 1)}`;
  const namespace = random.pick(NAMESPACES);
  const node = random.pick(model.nodes).name;
  const creationTime = wholeSecond(addDuration(time, toDurationMs(0 - random.integer(0, minutes(3)))));
  model.pods.push({ namespace, name, node, creationTime, lingers: false, waits: false });
  const annotations: JsonObject = {
    ...(random.chance(0.35) && { [DO_NOT_DISRUPT]: drawProtection(random, model) }),
    ...(random.chance(0.4) && { 'sim.curfew.dev/stops-after': random.pick(['5s', '30s', 'never']) }),
    ...(random.chance(0.05) && { 'kubernetes.io/config.mirror': 'x' }),
  };
  return toManifest(
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        namespace,
        name,
        labels: { app: random.pick(['web', 'job', 'db']) },
        creationTimestamp: toTimestamp(creationTime),
        ...(Object.keys(annotations).length > 0 && { annotations }),
        ...(random.chance(0.15) && { ownerReferences: [DAEMON_SET] }),
      },
      spec: {
        nodeName: node,
        terminationGracePeriodSeconds: random.pick([1, 10, 30, 30, 120]),
        ...(random.chance(0.2) && { priorityClassName: 'system-node-critical' }),
        ...(random.chance(0.07) && { tolerations: [{ operator: 'Exists' }] }),
      },
      status: {
        phase: pickWeighted(random, [
          [12, 'Running'],
          [1, 'Succeeded'],
        ]),
        startTime: toTimestamp(addDuration(creationTime, seconds(random.integer(0, 20)))),
      },
    },
    name,
    namespace,
  );
}

export function drawProtection(random: Random, model: Model): string {
  const value = random.pick(PROTECTIONS);
  model.durations.push(durationOf(value));
  return value;
}
