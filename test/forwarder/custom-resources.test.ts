import { describe, expect, it } from 'vitest';
import { kindOfDrain, kindOfFinalizerRule } from '../../forwarder/wanted-kinds.ts';
import { DEFAULT_SETTINGS } from '../../forwarder/settings.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { minutes, seconds } from '../../shared/domain/time.ts';
import { RetryableError } from '../../shared/errors.ts';
import { aConfigMap, aDatabase, aFinalizerRule } from './builders.ts';
import { aForwarder } from './running-forwarder.ts';

const { FinalizerRule, ConfigMap } = RESOURCES;
const DATABASES = { group: 'example.com', version: 'v1', resource: 'manageddatabases' };
const DRAINS = { group: 'drain.example.com', version: 'v1alpha1', resource: 'slurmdrains' };
const DRAIN_TOML = `[customDrain]\nenabled = true\napiGroup = "drain.example.com"\nversion = "v1alpha1"\nkind = "SlurmDrain"\n`;
const configured = (text: string) => aConfigMap({ data: { 'config.toml': text } });
const aDrain = (status: object = {}) =>
  aDatabase({
    apiVersion: 'drain.example.com/v1alpha1',
    kind: 'SlurmDrain',
    metadata: { name: 'drain-n1-7', labels: { 'nvsentinel.nvidia.com/node-name': 'n1' } },
    status,
  });

describe('the kinds that objects ask for', () => {
  it('stand in the spec of a rule; half of one asks for nothing', () => {
    expect(kindOfFinalizerRule(aFinalizerRule())).toEqual({
      group: 'example.com',
      version: 'v1',
      kind: 'ManagedDatabase',
    });
    expect(kindOfFinalizerRule(aFinalizerRule({ spec: { version: 'v1', kind: 'Pod' } }))).toMatchObject({ group: '' });
    for (const spec of [undefined, {}, { group: 'x', version: 'v1' }, { group: 7, version: 'v1', kind: 'A' }]) {
      expect(kindOfFinalizerRule(aFinalizerRule({ spec }))).toBeUndefined();
    }
  });

  it('stand in [customDrain], which must be enabled', () => {
    expect(kindOfDrain(configured(DRAIN_TOML))).toEqual({
      group: 'drain.example.com',
      version: 'v1alpha1',
      kind: 'SlurmDrain',
      endConditions: ['DrainFailed'],
    });
    const named = `${DRAIN_TOML}\nstatusConditionType = "Done"\nfailedConditionType = "Broken"`;
    expect(kindOfDrain(configured(named))).toMatchObject({ endConditions: ['Done', 'Broken'] });
    expect(kindOfDrain(configured(DRAIN_TOML.replace('true', 'false')))).toBe('none');
    expect(kindOfDrain(configured(''))).toBe('none');
    expect(kindOfDrain(configured('customDrain = 7'))).toBe('none');
    expect(kindOfDrain(configured('[customDrain'))).toBeUndefined();
  });
});

