import { describe, expect, it } from 'vitest';
import { createInProcessKubernetesApi } from '../../../runtime/in-process/kubernetes-api.ts';
import { createMemoryRecordStore } from '../../../runtime/memory/record-store.ts';
import { loadConfig } from '../../../shared/cluster/configuration.ts';
import { FUNCTION_NAMES, type FunctionName } from '../../../shared/contract/names.ts';
import { minutes } from '../../../shared/domain/time.ts';
import type { AuditRecord } from '../../../shared/ports/audit-log.ts';
import type { ObjectEvent } from '../../../shared/ports/event-recorder.ts';
import type { RecordStore } from '../../../shared/ports/record-store.ts';
import { createCluster } from '../../../simulator/world.ts';
import { createManualClock } from '../../fakes/manual-clock.ts';

const ON = '[featureGates]\nnodeRepair = true\n';
const BROKEN = '[featureGates\n';
const CUSTOM = `[customDrain]
enabled = true
templateFileName = "drain.yaml"
namespace = "nvsentinel"
apiGroup = "example.com"
version = "v1"
kind = "DrainRequest"
statusConditionType = "DrainComplete"
statusConditionStatus = "True"
`;

function setUp() {
  const core = createCluster({ now: () => 0 });
  const clock = createManualClock();
  const audit: AuditRecord[] = [];
  const events: ObjectEvent[] = [];
  const records = createMemoryRecordStore();
  const deps = {
    kubernetes: createInProcessKubernetesApi(core, 'repair'),
    records: records as RecordStore,
    audit: { write: (record: AuditRecord) => void audit.push(record) },
    events: { record: async (event: ObjectEvent) => void events.push(event) },
    clock,
  };
  const ref = {
    type: { group: '', version: 'v1', resource: 'configmaps' },
    namespace: 'curfew',
    name: 'curfew-config',
  };
  const write = (data: Record<string, string>): void => {
    core.seed({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: ref.namespace, name: ref.name },
      data,
    });
  };
  return {
    core,
    clock,
    audit,
    events,
    records,
    deps,
    write,
    load: (owner: FunctionName = 'repair') => loadConfig(owner, deps),
    async gateWith(text: string): Promise<boolean> {
      write({ 'config.toml': text });
      return (await loadConfig('repair', deps)).featureGates.nodeRepair;
    },
    async gateWithout(): Promise<boolean> {
      core.delete(ref);
      return (await loadConfig('repair', deps)).featureGates.nodeRepair;
    },
  };
}

describe('a second look of the same run', () => {
  it('does not read the record again while the ConfigMap is the same, and does as soon as it is another one', async () => {
    const { deps, write, records } = setUp();
    let reads = 0;
    const get: RecordStore['get'] = key => {
      reads += 1;
      return records.get(key);
    };
    const counted = { ...deps, records: { ...records, get } };
    write({ 'config.toml': ON });
    const first = await loadConfig('repair', counted);
    expect(await loadConfig('repair', counted, first)).toEqual(first);
    expect(reads).toBe(1);
    write({ 'config.toml': '[featureGates]\nnodeRepair = false\n' });
    expect((await loadConfig('repair', counted, first)).featureGates.nodeRepair).toBe(false);
    expect(reads).toBe(2);
    write({ 'config.toml': BROKEN });
    expect((await loadConfig('repair', counted, first)).featureGates.nodeRepair).toBe(false);
  });
});

describe('the configuration in force', () => {
  it('is the last good one while the text is not valid, and that is said once', async () => {
    const { gateWith, events, audit } = setUp();
    expect([await gateWith(ON), await gateWith(BROKEN), await gateWith(BROKEN)]).toEqual([true, true, true]);
    expect(events).toMatchObject([
      { type: 'Warning', reason: 'InvalidConfiguration', message: expect.stringContaining('line 1, column') },
    ]);
    expect(audit).toHaveLength(1);
    expect(await gateWith('[featureGates]\nnodeRepair = false\n')).toBe(false);
    expect(await gateWith(BROKEN)).toBe(false);
    expect(events).toHaveLength(2);
  });

  it('has every gate off and holds drains while no text was ever valid', async () => {
    const { gateWith, load, events } = setUp();
    expect(await gateWith('[featureGates]\nnodeRepair = "yes"\n')).toBe(false);
    expect((await load()).drain).toBeUndefined();
    expect(events[0]?.message).toContain('line 2: featureGates.nodeRepair');
    expect(events[0]?.message).toContain('every feature gate is off and drains are held until it is valid');
  });

  it('ends with the ConfigMap', async () => {
    const { gateWith, gateWithout } = setUp();
    expect([await gateWith(ON), await gateWithout(), await gateWith(BROKEN)]).toEqual([true, false, false]);
  });

  it('is not replaced by one whose section is misspelt', async () => {
    const { gateWith, events } = setUp();
    expect([await gateWith(ON), await gateWith('[featuregates]\nnodeRepair = true\n')]).toEqual([true, true]);
    expect(events[0]?.message).toBe(
      'config.toml is not valid: line 1: featuregates: unknown table, did you mean "featureGates"?; ' +
        'the last good configuration stays in force',
    );
  });
});

