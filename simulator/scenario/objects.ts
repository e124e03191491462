/** All that a scenario finds at its start: what its files bring, the nodes of its shorthand, and its own objects. */
import { toTimestamp } from '../../shared/domain/time.ts';
import { readDeployedFiles, type PlacedValue } from './deployed-files.ts';
import { describeIssue } from './messages.ts';
import { manifestsOfNodes } from './nodes.ts';
import type { Path } from './places.ts';
import type { ResourceCatalog } from './resource-names.ts';
import type { Manifest, Place, ScenarioFault } from './scenario.ts';
import { manifest, type ScenarioDocument } from './schema.ts';

export interface PlacedObject {
  readonly manifest: Manifest;
  /** Where a part of it stands. */
  readonly locate: (path: Path) => Place;
}

/** What is there at the start. */
export interface Beginning {
  readonly objects: readonly PlacedObject[];
  readonly config: string | undefined;
  readonly templates: Readonly<Record<string, string>>;
}

export interface ScenarioSource {
  readonly file: string;
  readonly catalog: ResourceCatalog;
  readonly locate: (path: Path) => Place;
}

/** Adds to `faults` what is wrong with the files, and what stands twice. */
export function beginningOf(
  { spec }: ScenarioDocument,
  { file, catalog, locate }: ScenarioSource,
  faults: ScenarioFault[],
): Beginning {
  const { files: paths = [], nodes = [], objects = [], config, templates = {}, ...rest } = spec;
  const files = readDeployedFiles({
    file,
    paths,
    known: catalog.resources,
    document: [config, objects.map(({ body }) => body), rest],
    locate: index => locate(['spec', 'files', index]),
  });
  faults.push(...files.faults);
  if (config !== undefined && files.config !== undefined) {
    faults.push({ place: locate(['spec', 'config']), message: `stands in ${files.config.place.file} already` });
  }
  for (const key of Object.keys(templates)) {
    if (key in files.templates) {
      faults.push({ place: locate(['spec', 'templates', key]), message: 'stands in one of the files already' });
    }
  }
  return {
    objects: [
      ...files.manifests.flatMap(each => readManifest(each, faults)),
      ...manifestsOfNodes(nodes, toTimestamp(spec.start)).flatMap((manifests, index) =>
        manifests.map(each => ({ manifest: each, locate: () => locate(['spec', 'nodes', index]) })),
      ),
      ...objects.map((each, index) => ({
        manifest: each,
        locate: (path: Path) => locate(['spec', 'objects', index, ...path]),
      })),
    ],
    config: config ?? files.config?.text,
    templates: { ...files.templates, ...templates },
  };
}

/** Tools write `creationTimestamp: null` into the metadata of what is not stored yet. */
function readManifest({ value, locate }: PlacedValue, faults: ScenarioFault[]): readonly PlacedObject[] {
  const { metadata } = value;
  const stated = Object.entries(typeof metadata === 'object' && metadata !== null ? metadata : {});
  const written = Object.fromEntries(stated.filter(([, field]) => field !== null));
  const parsed = manifest.safeParse({ ...value, metadata: written }, { error: describeIssue });
  if (parsed.success) return [{ manifest: parsed.data, locate }];
  faults.push(...parsed.error.issues.map(({ path, message }) => ({ place: locate(path), message })));
  return [];
}
