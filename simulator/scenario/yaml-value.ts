/** The value of a YAML document, as every reader of files takes it. */
import { isNode, type Alias, type Document, type LineCounter } from 'yaml';
import { messageOf } from '../../shared/errors.ts';
import { placeOf, placeOfAlias } from './places.ts';
import type { Place } from './scenario.ts';
import { describeYamlFailure, MAX_ALIASES } from './yaml-failures.ts';

type ReadValue =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly place: Place; readonly message: string };

const LOOP = 'stands for a part of the file that it stands in itself, which has no end';

/** Reads the value of a document without syntax errors, or says where and why it has none. Never throws. */
export function readValue(file: string, document: Document, lines: LineCounter): ReadValue {
  let hasAnchors = false;
  const onAnchor = (): void => void (hasAnchors = true);
  const findLoop = (): ReadValue | undefined => {
    const place = placeOfAlias(file, document, lines, (alias, parents) => isLoop(alias, parents, document));
    return place && { ok: false, place, message: LOOP };
  };
  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES, onAnchor });
    return (hasAnchors ? findLoop() : undefined) ?? { ok: true, value };
  } catch (error) {
    const loose = placeOfAlias(file, document, lines, ({ source }, _, anchors) => !anchors.has(source));
    const place = loose ?? placeOf(file, document, lines, []);
    return findLoop() ?? { ok: false, place, message: describeYamlFailure(messageOf(error)) };
  }
}

/** The first look saves the second, which goes through the document. */
const isLoop = (alias: Alias, parents: readonly unknown[], document: Document): boolean =>
  parents.some(each => isNode(each) && 'anchor' in each && each.anchor === alias.source) &&
  parents.includes(alias.resolve(document));
