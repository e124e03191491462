import { describe, expect, it } from 'vitest';
import { createWantedTemplates } from '../../forwarder/wanted-templates.ts';
import type { GroupVersionKind, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { namedTemplates } from '../../shared/domain/named-templates.ts';

const REBOOT = { group: 'example.com', version: 'v1', kind: 'Reboot' };
const WIPE = { group: 'example.com', version: 'v1', kind: 'Wipe' };
const metadata = { name: 'a', uid: 'a', resourceVersion: '1', creationTimestamp: '2024-11-01T15:00:00Z' };
const template = (kind: string): string => `apiVersion: example.com/v1\nkind: ${kind}\nmetadata: {}\n`;

const configMap = (data: Record<string, string>): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata,
  data,
});
const policy = (...templates: string[]): KubernetesObject => ({
  apiVersion: 'curfew.dev/v1alpha1',
  kind: 'NodeLifecyclePolicy',
  metadata,
  spec: { repair: { actions: templates.map(each => ({ type: 'CustomResource', template: each })) } },
});

/** What is wanted by now, by its owner. */
function start() {
  const wanted = new Map<string, GroupVersionKind>();
  const remediations = createWantedTemplates('repair', (owner, kind) => {
    if (kind === undefined) wanted.delete(owner);
    else wanted.set(owner, kind);
  });
  return { ...remediations, now: () => Object.fromEntries(wanted) };
}

describe('templates in use', () => {
  it('are those of repairs and of hooks', () => {
    const hooks = [
      { name: 'deregister', customResource: { template: 'hook', conditionType: 'Done' } },
      { name: 'tell', event: { detailType: 'Told' } },
      { name: 'odd', customResource: 'text' },
    ];
    const holder = { ...policy('fix'), spec: { ...policy('fix').spec, termination: { hooks } } };
    expect(namedTemplates(holder.spec).map(({ template: each }) => each)).toEqual(['fix', 'hook']);
  });

  it('are those of an entry, too, which has actions of its own', () => {
    const { now, ...wanted } = start();
    wanted.configMap(configMap({ reboot: template('Reboot'), wipe: template('Wipe') }));
    const actions = (key: string) => [{ type: 'CustomResource', template: key }, { type: 'Terminate' }];
    const repair = {
      policies: [{ conditionType: 'Ready', actions: actions('reboot') }],
      conditions: [{ type: 'Slow', status: 'True', toleration: '5m', actions: actions('wipe') }],
    };
    wanted.holder('p1', { ...policy(), spec: { repair } });
    expect(now()).toEqual({ 'p1/reboot': REBOOT, 'p1/wipe': WIPE });
  });
});

describe('wanted kinds', () => {
  it('are the kinds of the templates that policies name, whatever comes first', () => {
    const first = start();
    first.configMap(configMap({ reboot: template('Reboot') }));
    first.holder('p1', policy('reboot'));
    const second = start();
    second.holder('p1', policy('reboot'));
    expect(second.now()).toEqual({});
    second.configMap(configMap({ reboot: template('Reboot') }));
    expect(first.now()).toEqual({ 'p1/reboot': REBOOT });
    expect(second.now()).toEqual(first.now());
  });

  it('follow edits of the policy', () => {
    const { now, ...wanted } = start();
    wanted.configMap(configMap({ reboot: template('Reboot'), wipe: template('Wipe') }));
    wanted.holder('p1', policy('reboot', 'wipe', 'wipe'));
    expect(now()).toEqual({ 'p1/reboot': REBOOT, 'p1/wipe': WIPE });
    wanted.holder('p1', policy('wipe'));
    expect(now()).toEqual({ 'p1/wipe': WIPE });
    wanted.holder('p2', policy('wipe'));
    wanted.holder('p1', undefined);
    expect(now()).toEqual({ 'p2/wipe': WIPE });
  });

  it('follow edits of the ConfigMap, and end with it', () => {
    const { now, ...wanted } = start();
    wanted.holder('p1', policy('reboot'));
    wanted.configMap(configMap({ reboot: template('Reboot') }));
    wanted.configMap(configMap({ reboot: template('Wipe') }));
    expect(now()).toEqual({ 'p1/reboot': WIPE });
    wanted.configMap(configMap({}));
    expect(now()).toEqual({});
    wanted.configMap(configMap({ reboot: template('Reboot') }));
    wanted.configMap(undefined);
    expect(now()).toEqual({});
  });

  it.each([
    ['quoted', 'apiVersion: "example.com/v1"\nkind: \'Reboot\'\n', REBOOT],
    ['of the core group', 'kind: Pod\napiVersion: v1\n', { group: '', version: 'v1', kind: 'Pod' }],
    ['computed', 'apiVersion: example.com/v1\nkind: {{ .Kind }}\n', undefined],
    ['without an apiVersion', 'kind: Reboot\n', undefined],
    ['that stands deeper', 'spec:\n  apiVersion: example.com/v1\n  kind: Reboot\n', undefined],
  ])('a kind that is %s', (_, text, kind) => {
    const { now, ...wanted } = start();
    wanted.configMap(configMap({ t: text }));
    wanted.holder('p1', policy('t'));
    expect(now()).toEqual(kind === undefined ? {} : { 'p1/t': kind });
  });
});
