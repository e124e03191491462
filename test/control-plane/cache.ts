// Where built things are kept: outside the tree, one directory per content, made once even when two runs want it at once.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Prints one line of progress. */
export type Log = (line: string) => void;

const LOCK_POLL_MS = 1000;
/** Between a directory's name and the id of the process that fills it. */
const UNFINISHED = '.unfinished-';

/** The directory that holds everything Curfew's test control plane builds or copies. */
export function cacheRoot(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'curfew', 'control-plane');
}

/**
 * Returns the cached directory `name`, calling `make` to fill it first when it is not there. A directory is seen whole
 * or not at all: it is filled under another name and renamed. A second run waits for the first instead of working too.
 */
export async function cached(name: string, log: Log, make: (directory: string) => Promise<void>): Promise<string> {
  const directory = join(cacheRoot(), name);
  if (existsSync(directory)) return directory;
  await mkdir(dirname(directory), { recursive: true });
  await withLock(`${directory}.lock`, log, async () => {
    if (existsSync(directory)) return;
    await removeAbandoned(directory);
    const unfinished = await mkdtemp(`${directory}${UNFINISHED}${process.pid}-`);
    try {
      await make(unfinished);
      await rename(unfinished, directory);
    } catch (error) {
      await rm(unfinished, { recursive: true, force: true });
      if (!existsSync(directory)) throw error;
    }
  });
  return directory;
}

/** Removes what runs that were killed left half done. */
async function removeAbandoned(directory: string): Promise<void> {
  const prefix = `${basename(directory)}${UNFINISHED}`;
  for (const name of await readdir(dirname(directory))) {
    if (name.startsWith(prefix) && !isAlive(Number.parseInt(name.slice(prefix.length), 10))) {
      await rm(join(dirname(directory), name), { recursive: true, force: true });
    }
  }
}

/** The lock only saves work; correctness comes from the rename, so a lock taken twice does no harm. */
async function withLock(path: string, log: Log, body: () => Promise<void>): Promise<void> {
  const claim = `${path}.${randomUUID()}`;
  await writeFile(claim, String(process.pid));
  try {
    for (let waited = false; !(await tryLink(claim, path)); waited = true) {
      const owner = Number(await readFile(path, 'utf8').catch(() => '0'));
      if (!isAlive(owner)) await rm(path, { force: true });
      else {
        if (!waited) log(`process ${owner} is making ${basename(path, '.lock')}; waiting for it`);
        await sleep(LOCK_POLL_MS);
      }
    }
  } finally {
    await rm(claim, { force: true });
  }
  try {
    await body();
  } finally {
    await rm(path, { force: true });
  }
}

async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
