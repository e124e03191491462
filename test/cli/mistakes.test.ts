/** What a user can get wrong: each ends with exit code 2 and says what to do, without a stack trace. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import packageFile from '../../package.json' with { type: 'json' };
import { createExecPlugin } from '../../shared/adapters/kubernetes/exec-plugin.ts';
import { runHere, type Ended } from './run-curfew.ts';

let folder: string;
let html: Server;
let strict: Server;
let socket: TcpServer;
const at = (name: string): string => join(folder, name);

function kubeconfig(server: string, user: object, cluster: object = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server, ...cluster } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    users: [{ name: 'u', user }],
  });
}

const plugin = (command: string): object => ({
  exec: {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: '/bin/sh',
    args: ['-c', command],
    interactiveMode: 'Never',
  },
});

/** Knows the user, who may do nothing. */
function forbid({ url }: IncomingMessage, response: ServerResponse): void {
  const isVersion = url === '/version';
  const refusal = { kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403, message: 'User "jane" cannot' };
  response.writeHead(isVersion ? 200 : 403, { 'content-type': 'application/json' });
  response.end(JSON.stringify(isVersion ? { gitVersion: 'v1.33.0' } : refusal));
}

beforeAll(async () => {
  for (const name of ['AWS_REGION', 'AWS_PROFILE']) vi.stubEnv(name, undefined);
  vi.stubEnv('AWS_CONFIG_FILE', '/nowhere');
  folder = mkdtempSync(join(tmpdir(), 'curfew-test-'));
  html = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html><body>Welcome</body></html>');
  });
  await new Promise<void>(resolve => void html.listen(0, '127.0.0.1', resolve));
  const { port } = html.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  strict = createServer(forbid).listen(0, '127.0.0.1');
  await once(strict, 'listening');
  writeFileSync(
    at('forbids'),
    kubeconfig(`http://127.0.0.1:${(strict.address() as AddressInfo).port}`, { token: 't' }),
  );
  socket = createTcpServer().listen(at('socket'));
  execFileSync('mkfifo', [at('pipe')]);
  writeFileSync(at('html'), kubeconfig(url, { token: 't' }));
  writeFileSync(at('mute'), kubeconfig(url, plugin('exit 3')));
  symlinkSync('loop', at('loop'));
  writeFileSync(at('untoken'), kubeconfig(url, { tokenFile: 'no-token' }));
  writeFileSync(at('unproxied'), kubeconfig(url, {}, { 'proxy-url': 'http://127.0.0.1:1' }));
  writeFileSync(at('nowhere'), kubeconfig('not a url', { token: 't' }));
  const policy = (name: string, spec: string): string =>
    `apiVersion: curfew.dev/v1alpha1\nkind: NodeLifecyclePolicy\nmetadata: { name: ${name} }\nspec: ${spec}\n`;
  const both = 'nodePoolSelector: {}, mode: Enforce';
  const scenario = (rest: string): string =>
    `apiVersion: curfew.dev/v1alpha1\nkind: Scenario\nmetadata: { name: s }\nspec:\n${rest}`;
  const start = '  start: "2024-11-01T15:00:00Z"\n';
  const texts = {
    'good.yaml': scenario(`${start}  duration: 1h\n`),
    'loop.yaml': scenario(`${start}  duration: 1h\n  objects: &a [*a]\n`),
    'twins.yaml': `${scenario(`${start}  duration: 1h\n`)}---\n${scenario(`${start}  duration: 2h\n`)}`,
    'typo.yaml': scenario(`${start}  dauer: 1h\n`),
    'tabs.yaml': scenario(`\tstart: x\n`),
    'twice.yaml': scenario(`${start}  start: x\n`),
    'unit.yaml': scenario(`${start}  duration: 5d\n`),
    'enforce.yaml': policy('p', '{ nodePoolSelector: {}, mode: enforce, repair: {} }'),
    'days.yaml': policy('p', `{ ${both}, repair: { defaultTolerationDuration: 4d } }`),
    'kind.yaml': policy('p', `{ ${both}, repair: {} }`).replace('Lifecycle', 'Lifecyle'),
    'version.yaml': policy('p', `{ ${both}, repair: {} }`).replace('v1alpha1', 'v1'),
    'reach.yaml': policy('p', '{ repair: {} }'),
    'zero.yaml': policy('p', `{ ${both}, repair: { maxUnhealthy: 0 } }`),
    'same.yaml': `${policy('p', `{ ${both}, repair: {} }`)}---\n${policy('p', `{ ${both}, protection: {} }`)}`,
    'bad.toml': '[[userNamespaces]]\nname = "*"\nmode = "immediate"\n',
    'comma.json': '{ "apiVersion": "curfew.dev/v1alpha1", "kind": "NodeLifecyclePolicy", }\n',
  };
  for (const [name, text] of Object.entries(texts)) writeFileSync(at(name), text);
  writeFileSync(at('nobody'), kubeconfig('http://127.0.0.1:1', { token: 't' }));
  writeFileSync(at('list.yaml'), '- 1\n- 2\n');
  writeFileSync(at('binary.yaml'), Buffer.from(Array.from({ length: 4000 }, (_, index) => (index * 7) % 256)));
  writeFileSync(at('latin1.yaml'), Buffer.from([0x6e, 0x61, 0x6d, 0x65, 0x3a, 0x20, 0xe9, 0x0a]));
  writeFileSync(at('deep.yaml'), `a: ${'['.repeat(10_000)}${']'.repeat(10_000)}\n`);
  writeFileSync(at('faults.yaml'), '}\n- ]\n'.repeat(200));
  writeFileSync(at('huge.yaml'), `# ${'x'.repeat(100)}\n`.repeat(200_000));
});
afterAll(() => {
  vi.unstubAllEnvs();
  html.close();
  strict.close();
  socket.close();
  rmSync(folder, { recursive: true, force: true });
});

