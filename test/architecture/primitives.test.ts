/**
 * Each primitive of the kernel stands once. What only its home may do is named here by the call or import that does it; a file
 * beside the home is listed with the reason why it may, too.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root, sources } from './sources.ts';

interface Primitive {
  readonly name: string;
  /** What nobody else does. */
  readonly does: RegExp;
  readonly home: string;
  /** Others that do it, and why. */
  readonly also?: Readonly<Record<string, string>>;
}

const PRIMITIVES: readonly Primitive[] = [
  {
    name: 'the subject loop',
    does: /\bMAX_TURNS\b.*\+\+|< MAX_TURNS\b/,
    home: 'shared/lifecycle/settle.ts',
  },
  {
    name: 'a change of a record alone',
    does: /decide: (loaded => loaded|\(\) => undefined)/,
    home: 'shared/lifecycle/timed-record.ts',
  },
  {
    name: 'the codec of a record',
    does: /\btoState: /,
    home: 'shared/lifecycle/record-codec.ts',
    also: {
      'functions/drain/record.ts': 'what is stored of drains must fit into an item',
      'functions/finalizer/objects/record.ts': 'one phase is stored under an older name',
      'functions/finalizer/termination/record.ts':
        'what a termination waits for is a union, and stored as older versions read it',
      'shared/lifecycle/coalesce.ts': 'what is asked for is a union, and stored as texts',
      'functions/repair/record.ts': 'the store keeps names that the code has left',
    },
  },
  {
    name: 'a write of a record',
    does: /\brecords\.(put|delete)\(/,
    home: 'shared/lifecycle/timed-record.ts',
    also: {
      'functions/finalizer/objects/call-rate.ts': 'a count without a timer',
      'functions/timer/canary.ts': 'an item that shows that the table is there',
      'functions/timer/reconcile.ts': 'a mark for an entry that cannot be read',
      'shared/cluster/configuration.ts': 'one record without a timer, written while others are',
    },
  },
  {
    name: 'when a run is over for certain',
    does: /(SETTLES?_AFTER|ENDS?_(AFTER|WITHIN)) = (seconds|minutes)\(/,
    home: 'shared/domain/run-end.ts',
  },
  { name: 'evictions', does: /\bkubernetes\.evict\(/, home: 'shared/pods/eviction.ts' },
  {
    name: 'creating what a template describes',
    does: /\bkubernetes\.create\(/,
    home: 'shared/custom-resource/request.ts',
    also: {
      'functions/repair/actions/replace.ts': 'a NodeClaim, which no template describes',
      'shared/adapters/kubernetes/event-recorder.ts': 'Events, which no template describes',
    },
  },
  { name: 'the YAML of templates', does: /from 'yaml'/, home: 'shared/custom-resource/rendered-yaml.ts' },
  {
    name: 'templates of objects',
    does: /packages\/gotemplate/,
    home: 'shared/custom-resource/render.ts',
    also: { 'shared/custom-resource/drain-template.ts': 'types of the data of a template' },
  },
  {
    name: 'audit lines',
    does: /\baudit\.write\(/,
    home: 'shared/lifecycle/reporter.ts',
    also: {
      'functions/timer/reconcile.ts': 'the sweep knows no API server, and so no Events',
      'shared/cluster/configuration.ts': 'its Event is about no subject of a concern',
    },
  },
  { name: 'whose a node is', does: /\bfunction (ownerOf|indexOwners)\b/, home: 'shared/domain/node-owner.ts' },
  {
    name: 'what is read to say whose a node is',
    does: /\bfunction (findNodeClaims|loadCluster)\b|\bconst claimsOfNode\b/,
    home: 'shared/cluster/owner.ts',
  },
  {
    name: 'a change of exactly what was read',
    does: /type: 'merge',\s*body/,
    home: 'shared/ports/exact-change.ts',
    also: { 'shared/adapters/kubernetes/event-recorder.ts': 'Events' },
  },
  {
    name: 'a change of a status',
    does: /subresource: 'status'/,
    home: 'shared/ports/exact-change.ts',
    also: { 'shared/contract/permissions.ts': 'grants, and no changes' },
  },
  {
    name: 'what follows from the judgement of a node',
    does: /\bneedsCleanUp: (?!boolean)|\bstate: '(?:idle|followed|inFlight)'/,
    home: 'functions/repair/node/rule/finding.ts',
  },
  { name: 'one run at a time', does: /\bunderWay: turn\.requests\b/, home: 'shared/lifecycle/coalesce.ts' },
  { name: 'the last good settings', does: /\b(const|function) lastGood\b/, home: 'shared/cluster/last-good.ts' },
  { name: 'the schedule of refusals', does: /\b(const|function) waitAfter\b/, home: 'shared/domain/refusal.ts' },
  { name: 'waits that double', does: /\* 2 \*\* /, home: 'shared/domain/time.ts' },
  {
    name: 'the first of many names',
    does: /\band \$\{[^}]*\} more\b/,
    home: 'shared/domain/cut-text.ts',
    also: { 'shared/contract/config-schema.ts': 'faults, each with its place' },
  },
  { name: 'the group of a message', does: /\bfunction messageGroupOf\b/, home: 'shared/contract/message-group.ts' },
];

const files = sources.filter(file => /^(functions|shared)\//.test(file));
/** Without comments: they may speak of it. */
const codeOf = (file: string): string =>
  readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');

describe('a primitive stands once', () => {
  it.each(PRIMITIVES)('$name', ({ does, home, also = {} }) => {
    const doing = files.filter(file => does.test(codeOf(file)));
    expect(doing.toSorted()).toEqual([home, ...Object.keys(also)].toSorted());
  });
});
