/**
 * A real Slurm of its own, three nodes on this machine: munged, slurmctld, three slurmd, slurmrestd, all as children that end with this
 * process, on loopback, in one temporary folder. Runs as root and as any user.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { hostname, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { connectSlurm } from '../../examples/slurm-drain/bridge/settings.ts';
import type { SlurmView } from '../../examples/slurm-drain/bridge/slurm.ts';
import type { SlurmSubject } from '../examples/slurm-drain/slurm.contract.ts';

const run = promisify(execFile);
const NODES = ['n1', 'n2', 'n3'] as const;
const NOBODY = 65534;
const PATIENCE_MS = 30_000;

export interface RealSlurm extends SlurmSubject {
  /** Runs one of Slurm's commands as the administrator; its output. */
  command(name: string, ...args: string[]): Promise<string>;
  /** Lets a job come to its own end. */
  finish(job: number): void;
  /** Waits until slurmctld has saved all that has happened so far: it does so some seconds late. */
  saved(): Promise<void>;
  /** Writes a token of that many seconds, in place of the one that the bridge uses. */
  renewToken(lifespan: number): Promise<void>;
  stop(): Promise<void>;
  /** Environment variables by which the bridge finds it. */
  readonly bridgeEnv: Readonly<Record<string, string>>;
}

