/** Which node a line is about: its Node, a NodeClaim, or a pod that runs there. A name that is used again is another node. */
import type { LineOf, TraceLine } from '../trace/lines.ts';
import { hookCalledBy } from './hook-call.ts';
import { textAt, textsAt, timeAt, type ObjectHistories, type Version } from './objects.ts';

/** One node, from its appearance to its end. */
export interface Life {
  readonly name: string;
  readonly uid: string | undefined;
  readonly from: number;
  /** undefined: it is there at the end. */
  readonly gone: number | undefined;
  readonly versions: readonly Version[];
}

export interface Whereabouts {
  /** By name; in the order of time. */
  readonly lives: ReadonlyMap<string, readonly Life[]>;
  lifeOf(line: TraceLine): Life | undefined;
}

type Named = {
  readonly kind?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
};

export function whereabouts(lines: readonly TraceLine[], objects: ObjectHistories, start: number): Whereabouts {
  const claims = new Map<string, string>();
  const pods = new Map<string, string>();
  /** Node names by the UIDs of Nodes and NodeClaims. */
  const byUid = new Map<string, string>();
  const learnUids = (versions: readonly Version[], node: string): void => {
    for (const { object } of versions) {
      const uid = textAt(object, 'metadata', 'uid');
      if (uid !== undefined) byUid.set(uid, node);
    }
  };
  for (const { name, versions } of objects.get('/nodes') ?? []) learnUids(versions, name);
  for (const { name, versions } of objects.get('karpenter.sh/nodeclaims') ?? []) {
    const node = versions.map(({ object }) => textAt(object, 'status', 'nodeName')).findLast(Boolean);
    if (node === undefined) continue;
    claims.set(name, node);
    learnUids(versions, node);
  }
  for (const { namespace, name, versions } of objects.get('/pods') ?? []) {
    const node = versions.map(({ object }) => textAt(object, 'spec', 'nodeName')).findLast(Boolean);
    if (node !== undefined) pods.set(`${namespace ?? ''}/${name}`, node);
  }
  for (const line of lines) if (line.kind === 'audit') learn(line, claims, pods);

  const nodeOf = ({ kind, namespace, name }: Named): string | undefined => {
    if (name === undefined) return undefined;
    if (kind === 'Node' || kind === 'nodes') return name;
    if (kind === 'NodeClaim' || kind === 'nodeclaims') return claims.get(name);
    return kind === 'Pod' || kind === 'pods' ? pods.get(`${namespace ?? ''}/${name}`) : undefined;
  };
  const instances = new Map(
    (objects.get('/nodes') ?? []).flatMap(({ name, versions }) => {
      const providerID = versions.map(({ object }) => textAt(object, 'spec', 'providerID')).find(Boolean);
      return providerID === undefined ? [] : [[providerID, name] as const];
    }),
  );
  const nodeOfChange = ({ resource, namespace, name }: LineOf<'write' | 'actor'>): string | undefined =>
    resource === 'instances' ? instances.get(name) : nodeOf({ kind: resource, namespace, name });
  const nodeOfLine = (line: TraceLine): string | undefined => {
    switch (line.kind) {
      case 'audit':
      case 'event':
        return nodeOf(line.about);
      case 'write': {
        const uid = hookCalledBy(line)?.uid;
        if (uid !== undefined) return byUid.get(uid);
        if (line.about === undefined || line.resource === 'instances') return nodeOfChange(line);
        return nodeOf(line.about) ?? textsAt(line.about, 'nodes')[0];
      }
      case 'actor':
        return nodeOfChange(line);
      case 'step': {
        const { about } = line;
        const providerID = textAt(about, 'providerID');
        if (providerID !== undefined) return instances.get(providerID);
        const named = textAt(about, 'detail', 'nodeName');
        if (named !== undefined) return named;
        return about && nodeOf({ ...about, kind: textAt(about, 'resource') ?? about.kind });
      }
      case 'instance':
        return instances.get(line.providerID);
      case 'trace':
      case 'end':
      case 'object':
      case 'policy':
      case 'rules':
      case 'status':
      case 'buried':
        return undefined;
    }
  };

  const lives = new Map<string, Life[]>();
  for (const { name, versions } of objects.get('/nodes') ?? []) lives.set(name, livesOf(name, versions));
  // An audit log has no objects: a node is there from its first line on, and for a day it was there all the time.
  for (const line of lines) {
    const name = line.kind === 'audit' && line.about.kind === 'Node' ? line.about.name : undefined;
    if (name === undefined || lives.has(name)) continue;
    lives.set(name, [
      { name, uid: line.kind === 'audit' ? line.uid : undefined, from: start, gone: goneIn(lines, name), versions: [] },
    ]);
  }
  return {
    lives,
    lifeOf(line) {
      const name = nodeOfLine(line);
      const known = name === undefined ? undefined : lives.get(name);
      const time = Date.parse(line.t);
      return known?.findLast(({ from }) => from <= time) ?? known?.[0];
    },
  };
}

/** What decisions say about who is where. */
function learn(
  { about, details, name, namespace }: Extract<TraceLine, { kind: 'audit' }>,
  claims: Map<string, string>,
  pods: Map<string, string>,
): void {
  const claim = textAt(details, 'nodeClaim');
  if (about.kind === 'Node' && claim !== undefined) claims.set(claim, name);
  const [node] = textsAt(details, 'nodes');
  if (about.kind === 'NodeClaim' && node !== undefined) claims.set(name, node);
  const host = textAt(details, 'node');
  if (about.kind === 'Pod' && host !== undefined) pods.set(`${namespace ?? ''}/${name}`, host);
}

function livesOf(name: string, versions: readonly Version[]): Life[] {
  const lives: Life[] = [];
  let begun: Version[] = [];
  const finish = (gone: number | undefined): void => {
    const [first] = begun;
    if (first === undefined) return;
    lives.push({ name, uid: textAt(first.object, 'metadata', 'uid'), from: bornOf(first), gone, versions: begun });
    begun = [];
  };
  for (const version of versions) {
    if (version.object === undefined) finish(version.time);
    else begun.push(version);
  }
  finish(undefined);
  return lives;
}

const bornOf = ({ time, object }: Version): number =>
  Math.max(time, timeAt(object, 'metadata', 'creationTimestamp') ?? time);

/** When repair says that the node has gone, or the finalizer that its termination is over. */
function goneIn(lines: readonly TraceLine[], name: string): number | undefined {
  const line = lines.find(
    each =>
      each.kind === 'audit' &&
      ((each.name === name && each.reason === 'NodeGone') ||
        (each.reason === 'TerminationFinished' &&
          (each.name === name || textsAt(each.details, 'nodes').includes(name)))),
  );
  return line && Date.parse(line.t);
}
