/** A lane a node: everything that a day says about it. */
import type { LineOf, TraceLine } from '../trace/lines.ts';
import { unhealthyBars } from './conditions.ts';
import { drainsOf } from './drain.ts';
import { textAt, type ObjectHistories, type ObjectHistory } from './objects.ts';
import { podsOf, protectionOf } from './pods.ts';
import { repairOf, type Decided } from './repair.ts';
import { terminationOf } from './termination.ts';
import type { Bar, End, Lane, Mark } from './types.ts';
import type { Life, Whereabouts } from './who.ts';

const POOL_LABEL = 'karpenter.sh/nodepool';
const ZONE_LABEL = 'topology.kubernetes.io/zone';

interface Sources {
  readonly lines: readonly TraceLine[];
  readonly objects: ObjectHistories;
  readonly where: Whereabouts;
  readonly start: number;
  readonly end: number;
  readonly unhealthy: ReadonlySet<string>;
}

interface Said {
  readonly audits: Decided[];
  readonly writes: { readonly index: number; readonly time: number; readonly line: LineOf<'write'> }[];
  readonly marks: Mark[];
}

/** In the order in which the nodes appear. */
export function lanesOf(sources: Sources): readonly Lane[] {
  const said = sayingsOf(sources);
  const pods = Map.groupBy(sources.objects.get('/pods') ?? [], ({ versions }) =>
    versions.map(({ object }) => textAt(object, 'spec', 'nodeName')).findLast(Boolean),
  );
  const claims = Map.groupBy(sources.objects.get('karpenter.sh/nodeclaims') ?? [], ({ versions }) =>
    versions.map(({ object }) => textAt(object, 'status', 'nodeName')).findLast(Boolean),
  );
  return [...sources.where.lives.values()].flat().map(life =>
    laneOf(life, said.get(life) ?? { audits: [], writes: [], marks: [] }, {
      ...sources,
      pods: pods.get(life.name) ?? [],
      claims: claims.get(life.name) ?? [],
    }),
  );
}

function sayingsOf({ lines, where }: Sources): ReadonlyMap<Life, Said> {
  const said = new Map<Life, Said>();
  for (const [index, line] of lines.entries()) {
    if (line.kind === 'object' || line.kind === 'policy' || line.kind === 'status') continue;
    const life = where.lifeOf(line);
    if (life === undefined) continue;
    const known = said.get(life) ?? { audits: [], writes: [], marks: [] };
    said.set(life, known);
    const time = Date.parse(line.t);
    if (line.kind === 'audit') known.audits.push({ index, time, line });
    if (line.kind === 'write') known.writes.push({ index, time, line });
    const mark = markOf(line);
    if (mark !== undefined) known.marks.push({ ...mark, time, line: index });
  }
  return said;
}

function markOf(line: TraceLine): Pick<Mark, 'kind' | 'text'> | undefined {
  switch (line.kind) {
    case 'event':
      return { kind: line.type === 'Warning' ? 'warning' : 'event', text: `${line.reason}: ${line.message}` };
    case 'write':
      return { kind: 'write', text: `${line.by}: ${line.verb} ${line.resource} ${line.name}` };
    case 'step':
      return { kind: 'other', text: line.problem === undefined ? line.text : `${line.text} (${line.problem})` };
    case 'actor':
      return line.subresource === 'status'
        ? undefined
        : { kind: 'other', text: `${line.by}: ${line.verb} ${line.resource} ${line.name}` };
    case 'trace':
    case 'end':
    case 'instance':
    case 'object':
    case 'policy':
    case 'rules':
    case 'status':
    case 'audit':
    case 'buried':
      return undefined;
  }
}

interface LaneSources extends Sources {
  readonly pods: readonly ObjectHistory[];
  readonly claims: readonly ObjectHistory[];
}

