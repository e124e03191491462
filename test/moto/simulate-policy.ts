/**
 * `SimulatePrincipalPolicy` of IAM, which moto does not have, on the policies of the roles that moto holds: those that CloudFormation has made, with
 * all names filled in. Only what the commands of docs/sandbox.md ask: one action, one resource.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { isAllowed } from '../../packages/local-aws/src/iam/evaluate.ts';
import { oneOrMore } from '../../packages/local-aws/src/iam/statements.ts';
import { serveHttp, type HttpServer } from '../../packages/local-aws/src/loopback.ts';

const condition = z.record(z.string(), z.record(z.string(), oneOrMore(z.string())));
const documentSchema = z.object({
  Statement: z.array(
    z.object({
      Effect: z.enum(['Allow', 'Deny']),
      Action: oneOrMore(z.string()),
      Resource: oneOrMore(z.string()),
      Condition: condition.default({}).transform(({ ArnLike, StringLike, ...others }) => ({
        ...others,
        // For the values of one key the same.
        StringLike: { ...ArnLike, ...StringLike },
      })),
    }),
  ),
});

type Decision = 'allowed' | 'implicitDeny' | 'explicitDeny';

/** @param moto its endpoint */
export function startPolicySimulator(moto: string): Promise<HttpServer> {
  async function ask(parameters: Readonly<Record<string, string>>): Promise<string> {
    const headers = { authorization: 'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/iam/aws4_request' };
    const body = new URLSearchParams({ ...parameters, Version: '2010-05-08' });
    const answer = await fetch(moto, { method: 'POST', headers, body });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.text();
  }
  const textsIn = (xml: string, tag: string): readonly string[] =>
    [...xml.matchAll(new RegExp(`<${tag}>([^<]*)</${tag}>`, 'g'))].map(([, value = '']) => value);

  async function decide(asked: URLSearchParams): Promise<Decision> {
    const RoleName = (asked.get('PolicySourceArn') ?? '').replace(/^.*:role\//, '');
    const names = textsIn(await ask({ Action: 'ListRolePolicies', RoleName }), 'member');
    const documents = await Promise.all(
      names.map(async PolicyName =>
        textsIn(await ask({ Action: 'GetRolePolicy', RoleName, PolicyName }), 'PolicyDocument'),
      ),
    );
    const statements = documents
      .flat()
      .flatMap(document => documentSchema.parse(JSON.parse(decodeURIComponent(document))).Statement);
    const key = asked.get('ContextEntries.member.1.ContextKeyName');
    const value = asked.get('ContextEntries.member.1.ContextKeyValues.member.1');
    const request = {
      action: asked.get('ActionNames.member.1') ?? '',
      resource: asked.get('ResourceArns.member.1') ?? '*',
      context: key === null || value === null ? {} : { [key]: [value] },
    };
    const matching = statements.filter(statement => isAllowed([{ ...statement, Effect: 'Allow' }], request));
    if (matching.some(({ Effect }) => Effect === 'Deny')) return 'explicitDeny';
    return matching.length > 0 ? 'allowed' : 'implicitDeny';
  }

  return serveHttp(async (request: IncomingMessage, response: ServerResponse) => {
    const asked = new URLSearchParams(await text(request));
    const decision = await decide(asked);
    const member = `<member><EvalActionName>${asked.get('ActionNames.member.1')}</EvalActionName><EvalDecision>${decision}</EvalDecision></member>`;
    response.setHeader('content-type', 'text/xml');
    response.end(
      `<SimulatePrincipalPolicyResponse xmlns="https://iam.amazonaws.com/doc/2010-05-08/"><SimulatePrincipalPolicyResult><IsTruncated>false</IsTruncated>` +
        `<EvaluationResults>${member}</EvaluationResults></SimulatePrincipalPolicyResult></SimulatePrincipalPolicyResponse>`,
    );
  });
}
