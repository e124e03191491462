/** Carries out a scenario's steps. */
import type { DurationMs } from '../shared/domain/time.ts';
import { messageOf } from '../shared/errors.ts';
import { ApiStatusError } from '../packages/kube-apiserver/src/types.ts';
import type { System } from '../runtime/system-parts.ts';
import type { CleanupAnswers } from './cleanups.ts';
import type { HookAnswers } from './hooks.ts';
import type { Cloud } from './cloud.ts';
import type { Launches } from './launches.ts';
import type { Outages } from './outages.ts';
import type { RecordedStep } from './trace.ts';
import type { Refusals } from './refusals.ts';
import { CLUSTER_NAME, type Refusal, type Step, type StepAction, type TargetRef } from './scenario/scenario.ts';
import type { Operations } from './operations.ts';
import type { World } from './world.ts';
import type { JsonObject } from '../shared/domain/kubernetes-object.ts';

export interface StepTargets {
  readonly world: World;
  readonly cloud: Cloud;
  readonly launches: Launches;
  readonly outages: Outages;
  readonly refusals: Refusals;
  readonly cleanups: CleanupAnswers;
  readonly hooks: HookAnswers;
  readonly system: Pick<System, 'publish' | 'restartForwarder'>;
  readonly operations: Operations;
}

/** How the answer of a step begins that the API server refused. */
export const REFUSED = 'refused: ';

/** Carries one step out. Answers why it had no effect, if so: what it is about is not there, or the API server refused it. */
export function carryOut({ action }: Step, targets: StepTargets): string | undefined {
  try {
    return perform(action, targets);
  } catch (error) {
    if (error instanceof ApiStatusError) return `${REFUSED}${messageOf(error)}`;
    throw error;
  }
}

function perform(
  action: StepAction,
  { world, cloud, launches, outages, refusals, cleanups, hooks, system, operations }: StepTargets,
): string | undefined {
  switch (action.kind) {
    case 'apply':
      world.apply(action.manifest);
      return undefined;
    case 'patch':
      return world.patch(action.target, action.merge) ? undefined : 'no effect: it does not exist';
    case 'condition':
      return world.setCondition(action.node, action.condition) ? undefined : 'no effect: it does not exist';
    case 'launch':
      launches.set(action.nodePool, action.result);
      return undefined;
    case 'delete':
      return world.remove(action.target, action.gracePeriodSeconds) ? undefined : 'no effect: it does not exist';
    case 'busEvent': {
      const { source, detailType, detail } = action;
      // A publisher goes on trying until the bus is back.
      let isTaken = true;
      outages.whenBack('bus', () => {
        isTaken = system.publish({ source, 'detail-type': detailType, detail });
      });
      if (isTaken) return undefined;
      const isElsewhere = detail['cluster'] !== CLUSTER_NAME;
      return `no effect: no rule takes this source and detail-type${isElsewhere ? `, or not without detail.cluster: ${CLUSTER_NAME}` : ''}`;
    }
    case 'cloud':
      if (action.state !== undefined) cloud.setState(action.providerID, action.state);
      if (action.fail !== undefined) cloud.setFailure(action.providerID, action.fail);
      if (action.checks !== undefined) cloud.setChecks(action.providerID, action.checks);
      return undefined;
    case 'cleanup':
      cleanups.set(action.rule, { result: action.result, message: action.message ?? '' });
      return undefined;
    case 'hook':
      hooks.set(action.name, { result: action.result, message: action.message ?? '' });
      return undefined;
    case 'refuse':
      refusals.begin(action.refusal, action.for);
      return undefined;
    case 'outage':
      outages.begin(action.of, action.for);
      return undefined;
    case 'restart':
      system.restartForwarder();
      return undefined;
    case 'delay':
      operations.delay(action.function, action.for, action.by);
      return undefined;
    case 'redrive':
      return operations.redrive(action.function) > 0 ? undefined : 'no effect: it has no dead letters';
    case 'rollback':
      operations.rollBack(action.for);
      return undefined;
    case 'restore':
      if (action.of === 'cluster') operations.restoreCluster(action.age);
      else operations.restoreTable(action.age);
      return undefined;
  }
}

