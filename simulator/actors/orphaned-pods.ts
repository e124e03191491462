/**
 * The pod garbage collector, for clusters to live in: the pods of a Node that is gone are removed with it. Scenarios state what becomes of
 * their pods, so the simulation runs without it.
 */
import { addDuration, seconds } from '../../shared/domain/time.ts';
import { follow, refOf, RESOURCE_TYPES, textIn, unlessRefused, type StartActor } from './actor.ts';

const USER = 'actor:pod-garbage-collector';
/** In case a Node of that name comes back; kube-controller-manager waits 40 s. */
const QUARANTINE = seconds(5);

export const startOrphanedPods: StartActor = ({ core, scheduler }) => {
  const collect = (name: string): void => {
    if (unlessRefused(() => core.get({ type: RESOURCE_TYPES.nodes, name })) !== undefined) return;
    for (const pod of core.list(RESOURCE_TYPES.pods).items) {
      if (textIn(pod.spec, 'nodeName') !== name) continue;
      const options = { user: USER, gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid } };
      unlessRefused(() => core.delete(refOf(RESOURCE_TYPES.pods, pod), options));
    }
  };
  follow(
    core,
    RESOURCE_TYPES.nodes,
    () => undefined,
    ({ metadata }) => scheduler.at(addDuration(scheduler.now(), QUARANTINE), () => collect(metadata.name)),
  );
};
