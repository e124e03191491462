import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLUSTER_EVENT_VERSION } from '../../../shared/contract/cluster-event.ts';
import { parseInboxMessage, type InboxMessage } from '../../../shared/contract/inbox-message.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'fixtures', 'events');
const files = readdirSync(FOLDER);
const read = (file: string) => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Record<string, unknown>;

const parse = (detail: object): InboxMessage =>
  parseInboxMessage(JSON.stringify({ source: 'curfew.forwarder', 'detail-type': 'NodeChanged', detail }));

describe('cluster events', () => {
  it.each(files)('of %s are read, and keep what this version knows', file => {
    const stored = read(file);
    const message = parse(stored);
    if (message.kind !== 'clusterEvent') throw new Error(message.kind);
    const { event } = message;
    expect(stored).toMatchObject(event);
    expect(event).toMatchObject({ cluster: 'prod', change: stored['change'], changed: stored['changed'] });
  });

  it('have a fixture of this version and of the next one', () => {
    const versions = new Set(files.map(file => read(file)['schemaVersion']));
    expect(versions).toEqual(new Set([CLUSTER_EVENT_VERSION, CLUSTER_EVENT_VERSION + 1]));
  });

  it.each([0, CLUSTER_EVENT_VERSION + 2, 1.5, '1', undefined])(
    'of version %s are refused, and the reason says so',
    version => {
      expect(() => parse({ ...read('1-node-changed.json'), schemaVersion: version })).toThrow(/schemaVersion/);
    },
  );
});
