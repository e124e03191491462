/** What a release has: each file whole, known by its sum, and what stands in it. */
import { createHash } from 'node:crypto';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import packageFile from '../../package.json' with { type: 'json' };
import type { Entry } from '../../release/archive.ts';
import { releaseFiles } from '../../release/release.ts';

const REVISION = { commit: '0123456789abcdef0123456789abcdef01234567', isDirty: false };
const V = packageFile.version;
/** Nobody's: the user of distroless images. */
const UID = 65532;

describe('a release', () => {
  let folder = '';
  let files: readonly Entry[] = [];
  const bytesOf = (path: string): Buffer => {
    const found = files.find(each => each.path === path);
    if (found === undefined) throw new Error(`there is no ${path}`);
    return Buffer.from(found.contents);
  };
  const jsonOf = (path: string): unknown => JSON.parse(String(bytesOf(path)));
  const list = (path: string): readonly string[] =>
    execFileSync('tar', ['-tf', join(folder, path)], { encoding: 'utf8' })
      .trim()
      .split('\n');

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'curfew-release-'));
    files = await releaseFiles(REVISION);
    for (const { path, contents } of files) writeFileSync(join(folder, path), contents);
  }, 480_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('has the sum of each file', () => {
    const sums = execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: folder, encoding: 'utf8' });
    expect(sums.trim().split('\n')).toHaveLength(files.length - 1);
  });

  it('has the chart as Helm packs it, and what kustomize applies', () => {
    const chart = list(`curfew-${V}.tgz`);
    expect(chart).toEqual(
      expect.arrayContaining(['curfew/Chart.yaml', 'curfew/values.yaml', 'curfew/templates/deployment.yaml']),
    );
    const kustomization = list(`curfew-kustomize-${V}.tar.gz`).map(path => path.replace(`curfew-kustomize-${V}/`, ''));
    const text = execFileSync(
      'tar',
      ['-xOf', join(folder, `curfew-kustomize-${V}.tar.gz`), `curfew-kustomize-${V}/kustomization.yaml`],
      { encoding: 'utf8' },
    );
    const named = [...text.matchAll(/^ {2}- ([\w/.-]+)$/gm)].map(([, path = '']) => path);
    expect(named.length).toBeGreaterThan(5);
    for (const path of named)
      expect(kustomization.some(each => each === path || each.startsWith(`${path}/`))).toBe(true);
  });

  it('has both templates, and the code under each name that they ask for', () => {
    const paths = list(`curfew-aws-${V}.tar.gz`).map(path => path.replace(`curfew-aws-${V}/`, ''));
    const templates = paths.filter(path => path.endsWith('.template.json'));
    expect(templates).toHaveLength(2);
    const text = templates
      .map(path =>
        execFileSync('tar', ['-xOf', join(folder, `curfew-aws-${V}.tar.gz`), `curfew-aws-${V}/${path}`], {
          encoding: 'utf8',
          maxBuffer: 10_000_000,
        }),
      )
      .join('');
    const asked = [...text.matchAll(/"S3Key": "(\w+\.zip)"/g)].map(([, key]) => `code/${key}`);
    expect(asked).toHaveLength(5);
    expect(paths.filter(path => path.startsWith('code/')).toSorted()).toEqual([...new Set(asked)].toSorted());
    expect(text).toContain('curfew-code-${AWS::AccountId}-${AWS::Region}');
    expect(text).not.toContain('cdk-bootstrap');
  });

  it('has a bill of materials with each package once, and nothing that differs each time', () => {
    const { components, serialNumber, metadata } = z
      .looseObject({
        components: z.array(z.looseObject({ purl: z.string(), hashes: z.array(z.looseObject({ alg: z.string() })) })),
        serialNumber: z.undefined().optional(),
        metadata: z.looseObject({
          timestamp: z.undefined().optional(),
          component: z.looseObject({ name: z.literal('curfew') }),
        }),
      })
      .parse(jsonOf(`curfew-${V}.cdx.json`));
    expect([serialNumber, metadata.timestamp]).toEqual([undefined, undefined]);
    const purls = components.map(({ purl }) => purl);
    expect(new Set(purls).size).toBe(purls.length);
    for (const name of ['zod', 'pino', '%40kubernetes/client-node', '%40aws-lambda-powertools/batch'])
      expect(purls).toContainEqual(expect.stringContaining(`pkg:npm/${name}@`));
    expect(purls.filter(purl => /aws-cdk|vitest|esbuild|playwright/.test(purl))).toEqual([]);
  });

  it('says of what it was made', () => {
    const { subject, predicate } = z
      .looseObject({ subject: z.array(z.unknown()), predicate: z.looseObject({ buildDefinition: z.unknown() }) })
      .parse(jsonOf(`curfew-${V}.provenance.json`));
    expect(subject).toHaveLength(files.length - 2);
    expect(predicate.buildDefinition).toMatchObject({
      externalParameters: { version: V },
      resolvedDependencies: expect.arrayContaining([
        { uri: 'git:HEAD', digest: { gitCommit: REVISION.commit } },
        { uri: expect.stringContaining('distroless'), digest: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
      ]),
    });
  });

  describe('the image of the forwarder', () => {
    let root = '';
    beforeAll(() => {
      // The folder is what the root of a container would be: everybody may read it.
      root = mkdtempSync(join(tmpdir(), 'curfew-root-'));
      chmodSync(root, 0o755);
      execFileSync('tar', ['-xzf', join(folder, `curfew-forwarder-${V}-layer.tar.gz`)], { cwd: root });
      execFileSync('tar', ['-xf', join(folder, `curfew-forwarder-${V}-oci.tar`)], { cwd: folder });
    });
    afterAll(() => rmSync(root, { recursive: true, force: true }));

    const descriptor = z.looseObject({ digest: z.string(), size: z.number() });
    const blob = ({ digest, size }: z.infer<typeof descriptor>): Buffer => {
      const bytes = readFileSync(join(folder, 'blobs', digest.replace(':', '/')));
      expect(`sha256:${createHash('sha256').update(bytes).digest('hex')}`).toBe(digest);
      expect(bytes.length).toBe(size);
      return bytes;
    };
    const configs = () => {
      const { manifests } = z
        .looseObject({
          manifests: z.array(descriptor.extend({ platform: z.looseObject({ architecture: z.string() }) })),
        })
        .parse(JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')));
      return manifests.map(each => {
        const { config, layers } = z
          .looseObject({ config: descriptor, layers: z.tuple([descriptor]) })
          .parse(JSON.parse(String(blob(each))));
        expect(blob(layers[0]).equals(bytesOf(`curfew-forwarder-${V}-layer.tar.gz`))).toBe(true);
        return { platform: each.platform, config: z.looseObject({}).parse(JSON.parse(String(blob(config)))) };
      });
    };

    it('is an OCI layout whose digests hold, for both architectures', () => {
      expect(configs().map(({ platform }) => platform.architecture)).toEqual(['amd64', 'arm64']);
      for (const { platform, config } of configs())
        expect(config).toMatchObject({
          architecture: platform.architecture,
          config: {
            User: '65532:65532',
            WorkingDir: '/app',
            Entrypoint: ['/nodejs/bin/node', '--max-semi-space-size=4', '/app/main.mjs'],
            Labels: {
              'org.opencontainers.image.version': V,
              'org.opencontainers.image.revision': REVISION.commit,
            },
          },
        });
    });

    const skipped = process.getuid?.() === 0 ? undefined : 'only root starts a process as somebody else';
    it.skipIf(skipped !== undefined)(
      `starts as another user under a plain folder${skipped === undefined ? '' : ` (skipped: ${skipped})`}`,
      async () => {
        const kubeconfig = join(root, 'kubeconfig');
        const server = 'http://127.0.0.1:9';
        writeFileSync(
          kubeconfig,
          JSON.stringify({
            apiVersion: 'v1',
            kind: 'Config',
            'current-context': 'c',
            contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
            clusters: [{ name: 'c', cluster: { server } }],
            users: [{ name: 'u', user: {} }],
          }),
        );
        const entrypoint = z
          .looseObject({ config: z.looseObject({ Entrypoint: z.array(z.string()) }) })
          .parse(configs()[0]?.config);
        const [, ...args] = entrypoint.config.Entrypoint.map(arg => (arg === '/app/main.mjs' ? join(root, arg) : arg));
        const child = spawn(process.execPath, args, {
          uid: UID,
          gid: UID,
          cwd: root,
          stdio: ['ignore', 'pipe', 'inherit'],
          env: {
            NODE_ENV: 'production',
            CLUSTER_NAME: 'c',
            EVENT_BUS_NAME: 'b',
            AWS_REGION: 'us-east-1',
            KUBECONFIG: kubeconfig,
            HEALTH_HOST: '127.0.0.1',
            HEALTH_PORT: '0',
            DRAIN_TIMEOUT_SECONDS: '0',
          },
        });
        const ended = once(child, 'exit');
        for await (const line of createInterface({ input: child.stdout })) {
          // Its first line.
          expect(JSON.parse(line)).toMatchObject({ msg: 'started', version: V, server });
          break;
        }
        child.kill('SIGTERM');
        expect(await ended).toEqual([0, null]);
      },
    );
  });
});
