/** A definition with something of everything, and objects of it. */
import { expect, vi } from 'vitest';
import type { Answer } from './http-client.ts';
import { created, EVENTUALLY, type ApiServerSubject } from './subject.ts';

export const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const SPEC_SCHEMA = {
  type: 'object',
  required: ['size'],
  properties: {
    size: { type: 'integer', minimum: 1, maximum: 10 },
    mode: { type: 'string', enum: ['Fast', 'Slow'], default: 'Fast' },
    wait: { type: 'string', pattern: '^([0-9]+(s|m|h))+$', maxLength: 10 },
    limits: { type: 'object', properties: { cpu: { type: 'string', default: '1' } } },
    open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    either: { 'x-kubernetes-int-or-string': true },
    list: {
      type: 'array',
      maxItems: 3,
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, value: { type: 'string' } },
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    },
    max: { type: 'integer' },
    since: { type: 'string', format: 'duration' },
    template: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    },
    choice: {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    texts: { type: 'object', additionalProperties: { type: 'string' } },
    nothing: { type: 'string', nullable: true },
  },
  'x-kubernetes-validations': [
    { rule: '!has(self.max) || self.size <= self.max', message: 'size must not exceed max' },
    { rule: 'self.mode == oldSelf.mode', message: 'mode must not change' },
  ],
};

const STATUS_SCHEMA = { type: 'object', properties: { ready: { type: 'string' }, count: { type: 'integer' } } };

export const gadgetDefinition = (group: string, version: object = {}, spec: object = {}): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `gadgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList', shortNames: ['gd'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: SPEC_SCHEMA, status: STATUS_SCHEMA } } },
        selectableFields: [{ jsonPath: '.spec.mode' }],
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Ready', type: 'string', jsonPath: '.status.ready' },
          { name: 'Mode', type: 'string', jsonPath: '.spec.mode', priority: 1 },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        ...version,
      },
    ],
    ...spec,
  },
});

export interface Gadgets {
  readonly group: string;
  readonly path: string;
  make(name: string, spec: object, more?: object): Promise<Answer>;
}

/** A definition of this case alone, established and served. */
export async function ownGadgets(subject: ApiServerSubject, version: object = {}): Promise<Gadgets> {
  const group = `${subject.namespace}.example.com`;
  await serve(subject, group, version);
  return gadgetsOf(subject, group);
}

/** One definition for all cases that take it from here; their objects are apart by namespace. */
export function shareGadgets(group = 'shared.example.com'): (subject: ApiServerSubject) => Promise<Gadgets> {
  let served: Promise<void> | undefined;
  return async subject => {
    await (served ??= serve(subject, group));
    return gadgetsOf(subject, group);
  };
}

async function serve(subject: ApiServerSubject, group: string, version: object = {}): Promise<void> {
  await created(subject, CRDS, gadgetDefinition(group, version));
  const path = `/apis/${group}/v1/gadgets`;
  await vi.waitFor(async () => expect((await subject.http.call('GET', path)).status).toBe(200), EVENTUALLY);
}

function gadgetsOf({ http, namespace }: ApiServerSubject, group: string): Gadgets {
  const path = `/apis/${group}/v1/namespaces/${namespace}/gadgets`;
  const make = (name: string, spec: object, more: object = {}): Promise<Answer> =>
    http.call('POST', path, { body: { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name }, spec, ...more } });
  return { group, path, make };
}
