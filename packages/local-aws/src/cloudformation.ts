/** CloudFormation on one machine: DescribeStacks with the outputs of what runs here, for commands that find a deployment by its stack. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { toXml, type XmlElement } from './ec2/xml.ts';
import type { Access } from './iam/access.ts';
import { toQueryError } from './iam/refusals.ts';
import { serveHttp, type HttpServer } from './loopback.ts';
import type { AwsModel, StackModel } from './model.ts';

export interface CloudFormationOptions {
  readonly model: Pick<AwsModel, 'region' | 'account' | 'stacks'>;
  /** Who may do what; without it everything is allowed. */
  readonly access?: Pick<Access, 'check'>;
}

const NAMESPACE = 'http://cloudformation.amazonaws.com/doc/2010-05-15/';
/** CloudFormation says when a stack was created; here all are as old as time. */
const CREATED = '1970-01-01T00:00:00.000Z';
/** The tag of every stack that runs on one machine: much of AWS is not there. */
export const LOCAL_STACK_TAG = 'local-aws';

/** Listens on the loopback interface, on a free port. */
export async function startCloudFormation({ model, access }: CloudFormationOptions): Promise<HttpServer> {
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(request));
    const answer = (status: number, element: XmlElement): void =>
      void response.writeHead(status, { 'content-type': 'text/xml' }).end(toXml(element, NAMESPACE));
    const refuse = (status: number, code: string, message: string): void =>
      answer(status, [
        'ErrorResponse',
        [
          [
            'Error',
            [
              ['Type', 'Sender'],
              ['Code', code],
              ['Message', message],
            ],
          ],
        ],
      ]);
    const action = form.get('Action');
    if (action !== 'DescribeStacks') return refuse(400, 'InvalidAction', `${String(action)} does not run locally`);
    const name = form.get('StackName');
    const resource = `arn:aws:cloudformation:${model.region}:${model.account}:stack/${name ?? '*'}`;
    const refusal = access?.check(request.headers.authorization, [
      { action: 'cloudformation:DescribeStacks', resource, context: {} },
    ]);
    if (refusal !== undefined) {
      const { status, code, message } = toQueryError(refusal, 'autoscaling');
      return refuse(status, code, message);
    }
    const found = model.stacks.filter(stack => name === null || stack.name === name);
    if (name !== null && found.length === 0)
      return refuse(400, 'ValidationError', `Stack with id ${name} does not exist`);
    answer(200, ['DescribeStacksResponse', [['DescribeStacksResult', [['Stacks', found.map(toMember)]]]]]);
  }

  return serveHttp(handle);
}

function toMember({ name, outputs }: StackModel): XmlElement {
  const members = Object.entries(outputs).map(([key, value]): XmlElement => [
    'member',
    [
      ['OutputKey', key],
      ['OutputValue', value],
    ],
  ]);
  return [
    'member',
    [
      ['StackName', name],
      ['CreationTime', CREATED],
      ['StackStatus', 'CREATE_COMPLETE'],
      ['Outputs', members],
      [
        'Tags',
        [
          [
            'member',
            [
              ['Key', LOCAL_STACK_TAG],
              ['Value', 'true'],
            ],
          ],
        ],
      ],
    ],
  ];
}
