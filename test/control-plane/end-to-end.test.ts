/**
 * Curfew on kube-apiserver, end to end in real time: the scenarios annotated `real: "true"`, every part as its own identity with its
 * own permissions, kubelet, Karpenter and the cloud played by actors through the API. The trace is the API server's audit log.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleFiles, scenariosIn } from '../examples/files.ts';
import { createLease, DEFAULT_LEASE_TIMINGS } from '../../forwarder/lease.ts';
import { SILENT_LOG } from '../../forwarder/log.ts';
import { formatEntry } from '../../simulator/expect.ts';
import type { Scenario } from '../../simulator/scenario/scenario.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { CONFIG_MAP, FUNCTION_NAMES } from '../../shared/contract/names.ts';
import { PERMISSIONS, type Component } from '../../shared/contract/permissions.ts';
import { OTHER_RELEASE } from './build.ts';
import { readAuditLog, type AuditedRequest } from './end-to-end/audit-log.ts';
import { FORWARDER, startCurfewOnCluster, type CurfewOnCluster } from './end-to-end/curfew-on-cluster.ts';
import { describeRefusal, unusedOf } from './end-to-end/permissions.ts';
import { runOnCluster } from './end-to-end/run-on-cluster.ts';
import { KARPENTER_CRDS } from './karpenter-crds.ts';

function realScenarios(): readonly Scenario[] {
  return exampleFiles()
    .flatMap(file => scenariosIn(file))
    .filter(({ annotations }) => annotations['real'] === 'true');
}

/** One of each concern: what a release does otherwise is in the contracts. */
const ON_OTHERS = ['do-not-disrupt-in-seconds', 'drain-in-seconds', 'finalizer-in-seconds', 'repair-in-seconds'];

const LEASES = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };

const PARTS: readonly Component[] = [...FUNCTION_NAMES, FORWARDER];

describe.skipIf(KARPENTER_CRDS.length === 0)('end to end', () => {
  let cluster: CurfewOnCluster;
  beforeAll(async () => {
    cluster = await startCurfewOnCluster(line => process.stderr.write(`${line}\n`));
  });
  afterAll(() => cluster?.stop());

  describe('Curfew on kube-apiserver', () => {
    const all = realScenarios();
    const scenarios = OTHER_RELEASE !== undefined ? all.filter(({ name }) => ON_OTHERS.includes(name)) : all;

    it('has those scenarios that run on other releases, too', () => {
      expect(all.filter(({ name }) => ON_OTHERS.includes(name))).toHaveLength(ON_OTHERS.length);
    });

    it.skipIf(OTHER_RELEASE !== undefined)(
      'has at least two scenarios for each concern that acts on the cluster',
      () => {
        for (const concern of FUNCTION_NAMES.filter(name => name !== 'timer')) {
          const about = scenarios.filter(({ expectations }) =>
            expectations.some(
              each =>
                each.kind === 'trace' && [each.pattern.fields['by'], each.pattern.fields['function']].includes(concern),
            ),
          );
          expect([concern, about.length >= 2]).toEqual([concern, true]);
        }
      },
    );

    it.each(scenarios.map(scenario => [scenario.name, scenario] as const))('%s', async (_, scenario) => {
      const { verdicts, problems, trace } = await runOnCluster(scenario, cluster);
      const failed = verdicts
        .filter(({ holds }) => !holds)
        .flatMap(({ title, seen, expectation: { place } }) => [`${place.file}:${place.line}: ${title}`, ...seen]);
      expect({ failed, problems, ...(failed.length > 0 && { trace: trace.map(formatEntry) }) }).toEqual({
        failed: [],
        problems: [],
      });
    });

    it('elects the forwarder that works by its Lease', async () => {
      const { signal } = new AbortController();
      const lease = createLease({
        kubernetes: cluster.forwarder,
        clock: systemClock,
        log: SILENT_LOG,
        settings: {
          namespace: CONFIG_MAP.namespace,
          name: 'curfew-forwarder',
          identity: 'first',
          ...DEFAULT_LEASE_TIMINGS,
        },
      });
      await lease.acquire(signal);
      const ref = { type: LEASES, namespace: CONFIG_MAP.namespace, name: 'curfew-forwarder' };
      expect(await cluster.forwarder.get(ref)).toMatchObject({ object: { spec: { holderIdentity: 'first' } } });
      await lease.release();
    });
  });

  describe('permissions', () => {
    const requestsOf = (part: string): readonly AuditedRequest[] =>
      readAuditLog(cluster.auditLog).filter(({ user }) => cluster.partOf(user) === part);

    it.each(PARTS)('%s is refused nothing', part => {
      const refused = requestsOf(part).filter(({ allowed, resource }) => !allowed && resource !== undefined);
      expect([...new Set(refused.map(describeRefusal))]).toEqual([]);
    });

    it.skipIf(OTHER_RELEASE !== undefined).each(PARTS)(
      '%s uses all that it is allowed and nothing simulated uses',
      part => {
        expect(unusedOf(part, PERMISSIONS[part].kubernetes, requestsOf(part))).toEqual([]);
      },
    );

    it('timer does not talk to the cluster', () => {
      expect(requestsOf('timer')).toEqual([]);
    });
  });
});