describe('a refusal is said once', () => {
  it('by five runs at the same moment', async () => {
    const { write, load, events, audit } = setUp();
    write({ 'config.toml': BROKEN });
    await Promise.all(Array.from({ length: 5 }, () => load()));
    expect([events.length, audit.length]).toEqual([1, 1]);
  });

  it('by all functions that look at the same moment, three times each, and once more for the next version', async () => {
    const { write, load, events, audit } = setUp();
    for (const text of [BROKEN, '[featuregates]\n']) {
      write({ 'config.toml': text });
      const looks = FUNCTION_NAMES.flatMap(owner => [owner, owner, owner]);
      await Promise.all(looks.map(owner => load(owner)));
      await Promise.all(looks.map(owner => load(owner)));
    }
    expect(events.map(({ message }) => message)).toEqual([
      expect.stringContaining('line 1, column'),
      expect.stringContaining('featuregates: unknown table'),
    ]);
    expect(audit).toHaveLength(2);
  });

  it('and not by every function', async () => {
    const { write, load, events } = setUp();
    write({ 'config.toml': BROKEN });
    await load('drain');
    expect(events).toEqual([]);
    await load('repair');
    await load('drain');
    expect(events).toHaveLength(1);
  });

  it('again for each other text', async () => {
    const { gateWith, events } = setUp();
    for (const text of [BROKEN, 'frobnicate = 1', BROKEN]) await gateWith(text);
    expect(events).toHaveLength(3);
  });

  it('not again when something else of the ConfigMap changes', async () => {
    const { core, gateWith, load, events } = setUp();
    await gateWith(BROKEN);
    core.seed({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'curfew', name: 'curfew-config', labels: { team: 'a' } },
      data: { 'config.toml': BROKEN },
    });
    await load();
    expect(events).toHaveLength(1);
  });

  it('by another run when the first died before it spoke', async () => {
    const { write, deps, clock, events } = setUp();
    write({ 'config.toml': BROKEN });
    const dies = new Error('killed');
    const killed = { ...deps, audit: { write: () => { throw dies; } } }; // prettier-ignore
    await expect(loadConfig('repair', killed)).rejects.toBe(dies);
    await loadConfig('repair', deps);
    expect(events).toEqual([]);
    await clock.advance(minutes(1));
    await loadConfig('repair', deps);
    await loadConfig('repair', deps);
    expect(events).toHaveLength(1);
  });
});

describe('what is kept of a configuration', () => {
  it('is what was parsed: half a megabyte of comments changes nothing', async () => {
    const { gateWith, records } = setUp();
    const comments = `# ${'x'.repeat(78)}\n`.repeat(6_000);
    expect(await gateWith(`${comments}${ON}`)).toBe(true);
    expect(JSON.stringify(records.all()[0]?.state).length).toBeLessThan(200);
    expect(await gateWith(BROKEN)).toBe(true);
  });

  it('survives half a megabyte that is refused', async () => {
    const { gateWith, events } = setUp();
    const many = Array.from({ length: 30_000 }, (_, index) => `key${index} = 1\n`).join('');
    expect([await gateWith(ON), await gateWith(many), await gateWith(many)]).toEqual([true, true, true]);
    expect(events).toHaveLength(1);
    expect(events[0]?.message.length).toBeLessThan(1000);
  });

  it('is bounded', async () => {
    const { gateWith, events } = setUp();
    const rule = `[[userNamespaces]]\nname = "${'a'.repeat(1000)}"\nmode = "Immediate"\n`;
    expect([await gateWith(ON), await gateWith(rule.repeat(400))]).toEqual([true, true]);
    expect(events[0]?.message).toContain('bytes beside its comments, at most 250000 are read');
  });

  it('holds the template', async () => {
    const { write, load } = setUp();
    write({ 'config.toml': CUSTOM, 'drain.yaml': 'kind: DrainRequest' });
    expect(await load()).toMatchObject({ template: 'kind: DrainRequest' });
    write({ 'config.toml': CUSTOM });
    expect(await load()).toMatchObject({
      template: 'kind: DrainRequest',
      drain: { customDrain: { kind: 'DrainRequest' } },
    });
  });

  it('is written once', async () => {
    const { gateWith, records } = setUp();
    await gateWith(ON);
    const [before] = records.all();
    await gateWith(ON);
    expect(records.all()).toEqual([before]);
  });

  it('is left alone when a newer version wrote it', async () => {
    const { write, load, records } = setUp();
    const subject = { kind: 'ConfigMap', apiVersion: 'v1', namespace: 'curfew', name: 'curfew-config' };
    const state = { schemaVersion: 99, newer: 'shape' };
    await records.put({ owner: 'repair', id: 'configuration', subject, state }, 0);
    write({ 'config.toml': ON });
    expect((await load()).featureGates.nodeRepair).toBe(true);
    write({ 'config.toml': BROKEN });
    expect((await load()).featureGates.nodeRepair).toBe(false);
    expect(records.all()[0]?.state).toEqual(state);
  });
});

describe('a custom drain whose template is', () => {
  it.each<[string, Record<string, string>, string]>([
    ['missing', {}, 'line 3: customDrain.templateFileName: the ConfigMap has no key "drain.yaml"'],
    ['under another name', { 'drian.yaml': 'x' }, 'the ConfigMap has no key "drain.yaml", did you mean "drian.yaml"?'],
    ['too long', { 'drain.yaml': 'x'.repeat(65_537) }, 'the template is 65537 characters long, at most 65536 are read'],
    [
      'not parseable',
      { 'drain.yaml': 'a: {{ if }}' },
      'curfew-config is not valid: drain.yaml line 1: template: drain-template',
    ],
  ])('%s is refused', async (_, others, complaint) => {
    const { write, load, events } = setUp();
    write({ 'config.toml': CUSTOM, ...others });
    expect((await load()).drain).toBeUndefined();
    expect(events[0]?.message).toContain(complaint);
  });
});
