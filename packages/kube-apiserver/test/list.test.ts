import { describe, expect, it } from 'vitest';
import type { ApiServerCore } from '../src/types.ts';
import {
  CONFIG_MAPS,
  EVENTS,
  NAMESPACES,
  NODES,
  PODS,
  aConfigMap,
  aNode,
  aPod,
  aServer,
  node,
  pod,
  refusal,
} from './server-under-test.ts';

const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const NAME_PART = `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${QUALIFIED}')`;
const LABEL = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(${QUALIFIED})?')`;
const LONG_NAME = 'name part must be no more than 63 bytes';

function names(api: ApiServerCore, labelSelector: string): string[] {
  return api.list(CONFIG_MAPS, { labelSelector }).items.map(({ metadata }) => metadata.name);
}

describe('listing', () => {
  it('shows objects in the order of namespace and name, with the version of the store', () => {
    const { api } = aServer();
    for (const name of ['a-b', 'a'])
      api.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    for (const namespace of ['default', 'a', 'a-b']) {
      for (const name of ['y', 'x']) api.create(CONFIG_MAPS, aConfigMap(name, {}, { namespace }));
    }
    const list = api.list(CONFIG_MAPS);
    const keys = list.items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    expect(keys).toEqual(['a-b/x', 'a-b/y', 'a/x', 'a/y', 'default/x', 'default/y']);
    expect(list.resourceVersion).toBe(api.resourceVersion);
    expect(api.list(CONFIG_MAPS, { namespace: 'a' }).items).toHaveLength(2);
  });

  it('shares the stored objects', () => {
    const { api } = aServer();
    const created = api.create(NODES, aNode('n1'));
    expect(api.list(NODES).items[0]).toBe(created);
  });

  it.each<[string, string[]]>([
    ['tier=web', ['a', 'b']],
    ['tier==web', ['a', 'b']],
    ['tier!=web', ['c', 'd']],
    ['tier', ['a', 'b', 'c']],
    ['!tier', ['d']],
    ['tier in (web, db)', ['a', 'b', 'c']],
    ['tier notin (web,db)', ['d']],
    ['tier=web,size>1', ['b']],
    ['size<2', ['a']],
    ['size in (1)', ['a']],
    ['example.com/x=', ['d']],
    ['constructor', []],
    [' tier = web , size = 2 ', ['b']],
    ['', ['a', 'b', 'c', 'd']],
  ])('selects by labels: %s', (selector, expected) => {
    const { api } = aServer();
    api.create(CONFIG_MAPS, aConfigMap('a', {}, { labels: { tier: 'web', size: '1' } }));
    api.create(CONFIG_MAPS, aConfigMap('b', {}, { labels: { tier: 'web', size: '2' } }));
    api.create(CONFIG_MAPS, aConfigMap('c', {}, { labels: { tier: 'db', size: 'x' } }));
    api.create(CONFIG_MAPS, aConfigMap('d', {}, { labels: { 'example.com/x': '' } }));
    expect(names(api, selector)).toEqual(expected);
  });

  it.each([
    ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['a,,b', "found ',', expected: identifier after ','"],
    ['a,', "found '', expected: identifier after ','"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['=b', "found '=', expected: !, identifier, or 'end of string'"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    [
      'a>x',
      "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    [
      'a>b c',
      "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    [
      'a<9223372036854775808',
      "unable to parse requirement: values[0]: Invalid value: \"9223372036854775808\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    ['a in ((b))', "unable to parse requirement: found '(', expected: ',', ')' or identifier"],
    ['a in (b c)', "unable to parse requirement: found 'c', expected: ',' or ')'"],
    ['!a=b', "found '=', expected: ',' or 'end of string'"],
    ['-a', `unable to parse requirement: <nil>: Invalid value: "-a": ${NAME_PART}`],
    [`${'a'.repeat(64)}=b`, `unable to parse requirement: <nil>: Invalid value: "${'a'.repeat(64)}": ${LONG_NAME}`],
    ['a=*', `unable to parse requirement: values[0][a]: Invalid value: "*": ${LABEL}`],
    [
      'a in (c,+1,*)',
      `unable to parse requirement: [values[0][a]: Invalid value: "*": ${LABEL}, values[1][a]: Invalid value: "+1": ${LABEL}]`,
    ],
    [
      'a<-b',
      `unable to parse requirement: [values[0]: Invalid value: "-b": for 'Gt', 'Lt' operators, the value must be an integer, values[0][a]: Invalid value: "-b": ${LABEL}]`,
    ],
  ])('refuses the label selector %s', (labelSelector, message) => {
    expect(refusal(() => aServer().api.list(NODES, { labelSelector }))).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message,
    });
  });

  it.each<[string, string[]]>([
    ['spec.nodeName=n1', ['p']],
    ['spec.nodeName!=n1', ['q']],
    ['spec.nodeName=n2,status.phase=Running', ['q']],
    ['metadata.name=p', ['p']],
    ['metadata.namespace=default', ['p', 'q']],
    ['status.phase==Pending', ['p']],
  ])('selects pods by fields: %s', (fieldSelector, expected) => {
    const { api } = aServer();
    api.create(PODS, aPod('p'));
    api.create(PODS, aPod('q', { nodeName: 'n2' }));
    api.patch(pod('q'), { type: 'merge', body: { status: { phase: 'Running' } } }, { subresource: 'status' });
    expect(api.list(PODS, { fieldSelector }).items.map(({ metadata }) => metadata.name)).toEqual(expected);
  });

  it('selects what matches now, not what matched when it was asked before', () => {
    const { api } = aServer();
    const select = (labelSelector: string): string[] =>
      api.list(NODES, { labelSelector }).items.map(({ metadata }) => metadata.name);
    for (const name of ['n1', 'n2', 'n3']) api.create(NODES, aNode(name, {}, { labels: { pool: 'a' } }));
    expect(select('pool=a')).toEqual(['n1', 'n2', 'n3']);
    api.patch(node('n1'), { type: 'merge', body: { metadata: { labels: { pool: 'b' } } } });
    api.delete(node('n2'));
    api.create(NODES, aNode('n0', {}, { labels: { pool: 'a', zone: 'z' } }));
    expect(select('pool=a')).toEqual(['n0', 'n3']);
    expect(select('pool=b')).toEqual(['n1']);
    expect(select('pool=a,zone=z')).toEqual(['n0']);
    expect(select('pool=a,!zone')).toEqual(['n3']);
    expect(select('pool=')).toEqual([]);
  });

  it('selects cordoned nodes, and events by the object that they are about', () => {
    const { api } = aServer();
    api.create(NODES, aNode('n1', { spec: { unschedulable: true } }));
    api.create(NODES, aNode('n2'));
    expect(
      api.list(NODES, { fieldSelector: 'spec.unschedulable=false' }).items.map(({ metadata }) => metadata.name),
    ).toEqual(['n2']);
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      involvedObject: { kind: 'Node', name: 'n1' },
      reason: 'Rebooted',
      type: 'Normal',
    };
    api.create(EVENTS, { ...event, metadata: { name: 'a' } });
    api.create(EVENTS, { ...event, metadata: { name: 'b' }, involvedObject: { kind: 'Node', name: 'n2' } });
    const about = api.list(EVENTS, { fieldSelector: 'involvedObject.kind=Node,involvedObject.name=n1,type!=Warning' });
    expect(about.items.map(({ metadata }) => metadata.name)).toEqual(['a']);
  });

  it('refuses fields that a resource cannot be selected by', () => {
    const { api } = aServer();
    expect(refusal(() => api.list(NODES, { fieldSelector: 'spec.podCIDR=x' }))).toMatchObject({
      code: 400,
      message: 'field label not supported: spec.podCIDR',
    });
    expect(refusal(() => api.list(NODES, { fieldSelector: 'nonsense' })).code).toBe(400);
  });

  it.each([
    ['metadata.name=a,b', "invalid selector: 'metadata.name=a,b'; can't understand 'b'"],
    ['\\', "invalid selector: '\\'; can't understand '\\'"],
    ['metadata.name=a=b', 'invalid field selector: unescaped character in value: 61'],
    ['metadata.name=a\\b', 'invalid field selector: invalid escape sequence: \\b'],
    ['metadata.name=a\\', 'invalid field selector: invalid escape sequence: \\'],
  ])('refuses the field selector %s', (fieldSelector, message) => {
    expect(refusal(() => aServer().api.list(NODES, { fieldSelector }))).toMatchObject({ code: 400, message });
  });
});

