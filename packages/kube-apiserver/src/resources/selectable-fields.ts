/** The fields that built-in resources can be selected by, as their registries in kube-apiserver declare them. */
import type { JsonObject, JsonValue } from '../json.ts';
import { isObject, objectAt, textAt } from '../json.ts';
import { nameOf, namespaceOf } from '../objects.ts';
import type { FieldReader } from '../selectors/field-text.ts';

type Fields = ReadonlyMap<string, FieldReader>;

const metadataFields: readonly [string, FieldReader][] = [
  ['metadata.name', nameOf],
  ['metadata.namespace', namespaceOf],
];

/** Every resource can be selected by name, a namespaced one by namespace too. */
function commonFields(namespaced: boolean): Fields {
  return new Map(namespaced ? metadataFields : metadataFields.slice(0, 1));
}

/** Selectable text fields by their dotted path, besides the common ones. */
export function textFields(namespaced: boolean, paths: readonly string[]): Fields {
  return new Map([
    ...commonFields(namespaced),
    ...paths.map((path): [string, FieldReader] => [path, readerOf(path.split('.'))]),
  ]);
}

function readerOf(path: readonly string[]): FieldReader {
  return object => {
    let value: JsonValue | undefined = object;
    for (const step of path) value = isObject(value) ? value[step] : undefined;
    return textOf(value);
  };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : '';
}

/** A boolean that is absent reads as `false`. */
function booleanField(path: string): [string, FieldReader] {
  const read = readerOf(path.split('.'));
  return [path, object => read(object) || 'false'];
}

const POD_FIELDS = [
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.schedulerName',
  'spec.serviceAccountName',
  'status.phase',
  'status.podIP',
  'status.nominatedNodeName',
];

const EVENT_FIELDS = [
  'involvedObject.kind',
  'involvedObject.namespace',
  'involvedObject.name',
  'involvedObject.uid',
  'involvedObject.apiVersion',
  'involvedObject.resourceVersion',
  'involvedObject.fieldPath',
  'reason',
  'reportingComponent',
  'type',
];

/** An event's source is its `source.component`, else the component that reports it. */
function eventSource(event: JsonObject): string {
  return textAt(objectAt(event, 'source'), 'component') || textAt(event, 'reportingComponent') || '';
}

/** The selectable fields of a built-in resource, by its plural. */
export function builtInFields(resource: string, namespaced: boolean): Fields {
  switch (resource) {
    case 'pods':
      return new Map([...textFields(true, POD_FIELDS), booleanField('spec.hostNetwork')]);
    case 'nodes':
      return new Map([...commonFields(false), booleanField('spec.unschedulable')]);
    case 'events':
      return new Map([...textFields(true, EVENT_FIELDS), ['source', eventSource]]);
    case 'namespaces':
      return textFields(false, ['status.phase']);
    case 'secrets':
      return textFields(true, ['type']);
    case 'services':
      return textFields(true, ['spec.clusterIP', 'spec.type']);
    case 'replicationcontrollers':
      return textFields(true, ['status.replicas']);
    case 'jobs':
      return textFields(true, ['status.successful']);
    default:
      return commonFields(namespaced);
  }
}
