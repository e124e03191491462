/** What of our templates moto cannot make, said once. */
type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
interface Resource {
  readonly Type: string;
  readonly Properties?: { readonly [key: string]: Json };
}
export interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Parameters?: { readonly [key: string]: Json };
  readonly Outputs?: { readonly [key: string]: Json };
}

/** What moto makes nothing of, by its own word: what these do is checked elsewhere (test/infra, where the rule of the composite alarm is evaluated, packages/local-aws, docs/sandbox.md). */
export const IGNORED_BY_MOTO = [
  'AWS::CloudWatch::Alarm',
  'AWS::CloudWatch::CompositeAlarm',
  'AWS::EKS::AccessEntry',
  'AWS::EKS::PodIdentityAssociation',
  'AWS::Logs::MetricFilter',
  'AWS::Logs::QueryDefinition',
  'AWS::SQS::QueuePolicy',
  'AWS::Scheduler::Schedule',
];

/** Of a global table it makes nothing, of a table of one Region it does. */
const OF_A_TABLE = [
  'AttributeDefinitions',
  'KeySchema',
  'BillingMode',
  'GlobalSecondaryIndexes',
  'TimeToLiveSpecification',
];

/**
 * The template with what moto gets wrong put right: a global table is a table; the `Ref` of a bus, which moto answers with an object of its own, is its
 * name; the code of a function is a line, and no version of the bootstrap is asked for, since moto has no bucket that the CDK has filled.
 */
export function forMoto({ Parameters = {}, Resources, Outputs = {} }: Template): Template {
  const busNames = new Map(
    Object.entries(Resources).flatMap(([id, { Type, Properties }]) => {
      const name = Properties?.['Name'];
      return Type === 'AWS::Events::EventBus' && typeof name === 'string' ? [[id, name] as const] : [];
    }),
  );
  const named = (value: Json): Json => {
    if (typeof value !== 'object' || value === null) return value;
    if (isList(value)) return value.map(named);
    const [[key, id] = [], ...more] = Object.entries(value);
    const name = key === 'Ref' && typeof id === 'string' && more.length === 0 ? busNames.get(id) : undefined;
    return name ?? Object.fromEntries(Object.entries(value).map(([each, inner]) => [each, named(inner)]));
  };
  // Of the bootstrap, which no account of moto has.
  const given = Object.fromEntries(Object.entries(Parameters).filter(([name]) => name !== 'BootstrapVersion'));
  const made = Object.entries(Resources).map(([id, resource]) => [id, madeByMoto(resource)] as const);
  return named({
    Parameters: given,
    Outputs,
    Resources: Object.fromEntries(made),
  } as unknown as Json) as unknown as Template;
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

function madeByMoto(resource: Resource): Resource {
  const { Type, Properties = {} } = resource;
  if (Type === 'AWS::DynamoDB::GlobalTable') {
    const kept = Object.entries(Properties).filter(([name]) => OF_A_TABLE.includes(name));
    return { Type: 'AWS::DynamoDB::Table', Properties: Object.fromEntries(kept) };
  }
  if (Type === 'AWS::Lambda::Function') {
    return { ...resource, Properties: { ...Properties, Code: { ZipFile: 'export const handler = () => {};' } } };
  }
  return resource;
}
