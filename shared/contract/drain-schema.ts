/** The keys of NVSentinel's node drainer and Curfew's own beside them: `failedConditionType`, `heartbeat`, `fallbackMode`. */
import type { CustomDrainSettings, DrainSettings } from '../domain/drain-settings.ts';
import { minutes, seconds } from '../domain/time.ts';
import { quoteCut } from '../domain/cut-text.ts';
import {
  duration,
  filePattern,
  labelSelector,
  matching,
  minuteCount,
  mode,
  podSelector,
  regularExpression,
  requiredText,
  SUBDOMAIN,
  text,
} from './drain-fields.ts';
import { CONFIG_MAP, FAILED_CONDITION_TYPE } from './names.ts';
import * as z from './zod.ts';

/** Defaults of NVSentinel. */
const DELETE_AFTER_TIMEOUT_MINUTES = 60;
const NOT_READY_TIMEOUT_MINUTES = 5;
const CUSTOM_DRAIN_TIMEOUT = seconds(3600);

/** Most rules of one kind: each is matched with each pod. */
const MAX_RULES = 1000;

const customDrain = z.madeOnce(() =>
  z.strictObject({
    enabled: z._default(z.boolean(), false),
    /** Blank is none, as in NVSentinel: all nodes. */
    nodeSelector: z._default(
      z.pipe(
        labelSelector,
        z.transform((selector: string) => selector.trim()),
      ),
      '',
    ),
    /** The folder in which NVSentinel mounts its template; here templates are keys of the ConfigMap. */
    templateMountPath: z.optional(text),
    templateFileName: z._default(matching(/^[-._a-zA-Z0-9]+$/, 'a key of a ConfigMap'), ''),
    namespace: z._default(matching(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'a namespace'), ''),
    apiGroup: z._default(matching(SUBDOMAIN, 'an API group'), ''),
    version: z._default(matching(/^[a-z]([-a-z0-9]*[a-z0-9])?$/, 'an API version'), ''),
    kind: z._default(matching(/^[A-Z][A-Za-z0-9]*$/, 'a kind'), ''),
    resource: z.optional(matching(/^[a-z]([-a-z0-9]*[a-z0-9])?$/, 'the plural of a kind')),
    timeout: z.optional(duration),
    statusConditionType: z._default(text, ''),
    statusConditionStatus: z._default(text, ''),
    failedConditionType: z._default(requiredText, FAILED_CONDITION_TYPE),
    heartbeat: z.optional(duration),
    fallbackMode: z.optional(mode),
  }),
);

const namespaceRule = z.madeOnce(() => z.strictObject({ name: filePattern, mode }));
const podDrainPolicy = z.madeOnce(() =>
  z.strictObject({
    name: requiredText,
    namespace: z._default(filePattern, '*'),
    podSelector,
    mode,
  }),
);

const shape = z.madeOnce(() => ({
  evictionTimeoutInSeconds: z.optional(duration),
  systemNamespaces: z._default(regularExpression, ''),
  /** 0 is the default, as NVSentinel reads it. */
  deleteAfterTimeoutMinutes: z._default(minuteCount, 0),
  notReadyTimeoutMinutes: z._default(minuteCount, 0),
  drainGPUPods: z._default(z.boolean(), false),
  partialDrainEnabled: z._default(z.boolean(), false),
  partialDrainEntityMetricEnabled: z._default(z.boolean(), false),
  userNamespaces: z._default(z.array(namespaceRule()).check(z.maxLength(MAX_RULES)), []),
  podDrainPolicies: z._default(z.array(podDrainPolicy()).check(z.maxLength(MAX_RULES)), []),
  customDrain: z.optional(customDrain()),
}));
const drainSchema = z.madeOnce(() => z.object(shape()));
type DrainKeys = z.output<ReturnType<typeof drainSchema>>;

/** Without these a custom drain cannot be made. */
const REQUIRED = [
  'templateFileName',
  'namespace',
  'apiGroup',
  'version',
  'kind',
  'statusConditionType',
  'statusConditionStatus',
] as const;

