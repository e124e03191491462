/** FinalizerRules and the objects of their kinds. */
import { toBusEntry } from '../../../shared/contract/cluster-event.ts';
import { CUSTOM_RESOURCE_CHANGED } from '../../../shared/contract/names.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { toWakeUpEnvelope } from '../../../shared/contract/wake-up.ts';
import type { KubernetesManifest, ObjectRef } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes, seconds, toIsoText, toTimestamp } from '../../../shared/domain/time.ts';
import { CLUSTER_NAME } from '../../scenario/scenario.ts';
import { clusterEvent, type Told, workerAnswers } from '../messages.ts';
import { unlessRefused } from '../../actors/actor.ts';
import { WORLD } from '../explored-cluster.ts';
import type { Change, Earlier, Message, Situation } from '../situation.ts';
import { patched, PROD, START, unattended } from './changes.ts';

const GROUP = 'database.example.com';
const DEFINITION: KubernetesManifest = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `databases.${GROUP}`, uid: 'uid-definition' },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'databases', singular: 'database', kind: 'Database', listKind: 'DatabaseList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};
const CLEAN_UP = `${GROUP}/cleanup`;
const RULE = {
  apiVersion: 'curfew.dev/v1alpha1',
  kind: 'FinalizerRule',
  metadata: { name: 'databases', uid: 'uid-rule' },
  spec: {
    group: GROUP,
    version: 'v1',
    kind: 'Database',
    finalizerName: CLEAN_UP,
    cleanup: { event: { detailType: 'DropDatabase' } },
  },
} satisfies KubernetesManifest;
const HELD_RULE = {
  ...RULE,
  metadata: { ...RULE.metadata, finalizers: ['curfew.dev/finalizer-rule'] },
} satisfies KubernetesManifest;
const WATCHED_RULE = { ...HELD_RULE, status: { resource: 'databases' } } satisfies KubernetesManifest;
const ruleRef: ObjectRef = { type: RESOURCES.FinalizerRule, name: 'databases' };
const DATABASE: KubernetesManifest = {
  apiVersion: `${GROUP}/v1`,
  kind: 'Database',
  metadata: { name: 'orders', namespace: 'prod', uid: 'uid-orders' },
};
const databaseRef: ObjectRef = {
  type: { group: GROUP, version: 'v1', resource: 'databases' },
  namespace: 'prod',
  name: 'orders',
};
const DATABASE_SUBJECT = { apiVersion: `${GROUP}/v1`, kind: 'Database', namespace: 'prod', name: 'orders' } as const;
const databaseEvent = (change: 'Added' | 'Modified' | 'Deleted'): Message => ({
  name: `Database orders ${change.toLowerCase()}`,
  to: 'finalizer',
  body(now) {
    const { source, detailType, detail } = toBusEntry(
      {
        schemaVersion: 1,
        cluster: CLUSTER_NAME,
        change,
        subject: { ...DATABASE_SUBJECT, uid: 'uid-orders' },
        resourceVersion: change,
        changed: [],
        hints: {},
        groupKey: 'uid-orders',
        eventKey: `uid-orders-${change}`,
        observedTime: toTimestamp(now),
      },
      CUSTOM_RESOURCE_CHANGED,
    );
    return JSON.stringify({ source, 'detail-type': detailType, detail });
  },
});
const DATABASE_WAKE_UP: Message = {
  name: 'wake-up of Database orders',
  to: 'finalizer',
  body: now =>
    JSON.stringify(
      toWakeUpEnvelope({ owner: 'finalizer', subject: { ...DATABASE_SUBJECT, uid: 'uid-orders' }, wakeTime: now }),
    ),
};

const ruleEvent = (told: Pick<Told, 'change' | 'changed' | 'watch'>): Message =>
  clusterEvent('finalizer', {
    kind: 'FinalizerRule',
    apiVersion: 'curfew.dev/v1alpha1',
    name: 'databases',
    uid: 'uid-rule',
    ...told,
  });
