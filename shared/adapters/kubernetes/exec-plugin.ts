/**
 * Credential plugins of kubeconfigs (`users[].user.exec`), as client-go runs them: a command that prints an ExecCredential. The
 * library's own runner waits without end for one that hangs, and says nothing of one that fails silently.
 */
import { execFile } from 'node:child_process';
import type { KubeConfig, User } from '@kubernetes/client-node';
import { z } from 'zod';

type Authenticator = Parameters<KubeConfig['addAuthenticator']>[0];

/** A plugin may ask a browser or a network; longer than this it asks nobody. */
const DEFAULT_TIMEOUT_MS = 30_000;
/** Longer than this somebody wonders what is waited for. */
const DEFAULT_SILENCE_MS = 2000;
const MAX_OUTPUT_BYTES = 1_000_000;

const plugin = z.object({
  command: z.string().min(1),
  args: z.array(z.string()).nullish(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
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

/** Takes the plugins of a loaded kubeconfig over from the library, whose own runner would win. */
export function takeExecPlugins(config: KubeConfig, onWait?: (what: string) => void): void {
  const plugins = new Map<string, unknown>();
  config.users = config.users.map(({ exec, ...user }) => {
    if (exec === undefined || exec === null) return user;
    plugins.set(user.name, exec);
    return user;
  });
  config.addAuthenticator(createExecPlugin(plugins, { ...(onWait && { onWait }) }));
}

export interface ExecPluginOptions {
  readonly timeoutMs?: number;
  readonly silenceMs?: number;
  /** What is waited for, once it has taken `silenceMs`. */
  readonly onWait?: (what: string) => void;
}

/**
 * Runs a plugin once for as long as its credential is valid. Rejects with an Error that says what to do.
 * @param plugins `exec` by the name of the user
 */
export function createExecPlugin(
  plugins: ReadonlyMap<string, unknown>,
  options: ExecPluginOptions = {},
): Authenticator {
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
  const { timeoutMs = DEFAULT_TIMEOUT_MS, silenceMs = DEFAULT_SILENCE_MS, onWait = () => undefined } = options;
  const parsed = plugin.safeParse(exec);
  if (!parsed.success) throw new Error('its credential plugin names no command: check `exec` in the kubeconfig');
  const { command, args, env } = parsed.data;
  const variables = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
  return new Promise((resolve, reject) => {
    const refuse = (what: string, cause?: unknown): void =>
      reject(new Error(`its credential plugin ${command} ${what}`, { cause }));
    const wait = setTimeout(() => onWait(`the credential plugin ${command}, at most ${timeoutMs / 1000} s`), silenceMs);
    const child = execFile(
      command,
      args ?? [],
      {
        env: { ...process.env, ...variables },
        timeout: timeoutMs,
        killSignal: 'SIGKILL',
        maxBuffer: MAX_OUTPUT_BYTES,
      },
      (error, stdout, stderr) => {
        clearTimeout(wait);
        if (error?.code === 'ENOENT') return refuse('is not installed: install it, or correct the kubeconfig', error);
        if (error?.killed === true) {
          return refuse(`gave no answer within ${timeoutMs / 1000} s: run it by hand`, error);
        }
        if (error !== null) {
          const said = stderr.trim();
          return refuse(said === '' ? 'failed and said nothing: run it by hand' : `failed: ${said}`, error);
        }
        try {
          resolve(credential.parse(JSON.parse(stdout)).status);
        } catch (cause) {
          refuse('printed no ExecCredential: run it by hand', cause);
        }
      },
    );
    child.stdin?.end();
  });
}
