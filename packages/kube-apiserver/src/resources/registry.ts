/** The served resources by group, resource and version. */
import { parseApiVersion } from '../kubernetes-object.ts';
import type { ServedResource } from './resource-rules.ts';

export class Registry {
  readonly #groups = new Map<string, Map<string, ServedResource[]>>();
  #ordered: readonly ServedResource[] | undefined;

  /** Serves a resource: its versions, the preferred one first. Replaces what was served under its name. */
  serve(versions: readonly ServedResource[]): void {
    const [first] = versions;
    if (first === undefined) return;
    const { group, resource } = first.info;
    let resources = this.#groups.get(group);
    if (resources === undefined) this.#groups.set(group, (resources = new Map()));
    resources.set(resource, [...versions]);
    this.#ordered = undefined;
  }

  stopServing(group: string, resource: string): void {
    const resources = this.#groups.get(group);
    resources?.delete(resource);
    if (resources?.size === 0) this.#groups.delete(group);
    this.#ordered = undefined;
  }

  /** The resource in a version, or in its preferred one. */
  find(group: string, resource: string, version?: string): ServedResource | undefined {
    const versions = this.#groups.get(group)?.get(resource);
    if (version === undefined) return versions?.[0];
    return versions?.find(served => served.info.version === version);
  }

  /** The resource in all its versions, the preferred one first. */
  versions(group: string, resource: string): readonly ServedResource[] {
    return this.#groups.get(group)?.get(resource) ?? [];
  }

  findKind(apiVersion: string, kind: string): ServedResource | undefined {
    const { group, version } = parseApiVersion(apiVersion);
    for (const versions of this.#groups.get(group)?.values() ?? []) {
      const served = versions.find(({ info }) => info.kind === kind && info.version === version);
      if (served !== undefined) return served;
    }
    return undefined;
  }

  /** Everything served, each version of a resource on its own. */
  all(): readonly ServedResource[] {
    this.#ordered ??= [...this.#groups.values()].flatMap(resources => [...resources.values()].flat());
    return this.#ordered;
  }

  /** One entry for each resource: its preferred version. */
  *preferred(): Iterable<ServedResource> {
    for (const resources of this.#groups.values()) {
      for (const [first] of resources.values()) if (first !== undefined) yield first;
    }
  }
}
