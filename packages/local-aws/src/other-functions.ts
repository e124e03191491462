/** Functions that do not stand in the template, as those of users that hooks invoke by name. */
import type { FunctionModel } from './model.ts';

/** It has no role: AWS is closed to it. */
export interface OtherFunction {
  readonly name: string;
  /** Folder of the bundle. */
  readonly taskRoot: string;
  /** `FILE.EXPORT`. */
  readonly handler: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** With Lambda's time-out for what waits for others, and its usual size. */
export function toFunctionModel(
  given: OtherFunction,
  { region, account }: { readonly region: string; readonly account: string },
): FunctionModel {
  const { name } = given;
  return {
    ...given,
    physicalName: name,
    arn: `arn:aws:lambda:${region}:${account}:function:${name}`,
    roleArn: '',
    runtime: 'nodejs24.x',
    memoryMiB: 256,
    timeoutSeconds: 30,
    logGroup: `/aws/lambda/${name}`,
    logFormat: 'JSON',
  };
}