describe('the kind of a FinalizerRule', () => {
  async function watching() {
    const world = aForwarder();
    const { clock, kubernetes, forwarder } = world;
    kubernetes.setKind('ManagedDatabase', DATABASES);
    kubernetes.add(DATABASES, aDatabase());
    forwarder.start();
    await clock.advance(0);
    kubernetes.add(FinalizerRule, aFinalizerRule());
    await clock.advance(0);
    return world;
  }

  it('is watched without a restart, and the rule says so', async () => {
    const { bus, news } = await watching();
    expect(news()).toEqual([
      'Added FinalizerRule/managed-database [spec]',
      'Added ManagedDatabase/orders [finalizers]',
      'Modified FinalizerRule/managed-database [watch]',
    ]);
    expect(bus.events.at(-1)?.watch).toEqual({
      group: 'example.com',
      version: 'v1',
      kind: 'ManagedDatabase',
      resource: DATABASES.resource,
      state: 'Watching',
      since: '2024-11-01T15:00:00.000Z',
    });
  });

  it('is published by a detail-type that does not depend on its name, with what a finalizer reads', async () => {
    const { clock, kubernetes, bus, news } = await watching();
    news();
    kubernetes.modify(DATABASES, aDatabase({ status: { conditions: [{ type: 'Ready', status: 'True' }] } }));
    kubernetes.modify(DATABASES, aDatabase({ metadata: { deletionTimestamp: '2024-11-01T15:00:00Z', generation: 2 } }));
    kubernetes.remove(DATABASES, aDatabase());
    await clock.advance(0);
    expect(news()).toEqual([
      'Modified ManagedDatabase/orders [deletionTimestamp,generation]',
      'Deleted ManagedDatabase/orders []',
    ]);
    expect(new Set(bus.detailTypes.slice(-2))).toEqual(new Set(['CustomResourceChanged']));
  });

  it('is not watched any more when the rule goes, or names another one', async () => {
    const { clock, kubernetes, news, forwarder } = await watching();
    kubernetes.modify(FinalizerRule, aFinalizerRule({ spec: { group: 'example.com', version: 'v1', kind: 'Other' } }));
    await clock.advance(0);
    news();
    kubernetes.modify(DATABASES, aDatabase({ metadata: { generation: 5 } }));
    await clock.advance(0);
    expect(news()).toEqual([]);
    expect(forwarder.stats().resources.map(({ resource }) => resource)).not.toContain('manageddatabases');
    kubernetes.remove(FinalizerRule, aFinalizerRule());
    await clock.advance(0);
    expect(kubernetes.openWatches().map(({ resource }) => resource)).not.toContain('manageddatabases');
  });

  it('is watched once for two rules, until the last one goes', async () => {
    const { clock, kubernetes, news } = await watching();
    kubernetes.add(FinalizerRule, aFinalizerRule({ metadata: { name: 'second' } }));
    kubernetes.remove(FinalizerRule, aFinalizerRule());
    await clock.advance(0);
    expect(kubernetes.openWatches().filter(({ resource }) => resource === 'manageddatabases')).toHaveLength(1);
    expect(news().slice(-2)).toEqual([
      'Added FinalizerRule/second [spec]',
      'Deleted FinalizerRule/managed-database []',
    ]);
  });

  it('may come later: the rule says that it is not served, then that it is', async () => {
    const { clock, kubernetes, bus, news, forwarder } = aForwarder();
    kubernetes.add(FinalizerRule, aFinalizerRule());
    forwarder.start();
    await clock.advance(0);
    expect(news()).toEqual([
      'Added FinalizerRule/managed-database [spec]',
      'Modified FinalizerRule/managed-database [watch]',
    ]);
    expect(bus.events.at(-1)?.watch).toMatchObject({
      state: 'NotServed',
      message: 'the API server does not serve ManagedDatabase in example.com/v1',
    });
    kubernetes.setKind('ManagedDatabase', DATABASES);
    await clock.advance(minutes(1));
    expect(bus.events.at(-1)?.watch).toMatchObject({ state: 'Watching', since: '2024-11-01T15:01:00.000Z' });
    kubernetes.setKind('ManagedDatabase', undefined);
    kubernetes.setServed(DATABASES, false);
    kubernetes.failWatches(resource => (resource === 'manageddatabases' ? new RetryableError('gone') : undefined));
    kubernetes.breakWatches(DATABASES, new RetryableError('gone'));
    await clock.advance(minutes(2));
    expect(bus.events.at(-1)?.watch).toMatchObject({ state: 'NotServed' });
    expect(forwarder.ready().ready).toBe(true);
  });

  it('that another version serves is not gone: the rule says in which version it is, and says nothing of objects', async () => {
    const { clock, kubernetes, bus, news } = await watching();
    kubernetes.add(DATABASES, aDatabase());
    await clock.advance(0);
    const stopServing = (): void => {
      kubernetes.setKind('ManagedDatabase', undefined);
      kubernetes.setServed(DATABASES, false);
      kubernetes.failWatches(resource => (resource === 'manageddatabases' ? new RetryableError('gone') : undefined));
      kubernetes.breakWatches(DATABASES, new RetryableError('gone'));
    };
    kubernetes.setVersions('ManagedDatabase', ['v2']);
    stopServing();
    await clock.advance(minutes(5));
    expect(bus.events.at(-1)?.watch).toMatchObject({
      state: 'NotServed',
      message: 'the API server serves ManagedDatabase of example.com in v2, not in v1: name a version that it serves',
    });
    expect(news().filter(line => line.startsWith('Deleted'))).toEqual([]);
    kubernetes.setVersions('ManagedDatabase', []);
    await clock.advance(minutes(2));
    expect(news().filter(line => line.startsWith('Deleted'))).toHaveLength(1);
  });

  it('that discovery knows and nobody serves is looked for with back-off, and says that it is not served', async () => {
    const { clock, kubernetes, bus, forwarder } = aForwarder();
    kubernetes.setKind('ManagedDatabase', DATABASES);
    kubernetes.setServed(DATABASES, false);
    kubernetes.add(FinalizerRule, aFinalizerRule());
    forwarder.start();
    await clock.advance(minutes(60));
    expect(kubernetes.calls.filter(call => call === 'list manageddatabases').length).toBeLessThan(25);
    expect(bus.events.at(-1)?.watch).toMatchObject({ state: 'NotServed' });
    kubernetes.setServed(DATABASES, true);
    await clock.advance(minutes(5));
    expect(bus.events.at(-1)?.watch).toMatchObject({ state: 'Watching' });
  });

  it('that may not be read says so once, is tried again with back-off, and is watched once it may', async () => {
    const { clock, kubernetes, bus, news, forwarder } = aForwarder();
    kubernetes.setKind('ManagedDatabase', DATABASES);
    const forbidden = new RetryableError('manageddatabases is forbidden', { reason: 'Forbidden' });
    kubernetes.failLists(resource => (resource === 'manageddatabases' ? forbidden : undefined));
    kubernetes.add(FinalizerRule, aFinalizerRule());
    forwarder.start();
    await clock.advance(minutes(60));
    expect(news()).toEqual([
      'Added FinalizerRule/managed-database [spec]',
      'Modified FinalizerRule/managed-database [watch]',
    ]);
    expect(bus.events.at(-1)?.watch).toMatchObject({ state: 'Forbidden', message: 'manageddatabases is forbidden' });
    expect(kubernetes.calls.filter(call => call === 'list manageddatabases').length).toBeLessThan(25);
    expect(forwarder.ready()).toEqual({ ready: true, reasons: [] });
    kubernetes.failLists(undefined);
    await clock.advance(minutes(5));
    expect(bus.events.at(-1)?.watch).toMatchObject({ state: 'Watching' });
  });

  it('whose connection breaks now and then is watched all the same', async () => {
    const { clock, kubernetes, news } = await watching();
    for (let losses = 0; losses < 3; losses += 1) {
      kubernetes.breakWatches(DATABASES, new Error('read ECONNRESET'));
      await clock.advance(seconds(30));
      kubernetes.bookmark(DATABASES);
      await clock.advance(seconds(1));
    }
    expect(news().filter(text => text === 'Modified FinalizerRule/managed-database [watch]')).toHaveLength(1);
  });

  it('that may not be watched for a moment is watched again with the first sign of life', async () => {
    const { bus, clock, kubernetes } = await watching();
    kubernetes.breakWatches(DATABASES, new RetryableError('manageddatabases is forbidden', { reason: 'Forbidden' }));
    await clock.advance(seconds(30));
    expect(bus.events.at(-1)?.watch).toMatchObject({ state: 'Forbidden' });
    kubernetes.bookmark(DATABASES);
    await clock.advance(seconds(30));
    expect(bus.events.at(-1)?.watch).toMatchObject({ state: 'Watching' });
  });

  it('is one of at most so many; the next one gets its turn when one goes', async () => {
    const { clock, kubernetes, bus, forwarder } = aForwarder({
      customResources: { ...DEFAULT_SETTINGS.customResources, kindsMax: 1 },
    });
    kubernetes.setKind('ManagedDatabase', DATABASES);
    kubernetes.setKind('SlurmDrain', DRAINS);
    forwarder.start();
    await clock.advance(0);
    kubernetes.add(FinalizerRule, aFinalizerRule());
    const spec = { group: 'drain.example.com', version: 'v1alpha1', kind: 'SlurmDrain' };
    kubernetes.add(FinalizerRule, aFinalizerRule({ metadata: { name: 'second' }, spec }));
    await clock.advance(0);
    const stateOf = (name: string) => bus.events.filter(({ subject }) => subject.name === name).at(-1)?.watch?.state;
    expect([stateOf('managed-database'), stateOf('second')]).toEqual(['Watching', 'TooManyKinds']);
    kubernetes.remove(FinalizerRule, aFinalizerRule());
    await clock.advance(seconds(1));
    expect(stateOf('second')).toBe('Watching');
  });

  it('leaves nothing behind when the forwarder stops', async () => {
    const { clock, kubernetes, forwarder } = await watching();
    await forwarder.stop({ drainTimeout: seconds(0) });
    await clock.advance(0);
    expect(clock.sleepers()).toBe(0);
    expect(kubernetes.openWatches()).toEqual([]);
  });
});

