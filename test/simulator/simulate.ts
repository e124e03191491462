/** Runs a scenario given as the inside of `spec`, indented by two. */
import { runScenario, type RunOptions, type RunResult } from '../../simulator/run.ts';
import type { Scenario } from '../../simulator/scenario/scenario.ts';
import { toIsoText } from '../../shared/domain/time.ts';
import { timelineOf } from '../../simulator/timeline.ts';
import { scenarioOf } from '../builders/scenario.ts';

export function scenario(spec: string): Scenario {
  const head = 'apiVersion: curfew.dev/v1alpha1\nkind: Scenario\nmetadata: { name: test }\nspec:\n';
  const start = spec.includes('  start:') ? '' : '  start: "2024-11-01T15:00:00Z"\n';
  const duration = spec.includes('  duration:') ? '' : '  duration: 1h\n';
  return scenarioOf(head + start + duration + spec);
}

export function simulate(spec: string, options?: RunOptions): Promise<RunResult> {
  return runScenario(scenario(spec), options);
}

/** The verdicts' complaints; empty when every expectation holds. */
export function complaints({ verdicts }: RunResult): string[] {
  return verdicts.filter(({ holds }) => !holds).map(({ title, seen }) => [title, ...seen].join(' | '));
}

/** The timeline as `hh:mm:ss.mmm who what`, of these authors. */
export function story({ trace }: RunResult, ...by: string[]): string[] {
  return timelineOf(trace)
    .filter(entry => by.includes(entry.by))
    .map(entry => `${toIsoText(entry.time).slice(11, 23)} ${entry.by} ${entry.text}`);
}

export const GATE = '  config: "[featureGates]\\nnodeRepair = true\\n"\n';

/** A NodePool, a NodeClaim and its Node, whose Ready condition is `status` since the start. */
export function nodeObjects(name: string, status = 'False', repair = '{}'): string {
  return `    - { apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: ${name} }, spec: { repair: ${repair} } }
    - apiVersion: karpenter.sh/v1
      kind: NodeClaim
      metadata: { name: ${name}, labels: { karpenter.sh/nodepool: ${name} }, finalizers: [karpenter.sh/termination] }
      status: { nodeName: ${name}, providerID: "aws:///us-west-2a/i-${name}" }
    - apiVersion: v1
      kind: Node
      metadata: { name: ${name}, labels: { karpenter.sh/nodepool: ${name} } }
      spec: { providerID: "aws:///us-west-2a/i-${name}" }
      status: { conditions: [{ type: Ready, status: "${status}", lastTransitionTime: "2024-11-01T15:00:00Z" }] }
`;
}
