import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../infra/config.ts';
import { synthesize } from './synthesized.ts';

const readDocument = (name: string): string => readFileSync(join(import.meta.dirname, '../../docs', name), 'utf8');

describe('configuration', () => {
  it('has a default for everything', () => {
    expect(parseConfig(undefined)).toEqual({
      name: 'Curfew',
      logRetentionDays: 180,
      hookFunctions: [],
    });
  });

  it('may come as JSON text, as the command line passes it', () => {
    expect(parseConfig('{"logRetentionDays": 30}').logRetentionDays).toBe(30);
  });

  it('is refused with the name of each key that is wrong', () => {
    const wrong = {
      cluster: { name: 'prod', endpoint: 'http://plain', certificateAuthority: 'Q0E=' },
      logRetentionDays: 31,
      runbookUrl: 'docs/runbook.md',
      colour: 'red',
    };
    expect(() => parseConfig(wrong)).toThrow(
      /curfew\.cluster\.endpoint: .+\n[^]*curfew\.logRetentionDays: .+\n[^]*curfew\.runbookUrl: .+\n[^]*curfew: .*colour/,
    );
  });

  // The manifests in deploy/ have fixed names, so no other account could ever get credentials.
  it('is refused with another service account for the forwarder', () => {
    const forwarder = { namespace: 'curfew', serviceAccount: 'other' };
    expect(() => parseConfig({ forwarder })).toThrow(/curfew\.forwarder: cannot be chosen.*deploy\//);
  });

  it('is refused when it is not JSON', () => {
    expect(() => parseConfig('{')).toThrow('curfew: must be JSON');
  });

  it('has parameters without a default for the cluster when the context does not name one', () => {
    const { functionsTemplate } = synthesize({});
    const parameters = functionsTemplate.findParameters('*', { Type: 'String', MinLength: 1 });
    expect(Object.keys(parameters).toSorted()).toEqual([
      'ClusterCertificateAuthority',
      'ClusterEndpoint',
      'ClusterName',
    ]);
    for (const parameter of Object.values(parameters)) expect(parameter).not.toHaveProperty('Default');
  });

  // The CDK CLI compares with the name of the stack, not with its id, and passes over a parameter of another one.
  it('has its parameters given in docs/deploying.md as the CLI looks for them', () => {
    const { functions, functionsTemplate } = synthesize({});
    const given = [...readDocument('deploying.md').matchAll(/--parameters (\w+:\w+)=/g)].map(
      ([, parameter]) => parameter,
    );
    const parameters = Object.keys(functionsTemplate.findParameters('*', { Type: 'String', MinLength: 1 }));
    expect(new Set(given)).toEqual(new Set(parameters.map(name => `${functions.stackName}:${name}`)));
  });

  it('names the stacks and the bus after the deployment, so that two clusters fit into one account', () => {
    const { state, functions, stateTemplate } = synthesize({ name: 'CurfewStaging' });
    expect([state.stackName, functions.stackName]).toEqual(['CurfewStagingState', 'CurfewStaging']);
    const [bus] = Object.values(stateTemplate.findResources('AWS::Events::EventBus'));
    expect(bus?.['Properties'].Name).toBe('CurfewStaging');
  });
});
