/** ValidatingAdmissionPolicies: what they refuse, what they warn of, and what they are about. */
import { describe, expect, it } from 'vitest';
import { inForce, isRefused, putPolicy, send, sendPolicy } from './policies.ts';
import { aConfigMap, at, configMaps, created, patch, type MakeSubject } from './subject.ts';

const KIND = 'ValidatingAdmissionPolicy';
const level = (expression: string, more: object = {}): object => ({ validations: [{ expression, ...more }] });

export function defineAdmissionPolicies(makeSubject: MakeSubject): void {
  describe('a ValidatingAdmissionPolicy', () => {
    it('denies with its message, reason and code', async () => {
      const subject = await makeSubject();
      await putPolicy(subject, KIND, 'level', {
        variables: [
          { name: 'level', expression: "has(object.data) && 'level' in object.data ? object.data.level : 'none'" },
        ],
        validations: [
          { expression: "variables.level != 'bad'", messageExpression: "'level ' + variables.level + ' is taken'" },
          { expression: "variables.level != 'secret'", message: 'not yours', reason: 'Forbidden' },
          { expression: "variables.level != 'odd'" },
        ],
        matchConditions: [{ name: 'writes', expression: "request.operation != 'DELETE'" }],
      });
      await inForce(subject, { level: 'bad' }, isRefused);
      const name = `level.${subject.namespace}`;
      const denied = `ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request`;
      const refusal = async (text: string): Promise<unknown> => {
        const { status, body } = await send(subject, 'a', { level: text });
        expect(at(body, 'details.name')).toBe('a');
        return [status, at(body, 'reason'), at(body, 'message')];
      };
      const preface = 'configmaps "a" is forbidden: ';
      expect(await refusal('bad')).toEqual([422, 'Invalid', `${preface}${denied}: level bad is taken`]);
      expect(await refusal('secret')).toEqual([403, 'Forbidden', `${preface}${denied}: not yours`]);
      expect(await refusal('odd')).toEqual([
        422,
        'Invalid',
        `${preface}${denied}: failed expression: variables.level != 'odd'`,
      ]);
      expect((await send(subject, 'a', { level: 'good' })).status).toBe(201);
      expect((await patch(subject, configMaps(subject, 'a'), 'merge', { data: { level: 'bad' } })).status).toBe(422);
    });

    it('warns in a header and lets the write pass', async () => {
      const subject = await makeSubject();
      await putPolicy(subject, KIND, 'warn', level("object.data.a != '1'", { message: 'a is "1"' }), {
        validationActions: ['Warn', 'Audit'],
      });
      const name = `warn.${subject.namespace}`;
      const warning = `299 - "Validation failed for ValidatingAdmissionPolicy '${name}' with binding '${name}': a is \\"1\\""`;
      await inForce(subject, { a: '1' }, ({ headers }) => headers['warning'] === warning);
      const answer = await send(subject, 'a', { a: '1' });
      expect([answer.status, answer.headers['warning']]).toEqual([201, warning]);
      expect((await send(subject, 'b', { a: '2' })).headers['warning']).toBeUndefined();
    });

    it('that cannot be evaluated denies, unless its failurePolicy is Ignore', async () => {
      const subject = await makeSubject();
      await putPolicy(subject, KIND, 'ignore', {
        ...level('object.data.a == object.data.gone'),
        failurePolicy: 'Ignore',
      });
      await putPolicy(subject, KIND, 'fail', level("object.data.b == '1'"));
      await inForce(subject, { b: '2' }, isRefused);
      const { status, body } = await send(subject, 'a', { a: '1' });
      const name = `fail.${subject.namespace}`;
      expect([status, at(body, 'message')]).toEqual([
        422,
        `configmaps "a" is forbidden: ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request: expression 'object.data.b == '1'' resulted in error: no such key: b`,
      ]);
      expect((await send(subject, 'a', { b: '1' })).status).toBe(201);
    });

    it('is about the objects, operations and names that it says, and sees the old object', async () => {
      const subject = await makeSubject();
      const { namespace } = subject;
      const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
      const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] };
      await putPolicy(subject, KIND, 'kept', {
        matchConstraints: {
          resourceRules: [{ ...rule, operations: ['DELETE'] }],
          excludeResourceRules: [{ ...rule, operations: ['*'], resourceNames: ['free'] }],
          namespaceSelector,
          objectSelector: { matchLabels: { keep: 'yes' } },
        },
        validations: [{ expression: "object == null && oldObject.metadata.labels['keep'] != 'yes'", message: 'kept' }],
      });
      await putPolicy(subject, KIND, 'last', level("object == null || object.data.a != '1'"));
      const labels = { keep: 'yes' };
      for (const name of ['held', 'free'])
        await created(subject, configMaps(subject), aConfigMap(name, { a: '2' }, { labels }));
      await created(subject, configMaps(subject), aConfigMap('other', { a: '2' }));
      await inForce(subject, { a: '1' }, isRefused);
      const remove = async (name: string): Promise<number> =>
        (await subject.http.call('DELETE', configMaps(subject, name), { query: { dryRun: 'All' } })).status;
      expect([await remove('held'), await remove('free'), await remove('other')]).toEqual([422, 200, 200]);
    });

    it('takes parameters from the objects that its binding names', async () => {
      const subject = await makeSubject();
      await created(subject, configMaps(subject), aConfigMap('limit', { most: '3' }));
      await putPolicy(
        subject,
        KIND,
        'limited',
        {
          paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
          ...level('int(object.data.count) <= int(params.data.most)'),
        },
        { paramRef: { name: 'limit', parameterNotFoundAction: 'Deny' } },
      );
      await inForce(subject, { count: '4' }, ({ body }) => String(at(body, 'message')).includes('failed expression'));
      expect((await send(subject, 'a', { count: '3' })).status).toBe(201);
    });

    it('knows who asks, for what', async () => {
      const subject = await makeSubject();
      await putPolicy(
        subject,
        KIND,
        'who',
        level(
          "!('bad' in object.data) && request.operation == 'CREATE' && request.kind.kind == 'ConfigMap' && request.resource.resource == 'configmaps' && request.dryRun && request.namespace == namespaceObject.metadata.name && 'system:authenticated' in request.userInfo.groups",
        ),
      );
      await inForce(subject, { bad: '1' }, isRefused);
      expect((await send(subject, 'a', { a: '1' }, {}, { dryRun: 'All' })).status).toBe(201);
      expect(isRefused(await send(subject, 'a', { a: '1' }))).toBe(true);
    });

    it('is refused without what it must have, and with what does not parse', async () => {
      const subject = await makeSubject();
      const fields = async (spec: object): Promise<unknown> => {
        const answer = await sendPolicy(subject, KIND, spec);
        return [answer.status, at(answer.body, 'details.causes.0.field')];
      };
      expect(await fields(level('object.data.a =='))).toEqual([422, 'spec.validations[0].expression']);
      expect(await fields({})).toEqual([422, 'spec.validations']);
      expect(await fields({ ...level('true'), matchConstraints: null })).toEqual([422, 'spec.matchConstraints']);
      const answer = await sendPolicy(subject, KIND, level('true'));
      expect([at(answer.body, 'spec.failurePolicy'), at(answer.body, 'spec.matchConstraints.matchPolicy')]).toEqual([
        'Fail',
        'Equivalent',
      ]);
    });
  });
}
