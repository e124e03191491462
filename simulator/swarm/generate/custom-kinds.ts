/** The kinds of others that random clusters have. */
import type { Manifest } from '../../scenario/scenario.ts';
import { toManifest } from './model.ts';

export interface CustomKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
}

/** The definition of a namespaced kind that keeps whatever it is given, with its status apart. */
export function openDefinition({ group, version, kind, plural }: CustomKind): Manifest {
  const name = `${plural}.${group}`;
  return toManifest(
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
        versions: [
          {
            name: version,
            served: true,
            storage: true,
            subresources: { status: {} },
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    },
    name,
  );
}

export const namespaceManifest = (name: string): Manifest =>
  toManifest({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, name);
