/** `protection` blocks of a policy, and whether they are accepted: by the function, and by the API server with Curfew's definition. */
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';

export const PROTECTION_BLOCKS: readonly (readonly [JsonObject, boolean])[] = [
  [{}, true],
  [{ compatibility: 'Karpenter' }, true],
  [{ compatibility: 'karpenter' }, false],
  [{ maxDuration: '1h30m' }, true],
  [{ maxDuration: '0s' }, false],
  [{ maxDuration: '0h0m' }, false],
  [{ maxDuration: '99999999h' }, false],
  [{ maxDuration: '4d' }, false],
  [{ warnBefore: '0s' }, false],
  [{ warnBefore: '-1m' }, false],
  [{ warnBefore: '99999999h' }, false],
  [{ warnBefore: '15m' }, true],
  [{ maxDuration: '1h', warnBefore: '1h' }, true],
  [{ maxDuration: '1h', warnBefore: '2h' }, false],
  [{ namespaces: [{ name: 'ci', maxDuration: '4h' }] }, true],
  [{ namespaces: [{ name: 'ci', maxDuration: '0s' }] }, false],
  [{ namespaces: [{ name: 'ci', maxDuration: '99999999h' }] }, false],
];
