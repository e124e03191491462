import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEventRecorder, eventName } from '../../../../shared/adapters/kubernetes/event-recorder.ts';
import { createInProcessKubernetesApi } from '../../../../runtime/in-process/kubernetes-api.ts';
import { createApiServer } from '../../../../packages/kube-apiserver/src/api-server.ts';
import { RESOURCES } from '../../../../shared/contract/resources.ts';
import { minutes } from '../../../../shared/domain/time.ts';
import { RetryableError } from '../../../../shared/errors.ts';
import type { ObjectEvent } from '../../../../shared/ports/event-recorder.ts';
import type { KubernetesApi } from '../../../../shared/ports/kubernetes-api.ts';
import { createManualClock } from '../../../fakes/manual-clock.ts';
import { objectsIn } from '../../../fakes/objects.ts';

const about = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1', uid: 'uid-1' } };
const event: ObjectEvent = { type: 'Warning', reason: 'NodeRepairBlocked', message: 'too many are unhealthy', about };

function make(replace: (api: KubernetesApi) => Partial<KubernetesApi> = () => ({})) {
  const clock = createManualClock();
  const api = createInProcessKubernetesApi(createApiServer({ clock }), 'test');
  const failures: unknown[] = [];
  const recorder = createEventRecorder({
    kubernetes: { ...api, ...replace(api) },
    clock,
    instance: 'repair',
    onFailure: (_, error) => failures.push(error),
  });
  return { clock, api, recorder, failures };
}

describe('EventRecorder', () => {
  it('writes what kubectl describe shows', async () => {
    const { api, recorder } = make();
    await recorder.record(event);
    expect(await objectsIn(api, RESOURCES.Event)).toMatchObject([
      {
        metadata: { namespace: 'default', name: expect.stringMatching(/^node-1\.[0-9a-f]{16}$/) },
        involvedObject: { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'uid-1' },
        type: 'Warning',
        reason: 'NodeRepairBlocked',
        message: 'too many are unhealthy',
        source: { component: 'curfew' },
        reportingComponent: 'curfew',
        reportingInstance: 'repair',
        firstTimestamp: '2024-11-01T15:00:00Z',
        lastTimestamp: '2024-11-01T15:00:00Z',
        count: 1,
      },
    ]);
  });

  it('shows what a terminal would obey, or an eye not see, as escapes', async () => {
    const { api, recorder } = make();
    const message = 'the value is \u001b[2J\u202Eevil\nat f';
    await recorder.record({ ...event, message });
    await recorder.record({ ...event, message });
    expect(await objectsIn(api, RESOURCES.Event)).toMatchObject([
      { count: 2, message: String.raw`the value is \u001b[2J\u202eevil` + '\nat f' },
    ]);
  });

  it('counts a repetition and keeps when it began', async () => {
    const { api, recorder, clock } = make();
    await recorder.record(event);
    await clock.advance(minutes(5));
    await recorder.record(event);
    expect(await objectsIn(api, RESOURCES.Event)).toMatchObject([
      { count: 2, firstTimestamp: '2024-11-01T15:00:00Z', lastTimestamp: '2024-11-01T15:05:00Z' },
    ]);
  });

  it('I10: takes an object of the same name for another one', async () => {
    const { api, recorder } = make();
    await recorder.record(event);
    await recorder.record({ ...event, about: { ...about, metadata: { name: 'node-1', uid: 'uid-2' } } });
    expect(await objectsIn(api, RESOURCES.Event)).toMatchObject([{ count: 1 }, { count: 1 }]);
  });

  it('meets no conflict when another recorder is faster: one count is lost, no Event', async () => {
    let raced = false;
    let patches = 0;
    const { api, recorder } = make(inner => ({
      patch: async (ref, patch) => {
        patches += 1;
        if (!raced) {
          raced = true;
          await recorder.record(event);
        }
        return inner.patch(ref, patch);
      },
    }));
    await recorder.record(event);
    await recorder.record(event);
    expect(await objectsIn(api, RESOURCES.Event)).toMatchObject([{ count: 2 }]);
    expect(patches).toBe(2);
  });

  it('keeps one Event per object and reason, with the message of the last time', async () => {
    const { api, recorder } = make();
    await recorder.record(event);
    await recorder.record({ ...event, message: 'later' });
    expect(await objectsIn(api, RESOURCES.Event)).toMatchObject([{ count: 2, message: 'later' }]);
  });

  it('creates the Event again when it expired in between', async () => {
    let expired = false;
    const { api, recorder, failures } = make(inner => ({
      patch: async (ref, patch) => {
        if (!expired) {
          expired = true;
          await inner.delete(ref, { preconditions: {} });
        }
        return inner.patch(ref, patch);
      },
    }));
    await recorder.record(event);
    await recorder.record(event);
    expect(await objectsIn(api, RESOURCES.Event)).toMatchObject([{ count: 1 }]);
    expect(failures).toEqual([]);
  });

  it('never throws: it reports why an event could not be recorded', async () => {
    const down = make(() => ({ create: () => Promise.reject(new RetryableError('no connection')) }));
    await down.recorder.record(event);
    expect(down.failures).toEqual([expect.objectContaining({ message: 'no connection' })]);

    const noNamespace = make();
    const metadata = { name: 'web-0', namespace: 'no-such-namespace', uid: 'uid-3' };
    await noNamespace.recorder.record({ ...event, about: { apiVersion: 'v1', kind: 'Pod', metadata } });
    expect(noNamespace.failures).toEqual([
      expect.objectContaining({ message: expect.stringContaining('no-such-namespace') }),
    ]);

    const contended = make(() => ({ patch: () => Promise.resolve({ kind: 'conflict', message: '' }) }));
    await contended.recorder.record(event);
    await contended.recorder.record(event);
    expect(contended.failures).toHaveLength(1);
  });
});

describe('eventName', () => {
  it('is a valid object name whatever the object is called', () => {
    const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
    fc.assert(
      fc.property(fc.oneof(fc.string({ maxLength: 300 }), fc.stringMatching(/^[a-zA-Z0-9:._-]{0,300}$/)), name => {
        const made = eventName({ ...event, about: { ...about, metadata: { name } } });
        expect(made).toMatch(subdomain);
        expect(made.length).toBeLessThanOrEqual(253);
      }),
      { examples: [['a-.-b'], ['a..b'], ['-'], ['']] },
    );
  });

  it('depends on the reason and the object, not on the message', () => {
    const names = [
      event,
      { ...event, message: 'other' },
      { ...event, reason: 'Other' },
      { ...event, about: { ...about, kind: 'NodeClaim' } },
    ].map(eventName);
    expect(new Set(names).size).toBe(3);
    expect(eventName({ ...event })).toBe(names[0]);
  });
});
