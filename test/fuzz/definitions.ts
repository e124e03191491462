/** Curfew's CustomResourceDefinitions, judged by the embedded API server, beside what the code reads. */
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import { ApiStatusError } from '../../packages/kube-apiserver/src/types.ts';
import { parseDrainLimits } from '../../shared/contract/drain-limits-schema.ts';
import { parseFinalizerRule } from '../../shared/contract/finalizer-rule-schema.ts';
import { parsePolicyFrame, type ParseResult } from '../../shared/contract/policy-schema.ts';
import { parseProtectionBlock } from '../../shared/contract/protection-schema.ts';
import { parseRepairLimits } from '../../shared/contract/repair-limits-schema.ts';
import { parseRepairBlock } from '../../shared/contract/repair-schema.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { parseTerminationBlock } from '../../shared/contract/termination-schema.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { customResourceDefinitions } from '../../simulator/custom-resource-definitions.ts';

const core = createApiServer({ clock: { now: () => Date.parse('2024-11-01T15:00:00Z') } });
for (const definition of customResourceDefinitions()) core.seed(definition);
let counter = 0;

export type Kind = 'NodeLifecyclePolicy' | 'FinalizerRule';

/** The spec as it is stored, defaults included; undefined: the API server refuses it. */
export function stored(kind: Kind, spec: JsonObject): JsonObject | undefined {
  const metadata = { name: `a${(counter += 1)}` };
  try {
    return core.create(RESOURCES[kind], { apiVersion: 'curfew.dev/v1alpha1', kind, metadata, spec }).spec;
  } catch (error) {
    if (error instanceof ApiStatusError && error.status.code === 422) return undefined;
    throw error;
  }
}

const BLOCKS: Readonly<Record<string, (block: unknown, path: string) => ParseResult<unknown>>> = {
  repair: parseRepairBlock,
  repairLimits: parseRepairLimits,
  drain: parseDrainLimits,
  termination: parseTerminationBlock,
  protection: parseProtectionBlock,
};

/** What the code cannot read of a spec. */
export function faultsOf(kind: Kind, spec: JsonObject): readonly string[] {
  const parts =
    kind === 'FinalizerRule'
      ? [parseFinalizerRule(spec)]
      : [
          parsePolicyFrame(spec),
          ...Object.entries(BLOCKS).flatMap(([name, parse]) =>
            spec[name] === undefined ? [] : [parse(spec[name], `spec.${name}`)],
          ),
        ];
  return parts.flatMap(part => (part.ok ? [] : [part.message]));
}
