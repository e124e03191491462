/** The local cluster makes no pods of Deployments and their like: who applies one learns so at once, instead of waiting for pods. */
import type { KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';

const NAME = 'no-workload-controllers.local';
const CREATE = { operations: ['CREATE'], apiVersions: ['*'] };

/** An admission policy and its binding, which warn and refuse nothing. */
export const WORKLOAD_WARNING: readonly KubernetesManifest[] = [
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: NAME },
    spec: {
      failurePolicy: 'Ignore',
      matchConstraints: {
        resourceRules: [
          { ...CREATE, apiGroups: ['apps'], resources: ['deployments', 'replicasets', 'statefulsets', 'daemonsets'] },
          { ...CREATE, apiGroups: ['batch'], resources: ['jobs', 'cronjobs'] },
        ],
      },
      validations: [
        {
          expression: 'false',
          messageExpression:
            '"this local cluster has no controller of " + request.resource.resource + ": it makes no pods of them. Make pods yourself: kubectl run NAME --image=IMAGE"',
        },
      ],
    },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: NAME },
    spec: { policyName: NAME, validationActions: ['Warn'] },
  },
];
