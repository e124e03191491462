/** The configuration of a ConfigMap, told from its raw text. */
import { parse as parseToml } from 'smol-toml';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { dig, listOf, textOf } from './reading.ts';

export const DRAIN_MODES: readonly unknown[] = ['Immediate', 'DeleteAfterTimeout', 'AllowCompletion'];

/** What `config.toml` says; undefined: it is not valid as a whole, and the configuration before it is in force. */
export function configurationOf(configMap: KubernetesObject | undefined): unknown {
  try {
    const config = parseToml(textOf(dig(configMap, 'data', 'config.toml')) ?? '');
    const gate = dig(config, 'featureGates', 'nodeRepair');
    const isValid =
      (gate === undefined || typeof gate === 'boolean') &&
      listOf(dig(config, 'userNamespaces')).every(rule => DRAIN_MODES.includes(dig(rule, 'mode')));
    return isValid ? config : undefined;
  } catch {
    return undefined;
  }
}
