/** `*time.Location`, as far as a template can print it: UTC, and the local time zone, which is UTC too. */
import { BOOL, INT, INT64, pointerTo, sliceOf, STRING, structType, UINT8 } from './type.ts';
import { asString, asStruct, stringValue, Value, zeroValue } from './value.ts';

const ZONE = structType('time.zone', { name: STRING, offset: INT, isDST: BOOL });
const ZONE_TRANSITION = structType('time.zoneTrans', { when: INT64, index: UINT8, isstd: BOOL, isutc: BOOL });
/** `*time.Location`. */
export const LOCATION = pointerTo(
  structType(
    'time.Location',
    {
      name: STRING,
      zone: sliceOf(ZONE),
      tx: sliceOf(ZONE_TRANSITION),
      extend: STRING,
      cacheStart: INT64,
      cacheEnd: INT64,
      cacheZone: pointerTo(ZONE),
    },
    { String: { params: [], onPointer: true, call: v => stringValue(asString(asStruct(v)[0]!) || 'UTC') } },
  ),
);
/** Of UTC all but the name is zero. */
const location = (name: string): Value => {
  const [, ...zeros] = asStruct(zeroValue(LOCATION.elem!));
  return new Value(LOCATION, new Value(LOCATION.elem!, [stringValue(name), ...zeros]));
};
export const UTC = location('UTC');
export const LOCAL = location('Local');