describe('the kind of the custom drain', () => {
  it('is watched with its conditions, and stays watched while the configuration cannot be read', async () => {
    const { clock, kubernetes, bus, news, forwarder } = aForwarder();
    kubernetes.setKind('SlurmDrain', DRAINS);
    kubernetes.add(ConfigMap, configured(DRAIN_TOML));
    forwarder.start();
    await clock.advance(0);
    kubernetes.add(DRAINS, aDrain());
    kubernetes.modify(ConfigMap, configured('[customDrain'));
    kubernetes.modify(DRAINS, aDrain({ conditions: [{ type: 'DrainComplete', status: 'True' }] }));
    await clock.advance(0);
    expect(news()).toEqual([
      'Added ConfigMap/curfew-config [data]',
      'Modified ConfigMap/curfew-config [watch]',
      'Added SlurmDrain/drain-n1-7 [finalizers]',
      'Modified ConfigMap/curfew-config [data]',
      'Modified SlurmDrain/drain-n1-7 [conditions]',
    ]);
    expect(bus.detailTypes.at(-1)).toBe('DrainResourceChanged');
    expect(bus.events.at(-1)?.hints.nodeName).toBe('n1');
    kubernetes.modify(ConfigMap, configured(''));
    await clock.advance(0);
    expect(kubernetes.openWatches().map(({ resource }) => resource)).not.toContain('slurmdrains');
  });
});

describe('an annotation with a new value on the ConfigMap', () => {
  const asked = (value: string) => aConfigMap({ metadata: { annotations: { 'curfew.dev/republish': value } } });

  it('has everything published again, marked, and not because it was there at the start', async () => {
    const { clock, kubernetes, bus, news, forwarder } = aForwarder();
    kubernetes.setKind('ManagedDatabase', DATABASES);
    kubernetes.add(FinalizerRule, aFinalizerRule());
    kubernetes.add(ConfigMap, asked('1'));
    kubernetes.add(DATABASES, aDatabase());
    forwarder.start();
    await clock.advance(seconds(10));
    expect(bus.events.every(({ change, resync }) => change !== 'Added' || resync === true)).toBe(true);
    news();
    kubernetes.modify(ConfigMap, asked('2'));
    await clock.advance(seconds(10));
    expect(news().toSorted()).toEqual([
      'Modified ConfigMap/curfew-config []',
      'Modified FinalizerRule/managed-database []',
      'Modified ManagedDatabase/orders []',
    ]);
    expect(bus.events.slice(-3).map(({ resync }) => resync)).toEqual([true, true, true]);
  });
});
