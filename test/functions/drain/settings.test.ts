import { describe, expect, it } from 'vitest';
import { compileSettings } from '../../../functions/drain/settings.ts';
import { formatConfigFaults, parseConfig } from '../../../shared/contract/config-schema.ts';

function compiled(text: string): ReturnType<typeof compileSettings> {
  const parsed = parseConfig(text);
  if (!parsed.ok) throw new Error(formatConfigFaults(parsed.faults));
  if (parsed.value.drain === undefined) throw new Error('a valid configuration has drain settings');
  return compileSettings(parsed.value.drain);
}
const rule = (name: string, mode: string): string => `[[userNamespaces]]\nname = "${name}"\nmode = "${mode}"\n`;
const policy = (name: string, selector: string, mode: string, namespace = '*'): string =>
  `[[podDrainPolicies]]\nname = "${name}"\nnamespace = "${namespace}"\npodSelector = "${selector}"\nmode = "${mode}"\n`;
const modes = (text: string, ...namespaces: string[]) => {
  const { modeOf } = compiled(text);
  return namespaces.map(namespace => modeOf({ namespace, labels: {} }));
};

describe('the mode of a pod', () => {
  it('81: system namespaces by RE2', () => {
    const text = `systemNamespaces = "^(kube-.*|nvsentinel)$"\n${rule('*', 'Immediate')}`;
    expect(modes(text, 'kube-system', 'kube-public', 'nvsentinel', 'user-kube-system', 'workload')).toEqual([
      'system',
      'system',
      'system',
      'Immediate',
      'Immediate',
    ]);
  });
  it('searches for the expression anywhere in the name', () => {
    const text = `systemNamespaces = "kube-system"\n${rule('*', 'Immediate')}`;
    expect(modes(text, 'user-kube-system', 'kube')).toEqual(['system', 'Immediate']);
  });
  it('is the most forceful of several patterns, whatever their order', () => {
    const [db, star] = [rule('db', 'AllowCompletion'), rule('*', 'Immediate')];
    expect(modes(db + star, 'db')).toEqual(['Immediate']);
    expect(modes(star + db, 'db')).toEqual(['Immediate']);
    expect(modes(db + rule('d?', 'DeleteAfterTimeout'), 'db')).toEqual(['DeleteAfterTimeout']);
  });
  it('is none where no pattern matches', () => {
    expect(modes(rule('batch-*', 'Immediate'), 'batch-1', 'web')).toEqual(['Immediate', undefined]);
    expect(modes('drainGPUPods = false', 'web')).toEqual([undefined]);
  });
  it('70: is that of the first policy that matches labels and namespace', () => {
    const { modeOf } = compiled(
      policy('keep', 'keep', 'AllowCompletion') +
        policy('ci', 'app in (a,b)', 'Immediate', 'ci-*') +
        policy('rest', 'app notin (a,b),!x', 'DeleteAfterTimeout'),
    );
    expect([
      modeOf({ namespace: 'ci-1', labels: { keep: '', app: 'a' } }),
      modeOf({ namespace: 'ci-1', labels: { app: 'a' } }),
      modeOf({ namespace: 'web', labels: { app: 'a' } }),
      modeOf({ namespace: 'web', labels: {} }),
      modeOf({ namespace: 'web', labels: { x: '1' } }),
    ]).toEqual(['AllowCompletion', 'Immediate', undefined, 'DeleteAfterTimeout', undefined]);
  });
});

describe('the custom drain', () => {
  const custom = (enabled: boolean): string => `${rule('*', 'Immediate')}[customDrain]
enabled = ${enabled}
nodeSelector = "scheduler in (slurm,lsf),!drain.example.com/native"
templateFileName = "t.yaml"
namespace = "n"
apiGroup = "example.com"
version = "v1"
kind = "K"
statusConditionType = "D"
statusConditionStatus = "True"
`;
  it('64: is there for the nodes of its selector', () => {
    const { isCustom } = compiled(custom(true));
    expect([
      isCustom({ scheduler: 'slurm' }),
      isCustom({ scheduler: 'lsf' }),
      isCustom({ scheduler: 'kueue' }),
      isCustom({ scheduler: 'slurm', 'drain.example.com/native': '' }),
      isCustom({}),
    ]).toEqual([true, true, false, false, false]);
  });
  it('NV66: is there for no node while it is off', () => {
    expect(compiled(custom(false)).isCustom({ scheduler: 'slurm' })).toBe(false);
  });
});