/** `{}` stands for the folder, `{port}` for the port of the server that answers HTML. */
const EACH_COMMAND: readonly (readonly [string, string])[] = [
  // Wrong commands, arguments and options: with the nearest one.
  ['simulte x.yaml', "error: unknown command 'simulte'"],
  ['help nope', "error: unknown command 'nope'"],
  ['policies admision', "error: unknown command 'admision'"],
  ['explain', "error: missing required argument 'kind'"],
  ['explain nod x', 'not nod, did you mean "node"?'],
  ['explain node', 'a name is missing'],
  ['explain hook backup', 'node NAME, nodepool [NAME] or policy [NAME], not hook'],
  ['explain node n1 --stack Curfew', 'no Region is set: give --region, or set AWS_REGION'],
  ['explain node n1 --namespace', "error: option '-n, --namespace <name>' argument missing"],
  [
    'event send TerminationHookAnswered --key backup --result succeed',
    'must be UID/NAME, as the event of the hook has it',
  ],
  [
    'event send TerminationHookAnswered --key u/backup --result done',
    'Allowed choices are succeed, notFound, fail, pending',
  ],
  ['doctor --stack Curfew', 'no Region is set: give --region, or set AWS_REGION'],
  ['snapshot --out s.yaml', "error: unknown option '--out'"],
  ['explain pod a/b/c', 'a pod is NAMESPACE/NAME, not a/b/c'],
  ['explain node n1 --at 5m', '--at needs --scenario: a cluster is always looked at now'],
  ['explain node n1 --scenario {}/good.yaml --at 5d', '--at takes a Go duration or an RFC 3339 instant'],
  ['explain node n1 --scenario {}/good.yaml --at 3h', '--at 3h lies outside the scenario'],
  ['explain node n1 --scenario {}/twins.yaml#s', '{}/twins.yaml holds 2 scenarios s: give each a name of its own'],
  ['compare {}/good.yaml {}/twins.yaml#s', '{}/twins.yaml holds 2 scenarios s: give each a name of its own'],
  [
    'simulate {}/loop.yaml',
    '{}/loop.yaml:7:16: error: stands for a part of the file that it stands in itself, which has no end',
  ],
  ['explain node n1 --scenario {}/good.yaml#nope', '{}/good.yaml holds no scenario nope'],
  ['explain node n1 --outptu json', "error: unknown option '--outptu'"],
  ['explain node n1 --output yaml', 'Allowed choices are text, json'],
  ['simulate {}/good.yaml --seed abc', '--seed must be a whole number, not "abc"'],
  ['simulate {}/good.yaml --seeds 5', '--seeds must be a range A..B, not "5": write 1..5'],
  ['simulate {}/good.yaml --seeds 9..2', '--seeds must be a range A..B, not "9..2": write 2..9'],
  ['simulate {}/good.yaml --faults medium', 'Allowed choices are none, light, heavy'],
  ['simulate {}/good.yaml --only web-1', '--only takes'],
  ['simulate {}/good.yaml --seeds 1..2 --html {}/d.html', '--html shows one run, and these are 2'],
  ['compare {}/good.yaml', 'compare takes two scenarios, or one with two --policies'],
  ['compare {}/good.yaml {}/none.yaml', '{}/none.yaml does not exist'],
  ['swarm --jobs 0', '--jobs must be a whole number from 1 to 64, not "0"'],
  ['search --variations many', '--variations must be a whole number from 0 to 1,000,000, not "many"'],
  ['search --seed x', '--seed must be a whole number, not "x"'],
  ['search --jobs 0', '--jobs must be a whole number from 1 to 64, not "0"'],
  ['search --seeds 9..1', '--seeds must be a range A..B, not "9..1": write 1..9'],
  ['swarm --ci --seeds 1..2', 'give either --seeds or --ci, which has its own'],
  ['explore repiar', 'there are no situations for repiar: choose of '],
  ['validate', "error: missing required argument 'paths'"],
  ['validate {}/none.yaml', '{}/none.yaml: there is no such file'],
  ['validate {}/good.yaml --event {}/none.json', '{}/none.json: there is no such file'],
  ['completion tcsh', 'Allowed choices are bash, zsh, fish'],
  ['crd-patch nodepools', 'Allowed choices are nodepool'],
  ['policies admission {}/none.yaml', '{}/none.yaml: there is no such file'],
  ['policies admission {}/good.yaml --context c', 'give either files or a cluster'],
  ['rbac hooks {}/none.yaml', '{}/none.yaml: there is no such file'],
  ['start --example nope', 'there is no example "nope": give one of managed-database'],
  ['start --enforce', '--enforce goes with --kubeconfig'],
  ['start --context c', '--context goes with --kubeconfig'],
  ['start --port 80', '--port goes with --serve and --example'],
  ['start --data {}', '--data goes with --serve'],
  ['start --serve --kubeconfig {}/html', 'give either --serve or --kubeconfig'],
  ['drain', "error: missing required argument 'node'"],
  ['redrive', "error: required option '--function <name>' not specified"],
  ['event send HealthEvnt --node n1', 'Allowed choices are HealthEvent, DrainRequested, TerminationHookAnswered'],
  ['event send HealthEvent', 'HealthEvent needs --node, or the whole detail by --file'],
  ['event send DrainRequested --node n1 --healthy', '--healthy does not go with DrainRequested'],
  // Files that hold something else, or a slip.
  ['simulate {}/typo.yaml', '{}/typo.yaml:6:3: error: spec.dauer: unknown field'],
  ['simulate {}/tabs.yaml', '{}/tabs.yaml:5:1: error: is indented with a tab: YAML takes blanks'],
  ['simulate {}/twice.yaml', '{}/twice.yaml:6:3: error: stands twice in its block: keys must be unique'],
  ['simulate {}/unit.yaml', 'error: spec.duration: '],
  ['compare {}/typo.yaml {}/good.yaml', '{}/typo.yaml:6:3: error: spec.dauer: unknown field'],
  [
    'compare {}/good.yaml --policies {}/enforce.yaml {}/days.yaml',
    '{}/enforce.yaml:4:37: error: spec.mode: must be one of Enforce, Observe, not "enforce", did you mean "Enforce"?',
  ],
  ['explain node n1 --scenario {}/typo.yaml', '{}/typo.yaml:6:3: error: spec.dauer: unknown field'],
  ['policies admission {}/twice.yaml', '{}/twice.yaml:6:3: error: stands twice in its block'],
  // Clusters that cannot be used.
  ['explain node n1 --kubeconfig {}/nobody', 'http://127.0.0.1:1'],
  ['drain n1 --kubeconfig {}/nobody', 'http://127.0.0.1:1'],
  ['uninstall --kubeconfig {}/nobody', 'http://127.0.0.1:1'],
  ['explain node n1 --kubeconfig {}/nobody --context prd', 'has no context prd'],
  ['explain node n1 --kubeconfig {}/none', '{}/none'],
  ['drain n1 --kubeconfig {}/forbids', 'have this granted to your user, or choose another one by --context'],
];