describe('listing in pages', () => {
  function aFullServer() {
    const { api } = aServer();
    for (const name of ['a', 'b', 'c', 'd', 'e']) api.create(NODES, aNode(name, {}, { labels: { name } }));
    return api;
  }

  it('goes on where the page before ended, in the state of the first page', () => {
    const api = aFullServer();
    const first = api.list(NODES, { limit: 2 });
    expect(first.remainingItemCount).toBe(3);
    api.delete({ type: NODES, name: 'c' });
    api.create(NODES, aNode('bb'));
    const second = api.list(NODES, { limit: 2, continue: first.continue ?? '' });
    const third = api.list(NODES, { limit: 2, continue: second.continue ?? '' });
    const all = [first, second, third].flatMap(({ items }) => items.map(({ metadata }) => metadata.name));
    expect(all).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(new Set([first, second, third].map(({ resourceVersion }) => resourceVersion)).size).toBe(1);
    expect(third.continue).toBeUndefined();
  });

  it('does not count what remains of a selection', () => {
    const page = aFullServer().list(NODES, { limit: 1, labelSelector: 'name' });
    expect(page.continue).toBeDefined();
    expect(page.remainingItemCount).toBeUndefined();
  });

  it('needs no next page when everything fits', () => {
    expect(aFullServer().list(NODES, { limit: 5 }).continue).toBeUndefined();
  });

  it('keeps what is being paged through for five minutes', () => {
    const { api, advance } = aServer();
    for (const name of ['a', 'b', 'c']) api.create(NODES, aNode(name));
    const { continue: token = '' } = api.list(NODES, { limit: 1 });
    const { uid } = api.get({ type: NODES, name: 'b' }).metadata;
    api.delete({ type: NODES, name: 'b' });
    advance(299);
    expect(api.list(NODES, { continue: token }).items.map(({ metadata }) => metadata.uid)).toContain(uid);
    advance(1);
    expect(refusal(() => api.list(NODES, { continue: token }))).toMatchObject({ code: 410, reason: 'Expired' });
  });

  it('refuses a token that is too old with 410, and one that is none with 400', () => {
    const api = aFullServer();
    const page = api.list(NODES, { limit: 2 });
    api.compact();
    expect(refusal(() => api.list(NODES, { continue: page.continue ?? '' }))).toMatchObject({
      code: 410,
      reason: 'Expired',
    });
    expect(refusal(() => api.list(NODES, { continue: 'nonsense' })).code).toBe(400);
  });
});