type Complain = (path: readonly (string | number)[], message: string) => void;

function checkRules({ userNamespaces, podDrainPolicies }: DrainKeys, complain: Complain): void {
  if (userNamespaces.length > 0 && podDrainPolicies.length > 0) {
    complain(['podDrainPolicies'], 'cannot use both userNamespaces and podDrainPolicies configuration');
  }
  podDrainPolicies.forEach(({ name }, index) => {
    if (podDrainPolicies.findIndex(policy => policy.name === name) === index) return;
    complain(['podDrainPolicies', index, 'name'], `must be unique, ${quoteCut(name)} stands above`);
  });
}

function checkCustomDrain(
  { customDrain: custom, userNamespaces, podDrainPolicies }: DrainKeys,
  complain: Complain,
): void {
  if (custom?.enabled !== true) return;
  for (const key of REQUIRED) {
    if (custom[key] === '') complain(['customDrain', key], 'is required when customDrain.enabled=true');
  }
  if (custom.templateFileName === CONFIG_MAP.key) {
    complain(['customDrain', 'templateFileName'], `${CONFIG_MAP.key} is this configuration`);
  }
  const scoped = custom.nodeSelector !== '';
  const lists = Object.entries({ userNamespaces, podDrainPolicies }).filter(([, rules]) => rules.length > 0);
  if (scoped && lists.length === 0) {
    complain(
      ['customDrain', 'nodeSelector'],
      'leaves nodes to the built-in modes: userNamespaces or podDrainPolicies is required beside it',
    );
  }
  if (scoped) return;
  for (const [list] of lists) {
    complain(
      ['customDrain', 'enabled'],
      `cannot use both customDrain.enabled=true and ${list} configuration unless customDrain.nodeSelector is set`,
    );
  }
}

/** The schema and the keys of the drain block, as the schema of the whole configuration includes them. */
export const drainKeys = z.madeOnce(
  () =>
    ({
      shape: shape(),
      checks: [
        z.superRefine((parsed: DrainKeys, context: z.core.$RefinementCtx<DrainKeys>) => {
          const complain: Complain = (path, message) => context.addIssue({ code: 'custom', path: [...path], message });
          checkRules(parsed, complain);
          checkCustomDrain(parsed, complain);
        }),
      ],
      /** Known keys by table. */
      tables: {
        userNamespaces: Object.keys(namespaceRule().shape),
        podDrainPolicies: Object.keys(podDrainPolicy().shape),
        customDrain: Object.keys(customDrain().shape),
      },
    }) as const,
);

/** The settings that the keys stand for. */
export function toDrainSettings(parsed: DrainKeys): DrainSettings {
  return {
    systemNamespaces: parsed.systemNamespaces,
    evictionGracePeriod: parsed.evictionTimeoutInSeconds,
    deleteAfterTimeout: minutes(parsed.deleteAfterTimeoutMinutes || DELETE_AFTER_TIMEOUT_MINUTES),
    notReadyTimeout: minutes(parsed.notReadyTimeoutMinutes || NOT_READY_TIMEOUT_MINUTES),
    gpuPodsOnly: parsed.drainGPUPods,
    partialDrain: parsed.partialDrainEnabled,
    partialDrainEntityMetric: parsed.partialDrainEntityMetricEnabled,
    namespaceModes: parsed.userNamespaces,
    podDrainPolicies: parsed.podDrainPolicies,
    customDrain: toCustomDrain(parsed.customDrain),
  };
}

function toCustomDrain(parsed: DrainKeys['customDrain']): CustomDrainSettings | undefined {
  if (parsed?.enabled !== true) return undefined;
  const { enabled: _, templateMountPath: __, ...settings } = parsed;
  return {
    ...settings,
    resource: parsed.resource,
    timeout: parsed.timeout ?? CUSTOM_DRAIN_TIMEOUT,
    heartbeat: parsed.heartbeat,
    fallbackMode: parsed.fallbackMode,
  };
}
