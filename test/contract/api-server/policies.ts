/** Admission policies for cases: each is about the namespace of its case alone, and is waited for until it is in force. */
import { expect, vi } from 'vitest';
import type { Answer } from './http-client.ts';
import { aConfigMap, configMaps, created, EVENTUALLY, type ApiServerSubject } from './subject.ts';

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const PATHS = {
  ValidatingAdmissionPolicy: `${GROUP}/validatingadmissionpolicies`,
  MutatingAdmissionPolicy: `${GROUP}/mutatingadmissionpolicies`,
};

export type PolicyKind = keyof typeof PATHS;

/** A policy about the ConfigMaps of the case, creates and updates, unless `spec` says otherwise. */
export function aPolicy({ namespace }: ApiServerSubject, kind: PolicyKind, name: string, spec: object): object {
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
  const rule = {
    apiGroups: [''],
    apiVersions: ['v1'],
    resources: ['configmaps'],
    operations: ['CREATE', 'UPDATE', ...(kind === 'ValidatingAdmissionPolicy' ? ['DELETE'] : [])],
  };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name: `${name}.${namespace}` },
    spec: {
      matchConstraints: { resourceRules: [rule], namespaceSelector },
      ...(kind === 'MutatingAdmissionPolicy' && { reinvocationPolicy: 'Never' }),
      ...spec,
    },
  };
}

export async function putPolicy(
  subject: ApiServerSubject,
  kind: PolicyKind,
  name: string,
  spec: object,
  binding: object = {},
): Promise<void> {
  const policyName = `${name}.${subject.namespace}`;
  await created(subject, PATHS[kind], aPolicy(subject, kind, name, spec));
  await created(subject, PATHS[kind].replace(/policies$/, 'policybindings'), {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${kind}Binding`,
    metadata: { name: policyName },
    spec: { policyName, ...(kind === 'ValidatingAdmissionPolicy' && { validationActions: ['Deny'] }), ...binding },
  });
}

export const sendPolicy = (subject: ApiServerSubject, kind: PolicyKind, spec: object): Promise<Answer> =>
  subject.http.call('POST', PATHS[kind], { body: aPolicy(subject, kind, 'sent', spec), query: { dryRun: 'All' } });

/** Creates a ConfigMap, for the answer. */
export const send = (
  subject: ApiServerSubject,
  name: string,
  data?: object,
  metadata: object = {},
  query: Readonly<Record<string, string>> = {},
): Promise<Answer> => subject.http.call('POST', configMaps(subject), { body: aConfigMap(name, data, metadata), query });

/** Waits until a dry run of a create is answered as a policy in force answers it. */
export async function inForce(
  subject: ApiServerSubject,
  data: object,
  isAnswer: (answer: Answer) => boolean,
  metadata: object = {},
): Promise<void> {
  await vi.waitFor(async () => {
    const answer = await send(subject, 'probe', data, metadata, { dryRun: 'All' });
    expect({ text: answer.text, warning: answer.headers['warning'], isAnswer: isAnswer(answer) }).toMatchObject({
      isAnswer: true,
    });
  }, EVENTUALLY);
}

export const isRefused = ({ status }: Answer): boolean => status >= 400;
