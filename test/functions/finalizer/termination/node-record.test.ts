/** The record of a Node for which a NodeClaim stands: closed, but for what another run hands over to the Node meanwhile (I4). */
import { expect, it } from 'vitest';
import { closeNodeRecord } from '../../../../functions/finalizer/termination/end.ts';
import {
  EMPTY_TERMINATION,
  openTermination,
  type TerminationRecord,
} from '../../../../functions/finalizer/termination/record.ts';
import { addDuration, minutes, toEpochMs } from '../../../../shared/domain/time.ts';
import type { KubernetesApi } from '../../../../shared/ports/kubernetes-api.ts';
import { finalizerPorts } from '../../../builders/finalizer-ports.ts';

const NOW = toEpochMs(Date.parse('2024-11-01T15:00:00Z'));
const UID = 'uid-of-node';

async function aRecord() {
  const deps = finalizerPorts({} as KubernetesApi, () => NOW);
  const put = async (value: Partial<TerminationRecord>): Promise<void> => {
    const record = openTermination(deps, 'Node', UID);
    await record.load();
    await record.save({
      subject: { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: UID },
      value: { ...EMPTY_TERMINATION, ...value },
      wakeTime: addDuration(NOW, minutes(1)),
    });
  };
  await put({});
  const kept = async (): Promise<TerminationRecord | undefined> => {
    const loaded = await openTermination(deps, 'Node', UID).load();
    return loaded.kind === 'known' ? loaded.value : undefined;
  };
  return { put, kept, close: (isAlone: () => Promise<boolean>) => closeNodeRecord(deps, UID, isAlone) };
}

it('is closed where a NodeClaim stands for the Node', async () => {
  const { close, kept } = await aRecord();
  expect(await close(async () => false)).toBe(true);
  expect(await kept()).toBeUndefined();
});

it('stays where none does any more: what was handed over to the Node is in it', async () => {
  const { close, kept } = await aRecord();
  expect(await close(async () => true)).toBe(false);
  expect(await kept()).toBeDefined();
});

it('stays where another run hands over to the Node after the NodeClaim was seen', async () => {
  const { close, kept, put } = await aRecord();
  const handedOver = async (): Promise<boolean> => {
    await put({ hookKeyUid: 'uid-of-claim' });
    return false;
  };
  expect(await close(handedOver)).toBe(true);
  expect((await kept())?.hookKeyUid).toBe('uid-of-claim');
});