/** What `curfew validate`, `explain` and others answer with 1: it can be done, and the answer is no. */
const ANSWERS: readonly (readonly [string, string])[] = [
  ['validate {}/typo.yaml', '{}/typo.yaml:6:3: error: spec.dauer: unknown field'],
  [
    'validate {}/enforce.yaml',
    'error: spec.mode: must be one of Enforce, Observe, not "enforce", did you mean "Enforce"?',
  ],
  ['validate {}/days.yaml', 'must be a duration such as 24h, 10m or 1h30m, not "4d": there is no unit "d"'],
  ['validate {}/kind.yaml', 'error: kind: there is no curfew.dev/v1alpha1 NodeLifecylePolicy, did you mean'],
  ['validate {}/version.yaml', 'error: apiVersion: there is no curfew.dev/v1 NodeLifecyclePolicy, did you mean'],
  [
    'validate {}/reach.yaml --strict',
    'warning: spec: enforces on all NodePools (no nodePoolSelector, no mode): state both',
  ],
  ['validate {}/zero.yaml --strict', 'warning: spec.repair.maxUnhealthy: is 0: nothing is ever repaired'],
  ['validate {}/same.yaml --strict', 'warning: metadata.name: NodeLifecyclePolicy p stands at {}/same.yaml:3 too'],
  ['validate {}/bad.toml', 'error: userNamespaces[0].mode: must be one of Immediate, '],
  ['validate {}/comma.json', 'error: is no JSON: '],
  ['explain node n2 --scenario {}/good.yaml', 'node n2 does not exist'],
];

