/** What Helm makes of the chart: the objects of kustomize, each value at its place, wrong values refused. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parse, stringify } from 'yaml';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  CHART,
  DEPLOY,
  done,
  find,
  folder,
  HELMS,
  kubectl,
  objectsOf,
  REPOSITORY,
  SETTINGS,
  SETTINGS_MAP,
  VALUES,
  withSettings,
  type Rendered,
} from './helm.ts';

const podSchema = z.object({ spec: z.object({ template: z.looseObject({ metadata: z.looseObject({}) }) }) });
const container = (values: object): object => ({ spec: { containers: [expect.objectContaining(values)] } });
const withImage = (more: object) => ({ image: { repository: REPOSITORY, ...more } });

for (const { major, skipped, helm, rendered } of HELMS)
  describe.skipIf(skipped !== '')(`the chart by Helm ${major}${skipped}`, () => {
    const podOf = (values: object) =>
      podSchema.parse(find(rendered(values), 'Deployment', 'curfew-forwarder')).spec.template;

    it('lints without a warning', () => {
      const { status, stdout } = helm(['lint', CHART, '--strict'], VALUES);
      expect([status, stdout]).toEqual([0, expect.stringContaining('1 chart(s) linted, 0 chart(s) failed')]);
      expect(stdout).not.toMatch(/WARNING|ERROR/);
    });

    it('renders what kustomize does, object for object', () => {
      const overlay = {
        resources: [relative(folder, DEPLOY)],
        images: [{ name: 'curfew-forwarder', newName: REPOSITORY, newTag: '0.1.0' }],
        configMapGenerator: [
          {
            name: SETTINGS_MAP,
            namespace: 'curfew',
            behavior: 'merge',
            literals: Object.entries(SETTINGS).map(([name, value]) => `${name}=${value}`),
          },
        ],
      };
      writeFileSync(join(folder, 'kustomization.yaml'), stringify(overlay));
      const kustomize = done(kubectl('kustomize', folder));
      // The hash of the settings is in a name there, and in an annotation here; the Namespace is there before a release.
      const unhashed = kustomize.replaceAll(new RegExp(`${SETTINGS_MAP}-\\w+`, 'g'), SETTINGS_MAP);
      const expected = objectsOf(unhashed).filter(({ kind }) => kind !== 'Namespace');

      const actual = rendered({}).map(object => {
        if (object.kind === 'CustomResourceDefinition') {
          const { annotations, ...metadata } = object.metadata;
          expect(annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
          return { ...object, metadata };
        }
        if (object.kind !== 'Deployment') return object;
        const { annotations, ...metadata } = podSchema.parse(object).spec.template.metadata;
        expect(annotations).toEqual({ 'checksum/settings': expect.stringMatching(/^[0-9a-f]{64}$/) });
        const { spec } = z.looseObject({ spec: z.looseObject({ template: z.looseObject({}) }) }).parse(object);
        return { ...object, spec: { ...spec, template: { ...spec.template, metadata } } };
      });
      const byKey = (objects: readonly Rendered[]) =>
        objects
          .map(object => [`${object.kind} ${object.metadata.name}`, object] as const)
          .toSorted(([a], [b]) => (a < b ? -1 : 1));
      expect(actual.length).toBeGreaterThan(20);
      expect(byKey(actual)).toEqual(byKey(expected));
    });

    it('makes what only some clusters have a use for, when it is asked for', () => {
      expect(rendered({}).filter(({ kind }) => ['NetworkPolicy', 'PodMonitor'].includes(kind))).toEqual([]);
      const metricsFrom = [{ namespaceSelector: { matchLabels: { a: 'b' } } }];
      const egress = [{ ports: [{ port: 6443 }] }];
      const objects = rendered({
        replicas: 3,
        serviceAccount: { annotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::123456789012:role/f' } },
        networkPolicy: { enabled: true, metricsFrom, egress },
        podMonitor: { enabled: true, labels: { release: 'prometheus' } },
      });
      expect(find(objects, 'Deployment', 'curfew-forwarder')).toMatchObject({ spec: { replicas: 3 } });
      expect(find(objects, 'ServiceAccount', 'curfew-forwarder')?.metadata).toMatchObject({
        annotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::123456789012:role/f' },
      });
      expect(find(objects, 'NetworkPolicy', 'curfew-forwarder')).toMatchObject({
        spec: {
          ingress: [{ from: metricsFrom, ports: [{ port: 'health' }] }],
          egress: expect.arrayContaining([expect.objectContaining({ ports: [{ port: 80 }] }), egress[0]]),
        },
      });
      expect(find(objects, 'PodMonitor', 'curfew-forwarder')).toMatchObject({
        metadata: { labels: { release: 'prometheus' } },
        spec: { podMetricsEndpoints: [{ port: 'health', path: '/metrics', interval: '30s' }] },
      });
      const closed = find(rendered({ networkPolicy: { enabled: true } }), 'NetworkPolicy', 'curfew-forwarder');
      expect(closed).toMatchObject({ spec: { ingress: [] } });
    });

    const TOLERATION = { key: 'gpu', operator: 'Exists' };
    const SPREAD = [{ maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' }];
    const DIGEST = `sha256:${'0f'.repeat(32)}`;
    it.each<[string, object, object]>([
      ['image.tag', withImage({ tag: '1.2.3' }), container({ image: `${REPOSITORY}:1.2.3` })],
      ['image.digest', withImage({ tag: '1', digest: DIGEST }), container({ image: `${REPOSITORY}@${DIGEST}` })],
      ['image.pullPolicy', withImage({ pullPolicy: 'Always' }), container({ imagePullPolicy: 'Always' })],
      [
        'image.pullSecrets',
        withImage({ pullSecrets: [{ name: 's' }] }),
        { spec: { imagePullSecrets: [{ name: 's' }] } },
      ],
      ['resources', { resources: { requests: { cpu: 1 } } }, container({ resources: { requests: { cpu: 1 } } })],
      ['resources, none', { resources: {} }, container({ resources: {} })],
      [
        'extraEnv',
        { extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/ca.pem' }] },
        container({
          env: expect.arrayContaining([
            { name: 'LEASE_NAME', value: 'curfew-forwarder' },
            { name: 'NODE_EXTRA_CA_CERTS', value: '/ca.pem' },
          ]),
        }),
      ],
      ['priorityClassName', { priorityClassName: 'high' }, { spec: { priorityClassName: 'high' } }],
      [
        'affinity',
        { affinity: { nodeAffinity: {} } },
        { spec: expect.objectContaining({ affinity: { nodeAffinity: {} } }) },
      ],
      [
        'topologySpreadConstraints',
        { topologySpreadConstraints: SPREAD },
        { spec: { topologySpreadConstraints: SPREAD } },
      ],
      [
        'tolerations',
        { tolerations: [TOLERATION] },
        { spec: { tolerations: [{ key: 'CriticalAddonsOnly', operator: 'Exists' }, TOLERATION] } },
      ],
      [
        'nodeSelector',
        { nodeSelector: { a: 'b' } },
        { spec: { nodeSelector: { a: 'b', 'kubernetes.io/os': 'linux' } } },
      ],
      ['podAnnotations', { podAnnotations: { a: 'b' } }, { metadata: { annotations: { a: 'b' } } }],
      [
        'podLabels, but not those that are selected by',
        { podLabels: { a: 'b', 'app.kubernetes.io/name': 'c' } },
        { metadata: { labels: { a: 'b', 'app.kubernetes.io/name': 'curfew-forwarder' } } },
      ],
    ])('puts %s into the pod', (_, values, expected) => {
      expect(podOf(values)).toMatchObject(expected);
    });

    // What stays when somebody takes the last line out from under `tolerations:`.
    it.each(['tolerations', 'nodeSelector', 'podLabels', 'podAnnotations'])(
      'takes an empty %s for the default',
      name => {
        expect(podOf({ [name]: null })).toEqual(podOf({}));
      },
    );

    it('makes new pods of another setting, not of another configuration', () => {
      const pod = podOf({});
      const config = '[featureGates]\nnodeRepair = false\n';
      expect(podOf({ config })).toEqual(pod);
      expect(find(rendered({ config }), 'ConfigMap', 'curfew-config')).toMatchObject({
        data: { 'config.toml': config },
      });
      expect(find(rendered({ config: '' }), 'ConfigMap', 'curfew-config')).toMatchObject({
        data: { 'config.toml': '' },
      });
      const settings = withSettings({ RESYNC_HOURS: '8', AWS_USE_FIPS_ENDPOINT: 'true' });
      expect(find(rendered(settings), 'ConfigMap', SETTINGS_MAP)).toMatchObject({ data: settings.settings });
      expect(podOf(settings).metadata['annotations']).not.toEqual(pod.metadata['annotations']);
    });

    const NO_WARNINGS = { doNotDisruptWarning: false, unstatedReachWarning: false };
    it.each([
      ['definitions', { crds: { install: false } }, 'CustomResourceDefinition'],
      ['the admission policies', { policies: NO_WARNINGS }, 'ValidatingAdmissionPolicy'],
      ['their bindings', { policies: NO_WARNINGS }, 'ValidatingAdmissionPolicyBinding'],
    ])('can leave out %s', (_, values, kind) => {
      const count = (objects: readonly Rendered[]) => objects.filter(object => object.kind === kind).length;
      expect(count(rendered({}))).toBeGreaterThan(0);
      expect(count(rendered(values))).toBe(0);
    });

    it.each<[string, object, string]>([
      [
        'no cluster',
        { settings: { ...SETTINGS, CLUSTER_NAME: '' } },
        'settings.CLUSTER_NAME must be set: the name of the EKS',
      ],
      [
        'no bus',
        { settings: { ...SETTINGS, EVENT_BUS_NAME: '' } },
        'settings.EVENT_BUS_NAME must be set: output EventBusName',
      ],
      ['no Region', { settings: { ...SETTINGS, AWS_REGION: '' } }, 'settings.AWS_REGION must be set: the AWS Region'],
      ['no image', { image: {} }, 'image.repository must be set: where you pushed the image'],
      ['an unknown value', { replicaCount: 3 }, "additional properties 'replicaCount' not allowed"],
      ['an unknown setting', withSettings({ RESYNC_HOUR: '8' }), "additional properties 'RESYNC_HOUR' not allowed"],
      [
        'a setting that is no string',
        withSettings({ RESYNC_HOURS: 8 }),
        "'/settings/RESYNC_HOURS': got number, want string",
      ],
      ['a digest that is none', withImage({ digest: 'latest' }), "at '/image/digest'"],
      ['an empty block', { crds: null }, "missing property 'crds'"],
      // Helm takes a null for a value that is not there: the definitions would be left out.
      ['a switch without a position', { crds: { install: null } }, "at '/crds': missing property 'install'"],
    ])('refuses %s', (_, values, sentence) => {
      const { status, stderr } = helm(['template', CHART], { ...VALUES, ...values });
      expect([status, stderr]).toEqual([1, expect.stringContaining(sentence)]);
    });

    it('refuses another namespace', () => {
      const { status, stderr } = helm(['template', CHART, '--namespace', 'tools'], VALUES);
      expect([status, stderr]).toEqual([1, expect.stringContaining('not in tools: add --namespace curfew.')]);
    });

    it('takes the values of docs/deploying.md', () => {
      const document = readFileSync(join(DEPLOY, '../docs/deploying.md'), 'utf8');
      const [, values = ''] = /```yaml\n(# values.yaml\n[^`]+)```/.exec(document) ?? [];
      writeFileSync(join(folder, 'config.toml'), '# mine\n');
      const config = `config=${join(folder, 'config.toml')}`;
      const objects = objectsOf(
        done(helm(['template', CHART, '--set-file', config], z.looseObject({}).parse(parse(values)))),
      );
      expect(find(objects, 'ConfigMap', 'curfew-config')).toMatchObject({ data: { 'config.toml': '# mine\n' } });
      expect(find(objects, 'Deployment', 'curfew-forwarder')).toMatchObject({
        spec: { template: container({ image: 'registry.example.com/curfew-forwarder:0.1.0' }) },
      });
    });
  });
