/** Exports for the command line, which reads nothing else of this folder: the rules themselves, and how their records are read. */
export { parseDrainRequested } from './bus-event.ts';
export {
  NODE_ANNOTATION,
  readAnswer,
  readUnderWay,
  requestedId,
  type Answer,
  type DrainUnderWay,
} from './rule/node-annotations.ts';
export { isAskedByRepair, openRequests } from './rule/phase.ts';
export type { DrainRequest } from './request-record.ts';
export { DRAIN_CODEC, recordIdOf } from './record.ts';
export type { DrainConfiguration } from './rule/observation.ts';
export { deadlineOf, forcedEndTime } from './rule/progress.ts';
export { podCriteriaOf } from './rule/pod-plan.ts';
export { FULL, podDrainability, type OutOfScope } from './rule/pods.ts';
export { timedDeletionOf, type DeletionTimes } from './rule/timed-deletion.ts';
export { OWNER as DRAIN_OWNER } from './record.ts';
export { ALL_PODS, compileSettings, DRAIN, drainLimitsFor } from './settings.ts';