const CASES: readonly (readonly [string, string])[] = [
  ...EACH_COMMAND,
  ['snapshot --kubeconfig {}/html --output {}/none/s.yaml', 'the folder {}/none does not exist: create it'],
  ...['simulate {}/good.yaml', 'compare {}/good.yaml {}/good.yaml', 'audit'].map(
    command =>
      [
        `${command} --html {}/none/x.html`,
        'the folder {}/none does not exist: create it, or choose another --html',
      ] as const,
  ),
  ['snapshot --kubeconfig {}/html', 'no Kubernetes API server: check the address in the kubeconfig'],
  ['explain node n1 --kubeconfig {}/html', 'no Kubernetes API server: check the address in the kubeconfig'],
  [
    'explain node n1 --kubeconfig {}/forbids',
    'User "jane" cannot: have this granted to your user, or choose another one by --context',
  ],
  ['snapshot --kubeconfig {}/forbids', 'have this granted to your user, or choose another one by --context'],
  ['explain node n1 --kubeconfig {}/binary.yaml', 'kubeconfig {}/binary.yaml cannot be read: '],
  ['start --kubeconfig {}/html', 'no Kubernetes API server: check the address in the kubeconfig'],
  ['explain node n1 --kubeconfig {}/mute', 'its credential plugin /bin/sh failed and said nothing: run it by hand'],
  ['simulate {}/deep.yaml --seeds 1..1000000000', 'at most 1,000,000 seeds'],
  ['swarm --seeds 1..1000000000', 'at most 1,000,000 seeds'],
  ['start --serve --port 99999', '--port must be a number from 0 to 65535, not "99999"'],
  ['start --serve --port {port}', 'port {port} is in use: choose another one with --port'],
  ['simulate {}/none.yaml', '{}/none.yaml does not exist'],
  ['simulate {}', '{} is a folder; give a file'],
  ['simulate {}/loop', '{}/loop: the links lead to one another'],
  ['validate {}/loop', '{}/loop: the links lead to one another'],
  ['explain node n1 --kubeconfig {}/untoken', "ENOENT: no such file or directory, open '{}/no-token'"],
  [
    'explain node n1 --kubeconfig {}/unproxied',
    'http://127.0.0.1:{port} (context c, through the proxy http://127.0.0.1:1) cannot be reached',
  ],
  ['simulate {}/socket', '{}/socket is a socket or a device; give a file'],
  ['simulate {}/binary.yaml', '{}/binary.yaml is not a text file in UTF-8'],
  ['simulate {}/latin1.yaml', '{}/latin1.yaml is not a text file in UTF-8'],
  ['simulate {}/deep.yaml', '{}/deep.yaml:1: error: is nested too deeply to be read'],
  ['simulate {}/huge.yaml', '{}/huge.yaml has 20.6 MB; a scenario file may have at most 16.0 MB'],
  ['explain node n1 --scenario {}/none.yaml', '{}/none.yaml does not exist'],
  [
    'simulate {}/list.yaml',
    '{}/list.yaml:1:1: error: kind: this is no Scenario: a Scenario has the fields apiVersion, kind, metadata and spec',
  ],
  ['simulate package.json', 'package.json:1:1: error: kind: this is no Scenario: it has no field kind'],
  [
    'simulate deploy/samples/observe.yaml',
    'this is a NodeLifecyclePolicy, no Scenario: put it under spec.objects of one',
  ],
  ['explain node n1 --kubeconfig {}', 'kubeconfig {} is a folder: give the path of a file with --kubeconfig'],
  ['explain node n1 --kubeconfig {}/list.yaml', '{}/list.yaml is no kubeconfig: it has no contexts'],
  ['explain node n1 --kubeconfig {}/nowhere', 'the server of context c is "not a url", not an https URL'],
  ['snapshot --duration 0s', '--duration takes a Go duration such as 90m or 24h, from 1s to 8760h, not "0s"'],
  ['snapshot --output {}', '{} is a folder: give --output a file in it'],
  ['drain n1 --dry-run --cancel', 'give either --dry-run or --cancel'],
  ['stop', 'reading the stack Curfew: no Region is set: give --region, or set AWS_REGION'],
  ['snapshot --duration 9000h', '--duration takes a Go duration such as 90m or 24h, from 1s to 8760h, not "9000h"'],
  ['simulate ', 'an argument is empty: is it a variable of the shell that is not set?'],
  ['explain node n1 --kubeconfig ', 'an argument is empty: is it a variable of the shell that is not set?'],
  ['simulate --seed 1 --seed=2 {}/deep.yaml', '--seed is given twice: give it once'],
  ['simulate /dev/zero', '/dev/zero does not end; a scenario file may have at most 16.0 MB'],
  ['validate {}/socket', '{}/socket is a socket or a device; give a file'],
  ['validate {}/pipe', '{}/pipe is a named pipe; give a file, or - for standard input'],
  ['validate --template {}/pipe {}/deep.yaml', '{}/pipe is a named pipe; give a file, or - for standard input'],
  ['simulate {}/pipe', '{}/pipe is a named pipe; give a file, or - for standard input'],
  ['validate /dev/zero', '/dev/zero: at most 50000000 bytes are read, it has more'],
  ['explain node n1 --scenario {}/deep.yaml --context c', 'give either --scenario or --kubeconfig and --context'],
  ['swarm --seeds 1..1 --failures {}/html', '--failures takes a folder, {}/html is a file'],
  ['snapshot --duration 5 min', '--duration takes a Go duration such as 90m or 24h'],
];

