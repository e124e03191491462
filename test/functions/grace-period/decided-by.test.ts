import { expect, it } from 'vitest';
import { annotatedPods } from '../../../functions/grace-period/rule/announcements.ts';
import { decidingSettings } from '../../../functions/grace-period/report.ts';
import type { PodView } from '../../../shared/domain/pod.ts';
import { DEFAULT_PROTECTION_POLICY, type ProtectionPolicy } from '../../../shared/domain/protection.ts';
import { hours, toEpochMs } from '../../../shared/domain/time.ts';
import { aPod } from '../../builders/pods.ts';

const START = toEpochMs(Date.UTC(2024, 0, 1, 10));
const pod = (namespace: string, value: string): PodView =>
  aPod(value, { namespace, creationTime: START, startTime: START });
const source = 'NodeLifecyclePolicy p';
const at = (field: string): object => ({ kind: 'NodeLifecyclePolicy', name: 'p', field: `spec.protection.${field}` });

it.each<[string, Partial<ProtectionPolicy>, readonly PodView[], readonly object[], string?]>([
  ['the annotation alone', { maxDuration: hours(4) }, [pod('ci', '1h')], []],
  ['a cap', { maxDuration: hours(4) }, [pod('ci', '8h'), pod('ci', '1h')], [at('maxDuration')]],
  ['a cap on one without end', { maxDuration: hours(4) }, [pod('ci', 'true')], [at('maxDuration')]],
  [
    'the cap of a namespace',
    { maxDuration: hours(4), maxDurations: new Map([['ci', hours(2)]]) },
    [pod('ci', '8h')],
    [at('namespaces')],
  ],
  [
    'both',
    { maxDuration: hours(4), maxDurations: new Map([['ci', hours(2)]]) },
    [pod('ci', '8h'), pod('x', '8h')],
    [at('namespaces'), at('maxDuration')],
  ],
  [
    'the rules of Karpenter',
    { compatibility: 'Karpenter', maxDuration: hours(4) },
    [pod('ci', '1h')],
    [at('compatibility')],
  ],
  ['nobody, without pods', { compatibility: 'Karpenter', maxDuration: hours(4) }, [], []],
  ['a default', { maxDuration: hours(4) }, [pod('ci', '8h')], [], 'nowhere'],
])('%s decided', (_, policy, pods, places, whose) => {
  const rules = { ...DEFAULT_PROTECTION_POLICY, ...policy };
  const effective = { policy: rules, source: whose === undefined ? source : undefined };
  expect(decidingSettings(effective, annotatedPods(pods, rules))).toEqual(places);
});
