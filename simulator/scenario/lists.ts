/**
 * A `List` among the objects of a scenario stands for its items: so `kubectl get --output yaml` prints several objects. What is wrong with an
 * item is said at its own place in the file.
 */
import type { Path } from './places.ts';

export interface Flattened {
  /** The document, with the items of Lists in the Lists' place. */
  readonly value: unknown;
  /** Where in the file stands what has this path in `value`. */
  readonly origin: (path: Path) => Path;
  /** Lists that cannot be read as their items. */
  readonly misplaced: readonly { readonly path: Path; readonly message: string }[];
}

export function flattenLists(document: unknown): Flattened {
  const spec = isRecord(document) && isRecord(document['spec']) ? document['spec'] : {};
  const { objects, steps } = spec;
  const placed = toArray(objects).flatMap((object, index): readonly { object: unknown; path: Path }[] => {
    const path = ['spec', 'objects', index];
    if (!isList(object) || !Array.isArray(object['items'])) return [{ object, path }];
    return object['items'].map((item: unknown, each) => ({ object: item, path: [...path, 'items', each] }));
  });
  const misplaced = [
    ...placed.flatMap(({ object, path }) =>
      isList(object) ? [{ path: [...path, 'items'], message: 'is missing; it must be a list' }] : [],
    ),
    ...toArray(steps).flatMap((step, index) =>
      isRecord(step) && isList(step['apply'])
        ? [
            {
              path: ['spec', 'steps', index, 'apply'],
              message: 'is one object: give each item of the List its own step',
            },
          ]
        : [],
    ),
  ];
  return {
    value:
      Array.isArray(objects) && isRecord(document)
        ? { ...document, spec: { ...spec, objects: placed.map(({ object }) => object) } }
        : document,
    origin(path) {
      const [first, second, index, ...rest] = path;
      const from = first === 'spec' && second === 'objects' ? placed[Number(index)] : undefined;
      return from === undefined ? path : [...from.path, ...rest];
    },
    misplaced,
  };
}

const toArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isList = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isRecord(value) && value['apiVersion'] === 'v1' && value['kind'] === 'List';
