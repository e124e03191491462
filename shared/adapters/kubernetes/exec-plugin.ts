/**
 * Credential plugins of kubeconfigs (`users[].user.exec`), as client-go runs them: a command that prints an ExecCredential. The
 * library's own runner waits without end for one that hangs, and says nothing of one that fails silently.
 */
import { spawn } from 'node:child_process';
import { dirname, resolve, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { isatty } from 'node:tty';
import type { KubeConfig, User } from '@kubernetes/client-node';
import { z } from 'zod';
import { isJsonObject } from '../../domain/json.ts';
import type { JsonObject } from '../../domain/kubernetes-object.ts';
import { clusterInfo, execInfo } from './exec-info.ts';

type KubeConfigAuthenticator = Parameters<KubeConfig['addAuthenticator']>[0];

/** A plugin may ask a browser or a network; longer than this it asks nobody. */
const DEFAULT_TIMEOUT_MS = 30_000;
/** One that asks a person at a terminal: for a password, or a code. */
const ASKING_TIMEOUT_MS = 300_000;
/** Longer than this somebody wonders what is waited for. */
const DEFAULT_SILENCE_MS = 2000;
const MAX_OUTPUT_BYTES = 1_000_000;

const plugin = z.object({
  apiVersion: z.string().nullish(),
  command: z.string().min(1),
  args: z.array(z.string()).nullish(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
  installHint: z.string().nullish(),
  provideClusterInfo: z.boolean().nullish(),
  interactiveMode: z.string().nullish(),
});
const credential = z.object({
  status: z.object({
    token: z.string().optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.string().optional(),
  }),
});
type Credential = z.output<typeof credential>['status'];

/**
 * Takes the plugins of a loaded kubeconfig over from the library, whose own runner would win.
 * @param file the kubeconfig: a command with a relative path is relative to its folder
 */
export function takeExecPlugins(config: KubeConfig, file: string, onWait?: (what: string) => void): void {
  const plugins = new Map<string, unknown>();
  config.users = config.users.map(({ exec, ...user }) => {
    if (exec === undefined || exec === null) return user;
    plugins.set(user.name, withPath(exec, dirname(file)));
    return user;
  });
  const cluster = (): JsonObject | undefined => {
    const current = config.getCurrentCluster();
    return current === null ? undefined : clusterInfo(file, current);
  };
  config.addAuthenticator(createExecPlugin(plugins, { cluster, ...(onWait && { onWait }) }));
}

/** A command without a separator is looked for in `PATH`. */
function withPath(exec: unknown, folder: string): unknown {
  if (!isJsonObject(exec) || typeof exec['command'] !== 'string' || !exec['command'].includes(sep)) return exec;
  return { ...exec, command: resolve(folder, exec['command']) };
}

export interface ExecPluginOptions {
  readonly timeoutMs?: number;
  readonly silenceMs?: number;
  /** Called once the plugin has taken `silenceMs`, with what is waited for. */
  readonly onWait?: (what: string) => void;
  /** The cluster as a plugin gets it, where its `provideClusterInfo` asks for it. */
  readonly cluster?: () => JsonObject | undefined;
  /** Whether somebody sits at the standard input whom a plugin can ask. */
  readonly hasTerminal?: boolean;
}

/**
 * Runs a plugin once for as long as its credential is valid. Rejects with an Error that says what to do.
 * @param plugins `exec` by the name of the user
 */
export function createExecPlugin(
  plugins: ReadonlyMap<string, unknown>,
  options: ExecPluginOptions = {},
): KubeConfigAuthenticator {
  const known = new Map<string, Credential>();
  return {
    isAuthProvider: ({ name }: User) => plugins.has(name),
    async applyAuthentication(user, request) {
      let found = known.get(user.name);
      if (found === undefined || Date.parse(found.expirationTimestamp ?? '9999-12-31') <= Date.now()) {
        found = await run(plugins.get(user.name), options);
        known.set(user.name, found);
      }
      if (found.clientCertificateData !== undefined) request.cert = found.clientCertificateData;
      if (found.clientKeyData !== undefined) request.key = found.clientKeyData;
      if (found.token !== undefined) request.headers = { ...request.headers, Authorization: `Bearer ${found.token}` };
    },
  };
}

function run(exec: unknown, options: ExecPluginOptions): Promise<Credential> {
  const { silenceMs = DEFAULT_SILENCE_MS, onWait = () => undefined, cluster } = options;
  const parsed = plugin.safeParse(exec);
  if (!parsed.success) throw new Error('its credential plugin names no command: check `exec` in the kubeconfig');
  const { command, args, env, installHint, interactiveMode, provideClusterInfo, apiVersion } = parsed.data;
  const interactive = (options.hasTerminal ?? isatty(0)) && interactiveMode !== 'Never';
  const timeoutMs = options.timeoutMs ?? (interactive ? ASKING_TIMEOUT_MS : DEFAULT_TIMEOUT_MS);
  const refusal = (what: string, cause?: unknown): Error =>
    new Error(`its credential plugin ${command} ${what}`, { cause });
  if (interactiveMode === 'Always' && !interactive) {
    throw refusal('asks questions (interactiveMode: Always): run this in a terminal');
  }
  const told = provideClusterInfo === true ? cluster?.() : undefined;
  const variables = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
  const info = { KUBERNETES_EXEC_INFO: execInfo(apiVersion, { interactive, ...(told && { cluster: told }) }) };
  return new Promise((found, reject) => {
    const refuse = (what: string, cause?: unknown): void => reject(refusal(what, cause));
    const wait = setTimeout(() => onWait(`the credential plugin ${command}, at most ${timeoutMs / 1000} s`), silenceMs);
    const child = spawn(command, args ?? [], {
      env: { ...process.env, ...variables, ...info },
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    const [stdout, stderr] = [child.stdout, child.stderr].map(collect);
    if (interactive) child.stderr.pipe(process.stderr, { end: false });
    child.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(wait);
      const hint = installHint ?? 'install it, or correct the kubeconfig';
      if (error.code === 'ENOENT') return refuse(`is not installed: ${hint}`, error);
      refuse(`cannot be started: ${error.message}`, error);
    });
    child.once('exit', () => {
      // What it has started may keep them open.
      if (child.killed) for (const stream of [child.stdout, child.stderr]) stream.destroy();
    });
    child.once('close', code => {
      clearTimeout(wait);
      if (child.killed) return refuse(`gave no answer within ${timeoutMs / 1000} s: run it by hand`);
      if (code !== 0) {
        const errorOutput = stderr?.().trim() ?? '';
        return refuse(errorOutput === '' ? 'failed and said nothing: run it by hand' : `failed: ${errorOutput}`);
      }
      try {
        const { status } = credential.parse(JSON.parse(stdout?.() ?? ''));
        if (isUsable(status)) return found(status);
        refuse('printed neither a token nor a client certificate with its key: run it by hand');
      } catch (cause) {
        refuse('printed no ExecCredential: run it by hand', cause);
      }
    });
  });
}

const isUsable = ({ token, clientCertificateData, clientKeyData }: Credential): boolean =>
  (clientCertificateData === undefined) === (clientKeyData === undefined) && (token ?? clientKeyData) !== undefined;

/** Collects the text of a stream; the function returns what has been read so far. */
function collect(stream: Readable): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_OUTPUT_BYTES) chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString('utf8');
}