export async function startSlurm(): Promise<RealSlurm> {
  const dir = mkdtempSync(join(tmpdir(), 'curfew-slurm-'));
  const at = (...parts: string[]): string => join(dir, ...parts);
  // munged wants its socket reachable for all, and its key for itself alone.
  chmodSync(dir, 0o711);
  for (const folder of ['ctld', 'log', 'run', 'sock', 'rest', ...NODES.map(name => `d/${name}`)]) {
    mkdirSync(at(folder), { recursive: true, mode: 0o755 });
  }
  mkdirSync(at('munge'), { mode: 0o700 });
  writeFileSync(at('munge/key'), randomBytes(128), { mode: 0o400 });
  writeFileSync(at('jwt'), randomBytes(32), { mode: 0o600 });
  const ports = await freePorts(NODES.length + 1);
  writeFileSync(at('slurm.conf'), configuration(dir, ports));

  const { username, uid } = userInfo();
  const env = { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin`, SLURM_CONF: at('slurm.conf') };
  const command = async (name: string, ...args: string[]): Promise<string> =>
    (await run(name, args, { env, timeout: PATIENCE_MS })).stdout;
  /** `setpriv` ends it with this process, however that ends. */
  const start = (name: string, args: readonly string[], more: { uid?: number; env?: NodeJS.ProcessEnv } = {}) => {
    const log = openSync(at('log', `${name}-${args.at(-1)?.replaceAll('/', '_') ?? ''}`), 'a');
    const identity = more.uid === undefined ? [] : [`--reuid=${more.uid}`, `--regid=${more.uid}`, '--clear-groups'];
    const whole = ['--pdeathsig', 'TERM', ...identity, name, ...args];
    return spawn('setpriv', whole, { env: { ...env, ...more.env }, cwd: dir, stdio: ['ignore', log, log] });
  };
  const startController = (): ChildProcess => start('slurmctld', ['-D']);

  const munge = start('munged', [
    '-F',
    ...['key', 'pid', 'log', 'seed'].map(file => `--${file}-file=${at('munge', file)}`),
    `--socket=${at('sock/m')}`,
  ]);
  await until(() => existsSync(at('sock/m')));
  let controller = startController();
  const daemons = NODES.map(name => start('slurmd', ['-D', '-N', name]));
  const isRoot = uid === 0;
  if (isRoot) chownSync(at('rest'), NOBODY, NOBODY);
  const rest = start('slurmrestd', ['-s', 'openapi/v0.0.38', '-a', 'rest_auth/jwt', `unix:${at('rest/s')}`], {
    ...(isRoot && { uid: NOBODY }),
    env: { SLURM_JWT: 'daemon' },
  });
  const tokenFile = at('token');
  const renewToken = async (lifespan: number): Promise<void> =>
    writeFileSync(tokenFile, await command('scontrol', 'token', `username=${username}`, `lifespan=${lifespan}`));
  await until(() => renewToken(3600).then(() => existsSync(at('rest/s'))));
  const url = `unix:${at('rest/s')}`;
  const slurm = connectSlurm({ url, config: at('slurm.conf'), user: username, tokenFile });

  const untilSeen = async (condition: (view: SlurmView) => boolean): Promise<SlurmView> => {
    let view = await slurm.look();
    await until(
      async () => condition((view = await slurm.look())),
      () => JSON.stringify(view, replaceMaps),
    );
    return view;
  };
  const isQuiet = (view: SlurmView): boolean =>
    view.kind === 'seen' &&
    view.jobs.length === 0 &&
    [...view.nodes.values()].every(({ state, flags }) => state === 'idle' && flags.length === 0);
  await untilSeen(isQuiet);

  return {
    slurm,
    bridgeEnv: {
      SLURMRESTD_URL: url,
      SLURM_CONF: at('slurm.conf'),
      SLURM_USER: username,
      SLURM_TOKEN_FILE: tokenFile,
    },
    command,
    renewToken,
    until: untilSeen,
    async submit(node) {
      const script = `until [ -e ${dir}/done-$SLURM_JOB_ID ]; do sleep 0.2; done`;
      const id = Number(
        await command('sbatch', '--parsable', '-w', node, '-D', dir, '-o', '/dev/null', `--wrap=${script}`),
      );
      await untilSeen(view => view.kind === 'seen' && view.jobs.some(job => job.id === id && job.state === 'RUNNING'));
      return id;
    },
    cancel: async job => void (await command('scancel', String(job))),
    drainAs: async (reason, node) =>
      void (await command('scontrol', 'update', `nodename=${node}`, 'state=drain', `reason=${reason}`)),
    async killController() {
      await end(controller, 'SIGKILL');
    },
    finish: job => writeFileSync(at(`done-${job}`), ''),
    async saved() {
      // Changes of its own, which are saved with all that came before.
      const mark = `saved-${Date.now()}`;
      await command('scontrol', 'update', 'nodename=n3', `comment=${mark}`);
      await command('sbatch', '--hold', '-D', dir, '-J', mark, '--wrap=true');
      const isSaved = (file: string): boolean =>
        existsSync(at('ctld', file)) && readFileSync(at('ctld', file)).includes(mark);
      await until(() => isSaved('job_state') && isSaved('node_state'));
    },
    async startController() {
      controller = startController();
      await untilSeen(view => view.kind === 'seen');
    },
    async reset() {
      await command('scancel', '-u', username);
      await untilSeen(view => view.kind === 'seen' && view.jobs.length === 0);
      const view = await slurm.look();
      const nodes = view.kind === 'seen' ? [...view.nodes.values()] : [];
      for (const { name, flags } of nodes) {
        if (flags.includes('DRAIN')) await command('scontrol', 'update', `nodename=${name}`, 'state=undrain');
      }
      await untilSeen(isQuiet);
    },
    async stop() {
      // Jobs outlive their daemons.
      await command('scancel', '-u', username).catch(() => undefined);
      await until(async () => (await command('squeue', '-h')) === '').catch(() => undefined);
      slurm.close();
      for (const child of [...daemons, rest, controller, munge]) await end(child, 'SIGTERM');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

/** Looks often, for as long as a busy machine may take. Rejects with what was seen. */
async function until(condition: () => boolean | Promise<boolean>, seen: () => string = () => ''): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  let failure: unknown;
  while (Date.now() < deadline) {
    try {
      if (await condition()) return;
    } catch (error) {
      failure = error;
    }
    await sleep(50);
  }
  throw new Error(`Slurm did not get there in ${PATIENCE_MS} ms: ${seen()}`, { cause: failure });
}

const replaceMaps = (_: string, value: unknown): unknown => (value instanceof Map ? [...value.values()] : value);

/** Ports of this machine that nobody uses, now. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map(server => once(server, 'listening')));
  const ports = servers.map(server => {
    const address = server.address();
    return address !== null && typeof address === 'object' ? address.port : 0;
  });
  await Promise.all(servers.map(server => once(server.close(), 'close')));
  return ports;
}

/** Without the `Communication` line every daemon listens on all interfaces. */
function configuration(dir: string, [controllerPort, ...ports]: readonly number[]): string {
  const host = hostname();
  const { username } = userInfo();
  const nodes = NODES.map(
    (name, index) =>
      `NodeName=${name} NodeHostname=${host} NodeAddr=127.0.0.1 Port=${ports[index]} CPUs=2 RealMemory=100`,
  );
  return `ClusterName=test
SlurmctldHost=${host}(127.0.0.1)
SlurmctldPort=${controllerPort}
SlurmUser=${username}
SlurmdUser=${username}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
AuthInfo=socket=${dir}/sock/m
AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key=${dir}/jwt
CredType=cred/munge
StateSaveLocation=${dir}/ctld
SlurmdSpoolDir=${dir}/d/%n
SlurmctldPidFile=${dir}/run/ctld.pid
SlurmdPidFile=${dir}/run/%n.pid
SlurmctldLogFile=${dir}/log/ctld.log
SlurmdLogFile=${dir}/log/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MailProg=/bin/true
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=15
MessageTimeout=2
KillWait=2
${nodes.join('\n')}
PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`;
}
