import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../shared/observe/configuration.ts';
import { createInProcessKubernetesApi } from '../../../runtime/in-process/kubernetes-api.ts';
import { createMemoryRecordStore } from '../../../runtime/memory/record-store.ts';
import { createCluster } from '../../../simulator/world.ts';
import type { AuditRecord } from '../../../shared/ports/audit-log.ts';
import type { ObjectEvent } from '../../../shared/ports/event-recorder.ts';

const ON = '[featureGates]\nnodeRepair = true\n';
const BROKEN = '[featureGates\n';

function setUp() {
  const core = createCluster({ now: () => 0 });
  const audit: AuditRecord[] = [];
  const events: ObjectEvent[] = [];
  const deps = {
    kubernetes: createInProcessKubernetesApi(core, 'repair'),
    records: createMemoryRecordStore(),
    audit: { write: (record: AuditRecord) => void audit.push(record) },
    events: { record: async (event: ObjectEvent) => void events.push(event) },
  };
  const ref = {
    type: { group: '', version: 'v1', resource: 'configmaps' },
    namespace: 'curfew',
    name: 'curfew-config',
  };
  return {
    audit,
    events,
    async gateWith(text: string): Promise<boolean> {
      core.seed({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace: ref.namespace, name: ref.name },
        data: { 'config.toml': text },
      });
      return (await loadConfig('repair', deps)).featureGates.nodeRepair;
    },
    async gateWithout(): Promise<boolean> {
      core.delete(ref);
      return (await loadConfig('repair', deps)).featureGates.nodeRepair;
    },
  };
}

describe('loadConfig', () => {
  it('keeps the last good configuration in force while the text is not valid, and says so once', async () => {
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

  it('has every gate off while no text was ever valid', async () => {
    const { gateWith, events } = setUp();
    expect(await gateWith('[featureGates]\nnodeRepair = "yes"\n')).toBe(false);
    expect(events[0]?.message).toContain('featureGates.nodeRepair');
    expect(events[0]?.message).toContain('every feature gate is off');
  });

  it('a ConfigMap that was taken away takes what it said along', async () => {
    const { gateWith, gateWithout } = setUp();
    expect([await gateWith(ON), await gateWithout(), await gateWith(BROKEN)]).toEqual([true, false, false]);
  });
});
