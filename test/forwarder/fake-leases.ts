import type { LeaseDeps } from '../../forwarder/lease.ts';
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { RetryableError } from '../../shared/errors.ts';

/** One Lease as the API server keeps it: versions, conflicts, and an API that can be unreachable or hang. */
export function createFakeLeases() {
  let stored: KubernetesObject | undefined;
  let version = 0;
  let fault: 'unreachable' | 'hangs' | undefined;
  /** Runs between a caller's read and its write, to make it lose a race. */
  let beforeWrite: (() => void) | undefined;

  function store(spec: JsonObject, uid = 'lease-uid'): KubernetesObject {
    version += 1;
    const metadata = {
      name: 'forwarder',
      namespace: 'curfew',
      uid,
      resourceVersion: String(version),
      creationTimestamp: '2024-11-01T15:00:00Z',
    };
    stored = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
    return stored;
  }

  async function reached(): Promise<void> {
    if (fault === 'hangs') await new Promise(() => undefined);
    if (fault === 'unreachable') throw new RetryableError('connect ECONNREFUSED');
  }

  const kubernetes: LeaseDeps['kubernetes'] = {
    async get() {
      await reached();
      return stored === undefined ? { kind: 'notThere' } : { kind: 'there', object: stored };
    },
    async create(_type, manifest) {
      await reached();
      beforeWrite?.();
      if (stored !== undefined) return { kind: 'exists' };
      return { kind: 'ok', object: store(specOf(manifest['spec'])) };
    },
    async patch(_ref, patch) {
      await reached();
      beforeWrite?.();
      if (patch.type !== 'merge') throw new Error('only merge patches are expected');
      if (stored === undefined) return { kind: 'notFound' };
      const { resourceVersion } = specOf(patch.body['metadata']);
      if (resourceVersion !== stored.metadata.resourceVersion) return { kind: 'conflict', message: 'changed' };
      return { kind: 'ok', object: store({ ...stored.spec, ...specOf(patch.body['spec']) }) };
    },
  };

  return {
    kubernetes,
    store,
    holder: () => stored?.spec?.['holderIdentity'],
    spec: () => stored?.spec,
    setFault: (next: typeof fault) => {
      fault = next;
    },
    beforeNextWrite: (run: () => void) => {
      beforeWrite = () => {
        beforeWrite = undefined;
        run();
      };
    },
  };
}

function specOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
