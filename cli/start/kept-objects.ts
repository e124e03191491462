/**
 * The objects of a local cluster in a file of `--data DIR`, so that a restart goes on where the last run ended: with their UIDs, by which the
 * records know them. What every start installs by itself (definitions, roles, admission policies) is that of this version, and not kept.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { ApiServerCore } from '../../packages/kube-apiserver/src/types.ts';
import type { KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import { UsageError } from '../usage-error.ts';

/** The time between two saves, and so the most that a crash may lose. */
const SAVE_EVERY_MS = 1000;
const VERSION = 1;

const keptSchema = z.object({
  version: z.literal(VERSION),
  objects: z.array(
    z.looseObject({ apiVersion: z.string(), kind: z.string(), metadata: z.looseObject({ name: z.string() }) }),
  ),
});

export interface KeptObjects {
  /** Whether there were any. */
  readonly wereThere: boolean;
  /** Writes what is there now, and no more. */
  close(): void;
}

/**
 * Stores the objects of the folder in the cluster, where it has any, and writes them again as they change. Call it before anything else
 * looks at the cluster: a record whose Node is not there is closed. Throws `UsageError` for a folder that cannot be used.
 */
export function keepObjects(core: ApiServerCore, folder: string): KeptObjects {
  const file = join(folder, 'objects.json');
  const installed = new Set(objectsOf(core).map(keyOf));
  const kept = readKept(folder, file);
  // A definition before its objects.
  const isDefinition = ({ kind }: KubernetesManifest): boolean => kind === 'CustomResourceDefinition';
  for (const object of kept?.filter(isDefinition) ?? []) core.seed(object);
  for (const object of kept?.filter(each => !isDefinition(each)) ?? []) core.seed(object);

  let saved = core.resourceVersion;
  const save = (): void => {
    if (saved === core.resourceVersion) return;
    saved = core.resourceVersion;
    const objects = objectsOf(core).filter(object => !installed.has(keyOf(object)));
    writeFileSync(`${file}.new`, `${JSON.stringify({ version: VERSION, objects })}\n`);
    renameSync(`${file}.new`, file);
  };
  const timer = setInterval(save, SAVE_EVERY_MS);
  timer.unref();
  return {
    wereThere: kept !== undefined,
    close() {
      clearInterval(timer);
      save();
    },
  };
}

function readKept(folder: string, file: string): readonly KubernetesManifest[] | undefined {
  mkdirSync(folder, { recursive: true });
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return keptSchema.parse(JSON.parse(text)).objects;
  } catch (error) {
    throw new UsageError(`${file} holds no objects of a local cluster: remove ${folder} to begin again`, {
      cause: error,
    });
  }
}

/** All that is stored, each once. */
function objectsOf(core: ApiServerCore): readonly KubernetesManifest[] {
  const seen = new Set<string>();
  return core.resources().flatMap(({ group, version, resource, kind }) => {
    if (seen.has(`${resource}.${group}`)) return [];
    seen.add(`${resource}.${group}`);
    const apiVersion = group === '' ? version : `${group}/${version}`;
    return core.list({ group, version, resource }).items.map(object => ({ ...object, apiVersion, kind }));
  });
}

const keyOf = ({ apiVersion, kind, metadata }: KubernetesManifest): string =>
  JSON.stringify([apiVersion, kind, metadata.namespace ?? '', metadata.name]);