const RULE_ADDED = ruleEvent({ change: 'Added', changed: ['spec'] });
const RULE_ENDS = ruleEvent({ changed: ['deletionTimestamp'] });
const RULE_WATCHED = ruleEvent({
  changed: ['watch'],
  watch: {
    group: GROUP,
    version: 'v1',
    kind: 'Database',
    state: 'Watching',
    resource: 'databases',
    since: toIsoText(addDuration(START, seconds(1))),
  },
});
/** Of which the forwarder says nothing. */
const LABELLED: Change = {
  name: 'FinalizerRule databases labelled',
  apply: core =>
    void unlessRefused(() =>
      core.patch(ruleRef, { type: 'merge', body: { metadata: { labels: { team: 'data' } } } }, { user: WORLD }),
    ),
};

const HELD_DATABASE: KubernetesManifest = {
  ...DATABASE,
  metadata: { ...DATABASE.metadata, finalizers: [CLEAN_UP] },
};
/** The object is deleted, and its clean-up was asked for. */
const CLEANED_UP: readonly Earlier[] = [
  { kind: 'message', message: databaseEvent('Added') },
  {
    kind: 'change',
    change: {
      name: 'Database orders deleted',
      apply: core => void core.delete(databaseRef, { user: WORLD }),
    },
  },
  { kind: 'message', message: databaseEvent('Modified') },
];

const BASE = { concern: 'finalizer', start: START } as const;

export const FINALIZER_RULE_SITUATIONS: readonly Situation[] = [
  {
    ...BASE,
    name: 'the watch of a kind begins while its rule is accepted',
    objects: [PROD, DEFINITION, RULE],
    messages: { A: RULE_ADDED, B: RULE_WATCHED },
  },
  {
    ...BASE,
    name: 'a rule is labelled while it is accepted',
    objects: [PROD, DEFINITION, RULE],
    messages: { A: RULE_ADDED, B: RULE_ADDED },
    changes: [LABELLED],
  },
  {
    ...BASE,
    name: 'a rule is labelled while the watch of its kind begins',
    objects: [PROD, DEFINITION, HELD_RULE],
    messages: { A: RULE_ADDED, B: RULE_WATCHED },
    changes: [LABELLED],
  },
  {
    ...BASE,
    name: 'a rule is labelled while it ends',
    objects: [
      PROD,
      DEFINITION,
      { ...HELD_RULE, metadata: { ...HELD_RULE.metadata, deletionTimestamp: toTimestamp(START) } },
    ],
    messages: { A: RULE_ENDS, B: DATABASE_WAKE_UP },
    changes: [LABELLED],
  },
  {
    ...BASE,
    name: 'a worker answers when the deadline of its rule comes',
    objects: [
      PROD,
      DEFINITION,
      { ...WATCHED_RULE, spec: { ...RULE.spec, deadline: '10m', onDeadline: 'Release' } },
      HELD_DATABASE,
    ],
    earlier: [...CLEANED_UP, unattended(10)],
    messages: { A: DATABASE_WAKE_UP, B: workerAnswers('uid-orders/databases', 'succeed') },
    // A call that was reserved and not made, since its run died or was overtaken, counts as one under way for a minute.
    inexact: ['running.uid-orders'],
    aftermath: minutes(20),
  },
  {
    ...BASE,
    name: 'a worker answers while its rule ends',
    objects: [PROD, DEFINITION, WATCHED_RULE, HELD_DATABASE],
    earlier: CLEANED_UP,
    messages: { A: RULE_ENDS, B: workerAnswers('uid-orders/databases', 'succeed') },
    changes: [
      {
        name: 'FinalizerRule databases deleted',
        apply: core => void unlessRefused(() => core.delete(ruleRef, { user: WORLD })),
        tells: 'A',
      },
    ],
    aftermath: minutes(20),
  },
  {
    ...BASE,
    name: 'the finalizer of a rule is taken off while the clean-up is called',
    objects: [PROD, DEFINITION, WATCHED_RULE, HELD_DATABASE],
    earlier: CLEANED_UP,
    messages: { A: databaseEvent('Deleted'), B: DATABASE_WAKE_UP },
    changes: [patched('the finalizer is taken off', databaseRef, { metadata: { finalizers: null } }, 'A')],
  },
];
