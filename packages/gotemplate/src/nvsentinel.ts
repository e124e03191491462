/**
 * The data that NVSentinel gives its drain templates, as Go types: names, fields, getters and enum texts are those of
 * its protocol. `toGo(data, TEMPLATE_DATA)` gives a template what it would see there.
 */
import { timeFromUnix } from './types/time.ts';
import {
  BOOL,
  type GoType,
  INT32,
  INT64,
  mapOf,
  type Method,
  namedType,
  pointerTo,
  sliceOf,
  STRING,
  structType,
  UINT32,
} from './types/type.ts';
import { asInteger, fieldOf, stringValue } from './types/value.ts';

/** An int32 enum that prints by name, or its number where it has none. */
function enumType(name: string, names: Readonly<Record<number, string>>): GoType {
  const text = (n: number): string => (Object.hasOwn(names, n) ? names[n]! : String(n));
  return namedType(name, 'int32', { String: { params: [], call: v => stringValue(text(Number(asInteger(v)))) } });
}

/** A message with a getter per field, which answers for a nil message too. */
function message(
  name: string,
  fields: Readonly<Record<string, GoType>>,
  methods: Readonly<Record<string, Method>> = {},
): GoType {
  const getters = Object.keys(fields).map((field): [string, Method] => [
    'Get' + field,
    { params: [], onPointer: true, call: v => fieldOf(v, field) },
  ]);
  return structType(name, fields, { ...Object.fromEntries(getters), ...methods });
}

const RECOMMENDED_ACTIONS: Readonly<Record<number, string>> = {
  0: 'NONE',
  2: 'COMPONENT_RESET',
  5: 'CONTACT_SUPPORT',
  6: 'RUN_FIELDDIAG',
  15: 'RESTART_VM',
  24: 'RESTART_BM',
  25: 'REPLACE_VM',
  26: 'RUN_DCGMEUD',
  27: 'CUSTOM',
  99: 'UNKNOWN',
};

const PROCESSING_STRATEGY = enumType('protos.ProcessingStrategy', {
  0: 'UNSPECIFIED',
  1: 'EXECUTE_REMEDIATION',
  2: 'STORE_ONLY',
  3: 'STORE_AND_ANALYSE',
});

const TIMESTAMP = message(
  'timestamppb.Timestamp',
  { Seconds: INT64, Nanos: INT32 },
  {
    AsTime: {
      params: [],
      onPointer: true,
      call: v => timeFromUnix(asInteger(fieldOf(v, 'Seconds')!), asInteger(fieldOf(v, 'Nanos')!)),
    },
  },
);

const OVERRIDES = pointerTo(message('protos.BehaviourOverrides', { Force: BOOL, Skip: BOOL }));
const ENTITY = message('protos.Entity', { EntityType: STRING, EntityValue: STRING });

const healthEvent = (actions: Readonly<Record<number, string>>): GoType =>
  message('protos.HealthEvent', {
    Version: UINT32,
    Agent: STRING,
    ComponentClass: STRING,
    CheckName: STRING,
    IsFatal: BOOL,
    IsHealthy: BOOL,
    Message: STRING,
    RecommendedAction: enumType('protos.RecommendedAction', actions),
    ErrorCode: sliceOf(STRING),
    EntitiesImpacted: sliceOf(pointerTo(ENTITY)),
    Metadata: mapOf(STRING),
    GeneratedTimestamp: pointerTo(TIMESTAMP),
    NodeName: STRING,
    QuarantineOverrides: OVERRIDES,
    DrainOverrides: OVERRIDES,
    ProcessingStrategy: PROCESSING_STRATEGY,
    Id: STRING,
    CustomRecommendedAction: STRING,
  });

/** A `HealthEvent` of its protocol, for types that contain one. */
export const HEALTH_EVENT: GoType = healthEvent(RECOMMENDED_ACTIONS);

const templateData = (event: GoType): GoType =>
  structType('customdrain.TemplateData', {
    HealthEvent: pointerTo(event),
    EventID: STRING,
    PodsToDrain: mapOf(sliceOf(STRING)),
  });

/** The root of a drain template's data. */
export const TEMPLATE_DATA: GoType = templateData(HEALTH_EVENT);

/** The same, with further names of recommended actions: those of a release that this table does not know. */
export const templateDataWith = (actions: Readonly<Record<number, string>>): GoType =>
  templateData(healthEvent({ ...RECOMMENDED_ACTIONS, ...actions }));
