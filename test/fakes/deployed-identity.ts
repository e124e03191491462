/** A part of Curfew with the permissions that it is deployed with; a call outside of them is a bug, and fails the test. */
import type { Identity } from '../../runtime/permissions/ports.ts';
import { PERMISSIONS, type Component } from '../../shared/contract/permissions.ts';

export function deployedIdentity(part: Component): Identity {
  return {
    user: `curfew:${part}`,
    permissions: PERMISSIONS[part],
    onRefusal(message) {
      throw new Error(`${part} asked for what it may not do: ${message}`);
    },
  };
}
