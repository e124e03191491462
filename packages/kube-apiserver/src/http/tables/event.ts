/** `kubectl get events`: core/v1 Events and those of events.k8s.io/v1, which name some fields differently. */
import type { KubernetesObject } from '../../kubernetes-object.ts';
import { isObject } from '../../json.ts';
import { numberAt, objectAt, textAt } from '../json-fields.ts';
import { ageOf } from './age.ts';
import { column, nameColumn, wide, type Column } from './columns.ts';

/** core/v1 `involvedObject` is `regarding` in events.k8s.io/v1. */
function aboutOf(event: KubernetesObject): unknown {
  return event['involvedObject'] ?? event['regarding'];
}

/** The first of the given fields that holds a timestamp, as an age. */
function firstAge(event: KubernetesObject, now: number, fields: readonly string[]): string {
  const timestamp = fields.map(field => textAt(event, field)).find(text => text !== '');
  return ageOf(timestamp, now);
}

function firstSeen(event: KubernetesObject, now: number): string {
  return firstAge(event, now, ['firstTimestamp', 'deprecatedFirstTimestamp', 'eventTime']);
}

function lastSeen(event: KubernetesObject, now: number): string {
  const series = event['series'];
  if (isObject(series)) return ageOf(series['lastObservedTime'], now);
  const fields = [
    'lastTimestamp',
    'deprecatedLastTimestamp',
    'firstTimestamp',
    'deprecatedFirstTimestamp',
    'eventTime',
  ];
  return firstAge(event, now, fields);
}

function objectOf(event: KubernetesObject): string {
  const about = aboutOf(event);
  const kind = textAt(about, 'kind').toLowerCase();
  const name = textAt(about, 'name');
  return name === '' ? kind : `${kind}/${name}`;
}

function sourceOf(event: KubernetesObject): string {
  const source = objectAt(event['source'] ?? event['deprecatedSource']);
  const component =
    textAt(source, 'component') || textAt(event, 'reportingComponent') || textAt(event, 'reportingController');
  const instance = textAt(source, 'host') || textAt(event, 'reportingInstance');
  return instance === '' ? component : `${component}, ${instance}`;
}

function countOf(event: KubernetesObject): number {
  if (isObject(event['series'])) return numberAt(event, 'series', 'count');
  return numberAt(event, 'count') || numberAt(event, 'deprecatedCount') || 1;
}

export const eventColumns: readonly Column[] = [
  column('Last Seen', 'Time since the event was last seen.', lastSeen),
  column('Type', 'Normal or Warning.', event => textAt(event, 'type')),
  column('Reason', 'Why the event was made, for machines.', event => textAt(event, 'reason')),
  column('Object', 'What the event is about.', objectOf),
  wide('Subobject', 'The part of the object that the event is about.', event => textAt(aboutOf(event), 'fieldPath')),
  wide('Source', 'Who reported the event.', sourceOf),
  column('Message', 'Why the event was made, for people.', event =>
    (textAt(event, 'message') || textAt(event, 'note')).trim(),
  ),
  wide('First Seen', 'Time since the event was first seen.', firstSeen),
  wide('Count', 'How often the event was seen.', countOf),
  { ...nameColumn, priority: 1 },
];
