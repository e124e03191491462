/** What `curfew validate` says of a ladder. */
import { expect, it } from 'vitest';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { ladderTexts } from '../../../cli/explain/ladder-text.ts';
import { someSettings } from '../../builders/repair.ts';

const REBOOT = { type: 'Reboot' };
const REPLACE = { type: 'ReplaceThenTerminate', timeout: '20m' };
const TERMINATE = { type: 'Terminate' };

it.each<[JsonObject, readonly string[]]>([
  [{}, []],
  [
    { actions: [REBOOT, REPLACE, TERMINATE] },
    ['spec.repair: reboots at most twice a day, then launches a replacement for 20 minutes, then terminates'],
  ],
  [
    {
      actions: [
        { ...REBOOT, attempts: 1, within: '90m' },
        { type: 'DrainThenTerminate', timeout: '1h' },
      ],
    },
    ['spec.repair: reboots at most once in 90 minutes, then drains for 1 hour and terminates'],
  ],
  [{ terminationGracePeriod: '0s' }, ['spec.repair: terminates; pods have no time to leave']],
  [
    {
      terminationGracePeriod: '10m',
      policies: [{ conditionType: 'Ready', toleration: '5m', terminationGracePeriod: 'Inherit', actions: [REPLACE] }],
      conditions: [{ type: 'DiskSlow', status: 'True', toleration: '5m', actions: [REBOOT] }],
    },
    [
      'spec.repair: terminates; pods have 10 minutes to leave',
      "spec.repair.policies[0]: launches a replacement for 20 minutes; pods have as long as the NodeClaim's terminationGracePeriod",
      'spec.repair.conditions[0]: reboots at most twice a day; pods have 10 minutes to leave',
    ],
  ],
  [
    { policies: [{ conditionType: 'Ready', toleration: '5m', confirm: 'ApplicationStatus' }] },
    ['spec.repair.policies[0]: terminates; of Ready=Unknown only while EC2 says impaired of ApplicationStatus'],
  ],
  [
    { actions: [{ type: 'CustomResource', template: 'fix.yaml', timeout: '90s' }] },
    ['spec.repair: asks for help by template fix.yaml for 1m30s'],
  ],
])('%j', (block, texts) => {
  expect(ladderTexts(someSettings(block)).map(({ path, text }) => `${path}: ${text}`)).toEqual(texts);
});