describe('what a user can put right', () => {
  it.each(CASES)(
    '%s',
    async (line, message) => {
      const { port } = html.address() as AddressInfo;
      const filled = (text: string): string => text.replaceAll('{}', folder).replaceAll('{port}', String(port));
      const args = filled(line).split(' ').join('\n').replace('5\nmin', '5 min').split('\n');
      const { code, stdout, stderr } = await runHere(args);
      expect(stderr).toContain(filled(message));
      expect(stderr).not.toMatch(/^\s+at /m);
      expect(sentences(stderr).length).toBeLessThanOrEqual(2);
      expect({ code, stdout: stdout.includes('Error') }).toEqual({ code: 2, stdout: false });
    },
    60_000,
  );

  it.each(ANSWERS)(
    '%s is answered with 1',
    async (line, message) => {
      const { code, stdout, stderr } = await runHere(line.replaceAll('{}', folder).split(' '));
      const said = stdout + stderr;
      expect({ code, said }).toEqual({ code: 1, said: expect.stringContaining(message.replaceAll('{}', folder)) });
      expect(said).not.toMatch(/^\s+at /m);
    },
    60_000,
  );

  it('are more than 60', () => expect(CASES.length + ANSWERS.length).toBeGreaterThan(100));

  it('prints no more than a few of the mistakes of one file', async () => {
    const { code, stderr } = await runHere(['simulate', at('faults.yaml')]);
    expect(code).toBe(2);
    expect(sentences(stderr).length).toBeLessThanOrEqual(11);
  });

  it('does not wait without end for a credential plugin', async () => {
    const plugins = new Map([['u', { command: '/bin/sh', args: ['-c', 'exec sleep 1000'] }]]);
    const said: string[] = [];
    const runs = createExecPlugin(plugins, { timeoutMs: 50, silenceMs: 1, onWait: what => said.push(what) });
    await expect(runs.applyAuthentication({ name: 'u' }, {})).rejects.toThrow(
      'its credential plugin /bin/sh gave no answer within 0.05 s: run it by hand',
    );
    expect(said).toEqual(['the credential plugin /bin/sh, at most 0.05 s']);
  });

  it('nor for what a credential plugin has started, which holds its output open', async () => {
    const plugins = new Map([['u', { command: '/bin/sh', args: ['-c', 'sleep 30; true'] }]]);
    const runs = createExecPlugin(plugins, { timeoutMs: 50 });
    await expect(runs.applyAuthentication({ name: 'u' }, {})).rejects.toThrow(/gave no answer within 0\.05 s/);
  });

  it('says that the output cannot be written', async () => {
    const script = `"${process.execPath}" cli/curfew.ts simulate examples/scenarios/repair-empty-block-means-on.yaml > /dev/full`;
    const { status, stderr } = await shell(script);
    expect(stderr).toBe('the output cannot be written: no space left on the device\n');
    expect(status).toBe(2);
  });

  it('ends with npm: a shell between them would not pass SIGTERM on', () => {
    const starts = Object.entries(packageFile.scripts).filter(([, command]) => command.includes('cli/bin.js'));
    expect(starts.length).toBeGreaterThan(3);
    expect(starts.filter(([, command]) => !command.startsWith('exec '))).toEqual([]);
  });

  it('names TMPDIR when there is no such folder', async () => {
    const { code, stderr } = await withTempDir(at('none'), () => runHere(['start']));
    expect(stderr).toBe(`the folder for temporary files ${at('none')} does not exist: create it, or set TMPDIR\n`);
    expect(code).toBe(2);
  });

  it.skipIf(process.getuid?.() === 0)('says that a folder may not be written to', async () => {
    chmodSync(folder, 0o500);
    const { stderr } = await withTempDir(folder, () => runHere(['start']));
    chmodSync(folder, 0o700);
    expect(stderr).toContain('permission denied');
  });
});

/** What it says, without the lines of the file that it shows, and hints in brackets. */
const sentences = (stderr: string): readonly string[] =>
  stderr
    .trimEnd()
    .split('\n')
    .filter(line => !/^ +\d* \| |^\(.*\)$/.test(line));

async function withTempDir(path: string, run: () => Promise<Ended>): Promise<Ended> {
  vi.stubEnv('TMPDIR', path);
  try {
    return await run();
  } finally {
    vi.unstubAllEnvs();
  }
}

async function shell(script: string): Promise<{ status: number | null; stderr: string }> {
  const { spawn } = await import('node:child_process');
  const child = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const status = await new Promise<number | null>(resolve => child.once('close', resolve));
  return { status, stderr };
}
