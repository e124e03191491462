// What operators do with etcd: compact it, save a snapshot of it, restore one. By its HTTP gateway, and by etcdutl as released.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { ensureEtcdutl } from './build.ts';
import { etcdDataDirectory, type Layout } from './flags.ts';

/** A snapshot in a file. */
export type EtcdSnapshot = {
  readonly file: string;
  /** The newest resourceVersion in it. */
  readonly revision: number;
};

export type RestoreSettings = {
  /**
   * Goes on so far after the snapshot's revision, with everything before compacted, so that no client takes an old position for a valid
   * one. Default: goes on at the snapshot's revision, as before etcd 3.6: revisions that clients have seen come again with other contents.
   */
  readonly bumpRevision?: number;
};

const run = promisify(execFile);

/** Compacts etcd to its newest revision. */
export async function compactEtcd(url: string): Promise<void> {
  const anyKey = Buffer.from('/').toString('base64');
  const revision = /"revision":"(\d+)"/.exec(await call(url, 'kv/range', { key: anyKey }))?.[1];
  if (revision === undefined) throw new Error('etcd told no revision');
  await call(url, 'kv/compaction', { revision, physical: true });
}

/** Saves a snapshot among the files of the control plane. */
export async function snapshotOfEtcd(url: string, { directory }: Pick<Layout, 'directory'>): Promise<EtcdSnapshot> {
  const answer = await call(url, 'maintenance/snapshot', {});
  const parts = [...answer.matchAll(/"blob":"([^"]*)"/g)].map(([, blob = '']) => Buffer.from(blob, 'base64'));
  const file = join(directory, `snapshot-${randomUUID()}.db`);
  await writeFile(file, Buffer.concat(parts));
  const status = await etcdutl('snapshot', 'status', file, '--write-out=json');
  const revision = /"revision":(\d+)/.exec(status)?.[1];
  if (revision === undefined) throw new Error(`etcdutl told no revision: ${status}`);
  return { file, revision: Number(revision) };
}

/** Replaces the data of an etcd that does not run. */
export async function restoreEtcd(
  { file }: EtcdSnapshot,
  layout: Pick<Layout, 'directory'>,
  { bumpRevision }: RestoreSettings,
): Promise<void> {
  const data = etcdDataDirectory(layout);
  await rm(data, { recursive: true, force: true });
  const bump = bumpRevision === undefined ? [] : [`--bump-revision=${bumpRevision}`, '--mark-compacted'];
  await etcdutl('snapshot', 'restore', file, `--data-dir=${data}`, ...bump);
}

async function etcdutl(...parameters: string[]): Promise<string> {
  const file = await ensureEtcdutl(() => undefined);
  if (file === undefined) throw new Error('there is no etcdutl');
  return (await run(file, parameters)).stdout;
}

async function call(url: string, path: string, body: object): Promise<string> {
  const response = await fetch(`${url}/v3/${path}`, { method: 'POST', body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`etcd answered ${response.status}: ${text}`);
  return text;
}
