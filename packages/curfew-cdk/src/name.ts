/** The name of a deployment, of which much else is named. */
import { Token } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

export const NAME = /^[A-Za-z][A-Za-z0-9]{0,30}$/;
/** A name that no deployment may have: its bus would have it too, and each account has that bus already. */
export const RESERVED_NAME = 'default';

/** The tag on everything that a deployment makes. */
export const APP_TAG = ['app.kubernetes.io/name', 'curfew'] as const;

/** Throws for what cannot be a name. */
export function refuseName(construct: Construct, name: string): void {
  if (!Token.isUnresolved(name) && NAME.test(name) && name !== RESERVED_NAME) return;
  throw new Error(
    `${construct.node.path}: name must be a letter and up to 30 letters and digits, and not ${RESERVED_NAME}`,
  );
}