/** A step in a few words, and what it is about. */
export function describeStep({ action }: Step): Omit<RecordedStep, 'problem'> {
  return { action: action.kind, text: textOf(action), about: aboutOf(action) };
}

function textOf(action: StepAction): string {
  switch (action.kind) {
    case 'apply': {
      const { kind, namespace, name } = action.manifest;
      return `apply ${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
    }
    case 'patch':
      return `patch ${nameOf(action.target)} ${JSON.stringify(action.merge)}`;
    case 'condition': {
      const { type, status, reason } = action.condition;
      return `condition ${type}=${status}${reason === undefined ? '' : ` (${reason})`} of nodes ${action.node}`;
    }
    case 'launch':
      return `launches for ${action.nodePool}: ${action.result}`;
    case 'delete':
      return `delete ${nameOf(action.target)}`;
    case 'busEvent':
      return `event ${action.detailType} from ${action.source}`;
    case 'cloud':
      return `instance ${action.providerID} ${[action.state, action.fail === undefined ? undefined : `fails: ${action.fail}`, action.checks && JSON.stringify(action.checks)].filter(Boolean).join(', ')}`;
    case 'cleanup':
      return `clean-up of ${action.rule} answers ${action.result}`;
    case 'hook':
      return `hook ${action.name} answers ${action.result}`;
    case 'refuse':
      return describeRefusal(action.refusal, action.for);
    case 'outage':
      return `outage of ${action.of} for ${action.for / 1000} s`;
    case 'restart':
      return `restart ${action.part}`;
    case 'delay':
      return `messages to ${action.function ?? 'all functions'} of the next ${action.for / 1000} s come ${action.by / 1000} s late`;
    case 'redrive':
      return `redrive the dead letters of ${action.function}`;
    case 'rollback':
      return `functions of the version before for ${action.for / 1000} s`;
    case 'restore':
      return action.age === undefined
        ? `wipe the ${action.of}`
        : `restore the ${action.of} of ${action.age / 1000} s ago`;
  }
}

function aboutOf(action: StepAction): JsonObject | undefined {
  switch (action.kind) {
    case 'apply': {
      const { kind, namespace, name, body } = action.manifest;
      return { kind, namespace, name, change: body };
    }
    case 'patch':
      return { ...action.target, change: action.merge };
    case 'condition':
      return { resource: 'nodes', name: action.node, change: { status: { conditions: [{ ...action.condition }] } } };
    case 'launch':
      return { resource: 'nodepools', name: action.nodePool, launch: action.result };
    case 'delete':
      return { ...action.target };
    case 'busEvent':
      return { source: action.source, detailType: action.detailType, detail: action.detail };
    case 'cloud':
      return { providerID: action.providerID, state: action.state, fail: action.fail, ...action.checks };
    case 'cleanup':
      return { resource: 'cleanups', name: action.rule, result: action.result };
    case 'hook':
      return { resource: 'hooks', name: action.name, result: action.result };
    case 'outage':
      return { outage: action.of, seconds: action.for / 1000 };
    case 'refuse':
      return { refuse: describeRefusal(action.refusal, action.for) };
    case 'restart':
      return { restart: action.part };
    case 'delay':
      return { delay: action.function ?? 'all', seconds: action.for / 1000, by: action.by / 1000 };
    case 'redrive':
      return { redrive: action.function };
    case 'rollback':
      return { rollback: 'functions', seconds: action.for / 1000 };
    case 'restore':
      return { restore: action.of, ...(action.age !== undefined && { age: action.age / 1000 }) };
  }
}

function describeRefusal(
  { verb, resource, namespace, name, by, as }: Refusal,
  duration: DurationMs | undefined,
): string {
  const object =
    name === undefined ? namespace && `in ${namespace}` : `${namespace === undefined ? '' : `${namespace}/`}${name}`;
  const what = [verb, resource, object].filter(each => each !== undefined).join(' ');
  const to = by === undefined ? '' : ` to ${by}`;
  const how = 'notServed' in as ? 'as a kind that is not served' : `with ${as.status}`;
  return `refuse ${what}${to} ${how}${duration === undefined ? '' : ` for ${duration / 1000} s`}`;
}

const nameOf = ({ resource, namespace, name }: TargetRef): string =>
  `${resource} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