function laneOf(life: Life, { audits, writes, marks }: Said, sources: LaneSources): Lane {
  const { start, end } = sources;
  const until = { time: Math.min(life.gone ?? end, end), isOpen: life.gone === undefined };
  const by = Map.groupBy(audits, ({ line }) => line.function);
  const repair = repairOf(by.get('repair') ?? [], until.time);
  const drain = drainsOf(by.get('drain') ?? [], until.time);
  const deletions = [...life.versions, ...versionsWithin(sources.claims, life)].toSorted((a, b) => a.time - b.time);
  const termination = terminationOf(
    {
      decided: by.get('finalizer') ?? [],
      writes,
      versions: deletions,
    },
    until,
  );
  const taken = new Set([...repair.takenPods, ...forcedPods(by.get('finalizer') ?? [])]);
  const first = life.versions.at(0)?.object ?? {};
  const from = Math.max(life.from, start);
  const ended = life.gone === undefined ? undefined : endOf(life.gone, repair.terminated, termination.begun);
  const gone: Mark[] =
    ended === undefined ? [] : [{ kind: 'gone', time: ended.time, text: 'the node is gone', line: -1 }];
  return {
    name: life.name,
    uid: life.uid,
    pool: textAt(first, 'metadata', 'labels', POOL_LABEL) ?? poolSaid(audits) ?? '',
    zone: textAt(first, 'metadata', 'labels', ZONE_LABEL) ?? zoneSaid(audits) ?? '',
    from,
    end: ended,
    bars: [
      ...unhealthyBars({ versions: life.versions, decided: by.get('repair') ?? [] }, sources.unhealthy, until),
      ...repair.bars.filter(({ kind }) => kind !== 'termination' || termination.bars.length === 0),
      ...drain.bars,
      ...termination.bars,
      ...protectionOf(by.get('grace-period') ?? [], until),
      ...replacementOf(life, sources),
    ],
    waits: [...drain.waits, ...termination.waits],
    marks: [...marks, ...gone],
    pods: podsOf(sources.pods, { from, to: until.time, isOpen: until.isOpen }, taken),
    hooks: termination.hooks,
    drains: drain.drains,
    repairs: repair.repairs,
    reboots: rebootsOf(writes, by.get('repair') ?? [], life.versions.length > 0),
    skippedHooks: termination.skippedHooks,
    unawaitedHooks: termination.unawaitedHooks,
    takenPods: [...taken],
    decisions: audits.map(({ index }) => index),
  };
}

const versionsWithin = (histories: readonly ObjectHistory[], { from, gone }: Life): ObjectHistory['versions'] =>
  histories.flatMap(({ versions }) => versions.filter(({ time }) => time >= from && time <= (gone ?? Infinity)));

const poolSaid = (audits: readonly Decided[]): string | undefined =>
  audits.map(({ line }) => textAt(line.details, 'nodePool')).find(Boolean);

/** Where a guard of a zone held it: an audit log has no labels. */
const zoneSaid = (audits: readonly Decided[]): string | undefined =>
  audits.map(({ line }) => textAt(line.details, 'guard', 'zone')).find(Boolean);

/** When its instance was rebooted: as the cloud took it, or, in an audit log, as repair decided it. */
function rebootsOf(writes: Said['writes'], decided: readonly Decided[], hasObjects: boolean): readonly number[] {
  const calls = writes.filter(({ line }) => line.resource === 'instances' && line.verb === 'reboot');
  if (hasObjects) return calls.map(({ time }) => time);
  return decided
    .filter(({ line }) => line.decision === 'repair' && textAt(line.details, 'action') === 'Reboot')
    .map(({ time }) => time);
}

/** Protected pods that a deadline took. */
function forcedPods(decided: readonly Decided[]): readonly string[] {
  return decided
    .filter(
      ({ line }) => line.about.kind === 'Pod' && (textAt(line.details, 'overriddenProtection') ?? 'none') !== 'none',
    )
    .map(({ line }) => `${line.namespace ?? ''}/${line.name}`);
}

function endOf(time: number, repaired: number | undefined, requested: number | undefined): End {
  if (repaired !== undefined && repaired <= time) return { time, by: 'repair' };
  return { time, by: requested === undefined ? 'others' : 'request' };
}

/** A node that came during the day: from its claim to the first time that it was ready. */
function replacementOf({ from, gone, versions }: Life, { claims, start, end }: LaneSources): readonly Bar[] {
  if (from <= start) return [];
  const asked = claims.flatMap(claim => claim.versions.slice(0, 1)).find(({ time }) => time <= from);
  const ready = versions.find(({ object }) => isReady(object));
  const to = ready?.time ?? gone ?? end;
  const begun = asked?.time ?? from;
  if (begun <= start || to <= begun) return [];
  const line = asked?.line ?? versions[0]?.line ?? 0;
  return [
    {
      kind: 'replacement',
      label: 'launch',
      detail: 'launched during the day',
      from: begun,
      to,
      isOpen: ready === undefined && gone === undefined,
      line,
    },
  ];
}

function isReady(object: unknown): boolean {
  const conditions =
    typeof object === 'object' && object !== null
      ? Reflect.get(Reflect.get(object, 'status') ?? {}, 'conditions')
      : undefined;
  return (
    Array.isArray(conditions) &&
    conditions.some((each: unknown) => textAt(each, 'type') === 'Ready' && textAt(each, 'status') === 'True')
  );
}
