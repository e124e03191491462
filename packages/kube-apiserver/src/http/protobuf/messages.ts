/**
 * Field numbers of the messages that kubectl sends as protobuf (`kubectl create …`, `kubectl auth …`) and of a few that other
 * Go clients send. Numbers and names are those of the Kubernetes API. What is not listed is not understood: a body that uses
 * it is refused, and never half read.
 *
 * `NUMBER NAME TYPE`: a type is a scalar, a message of this table, `[]T` (a list) or `{T}` (a map with text keys). `?` marks
 * fields whose zero value means something: Go sends all others even when nobody set them.
 */
const table = {
  ObjectMeta:
    '1 name string, 2 generateName string, 3 namespace string, 5 uid string, 6 resourceVersion string, 7 generation int, ' +
    '8 creationTimestamp Time, 9 deletionTimestamp Time?, 10 deletionGracePeriodSeconds int?, 11 labels {string}, ' +
    '12 annotations {string}, 13 ownerReferences []OwnerReference, 14 finalizers []string',
  OwnerReference:
    '1 kind string, 3 name string, 4 uid string, 5 apiVersion string, 6 controller bool?, 7 blockOwnerDeletion bool?',
  LabelSelector: '1 matchLabels {string}, 2 matchExpressions []LabelSelectorRequirement',
  LabelSelectorRequirement: '1 key string, 2 operator string, 3 values []string',
  DeleteOptions:
    '1 gracePeriodSeconds int?, 2 preconditions Preconditions?, 3 orphanDependents bool?, 4 propagationPolicy string?, 5 dryRun []string',
  Preconditions: '1 uid string?, 2 resourceVersion string?',

  Namespace: '1 metadata ObjectMeta, 2 spec NamespaceSpec, 3 status NamespaceStatus',
  NamespaceSpec: '1 finalizers []string',
  NamespaceStatus: '1 phase string',
  ConfigMap: '1 metadata ObjectMeta, 2 data {string}, 3 binaryData {bytes}, 4 immutable bool?',
  Secret: '1 metadata ObjectMeta, 2 data {bytes}, 3 type string, 4 stringData {string}, 5 immutable bool?',
  ServiceAccount:
    '1 metadata ObjectMeta, 2 secrets []ObjectReference, 3 imagePullSecrets []LocalObjectReference, 4 automountServiceAccountToken bool?',
  ObjectReference:
    '1 kind string, 2 namespace string, 3 name string, 4 uid string, 5 apiVersion string, 6 resourceVersion string, 7 fieldPath string',
  LocalObjectReference: '1 name string',
  Service: '1 metadata ObjectMeta, 2 spec ServiceSpec, 3 status ServiceStatus',
  ServiceSpec:
    '1 ports []ServicePort, 2 selector {string}, 3 clusterIP string, 4 type string, 5 externalIPs []string, 7 sessionAffinity string, ' +
    '8 loadBalancerIP string, 10 externalName string, 11 externalTrafficPolicy string, 12 healthCheckNodePort int, ' +
    '13 publishNotReadyAddresses bool, 18 clusterIPs []string',
  ServicePort:
    '1 name string, 2 protocol string, 3 port int, 4 targetPort IntOrString, 5 nodePort int, 6 appProtocol string?',
  ServiceStatus: '1 loadBalancer LoadBalancerStatus',
  LoadBalancerStatus: '',
  Event:
    '1 metadata ObjectMeta, 2 involvedObject ObjectReference, 3 reason string, 4 message string, 5 source EventSource, ' +
    '6 firstTimestamp Time, 7 lastTimestamp Time, 8 count int, 9 type string, 10 eventTime MicroTime, 11 series EventSeries?, ' +
    '12 action string, 13 related ObjectReference?, 14 reportingComponent string, 15 reportingInstance string',
  EventSource: '1 component string, 2 host string',
  EventSeries: '1 count int, 2 lastObservedTime MicroTime',
  Lease: '1 metadata ObjectMeta, 2 spec LeaseSpec',
  LeaseSpec:
    '1 holderIdentity string?, 2 leaseDurationSeconds int?, 3 acquireTime MicroTime?, 4 renewTime MicroTime?, 5 leaseTransitions int?',

  PodTemplateSpec: '1 metadata ObjectMeta, 2 spec PodSpec',
  PodSpec:
    '2 containers []Container, 3 restartPolicy string, 4 terminationGracePeriodSeconds int?, 6 dnsPolicy string, 7 nodeSelector {string}, ' +
    '8 serviceAccountName string, 9 serviceAccount string, 10 nodeName string, 11 hostNetwork bool, 12 hostPID bool, 13 hostIPC bool, ' +
    '14 securityContext PodSecurityContext?, 16 hostname string, 17 subdomain string, 19 schedulerName string, 20 initContainers []Container, ' +
    '24 priorityClassName string',
  PodSecurityContext: '2 runAsUser int?, 3 runAsNonRoot bool?',
  Container:
    '1 name string, 2 image string, 3 command []string, 4 args []string, 5 workingDir string, 6 ports []ContainerPort, 7 env []EnvVar, ' +
    '8 resources ResourceRequirements, 13 terminationMessagePath string, 14 imagePullPolicy string, 16 stdin bool, 17 stdinOnce bool, ' +
    '18 tty bool, 20 terminationMessagePolicy string',
  ContainerPort: '1 name string, 2 hostPort int, 3 containerPort int, 4 protocol string, 5 hostIP string',
  EnvVar: '1 name string, 2 value string',
  ResourceRequirements: '1 limits {Quantity}, 2 requests {Quantity}',
  Deployment: '1 metadata ObjectMeta, 2 spec DeploymentSpec, 3 status DeploymentStatus',
  DeploymentSpec:
    '1 replicas int?, 2 selector LabelSelector?, 3 template PodTemplateSpec, 4 strategy DeploymentStrategy, 5 minReadySeconds int, ' +
    '6 revisionHistoryLimit int?, 7 paused bool, 9 progressDeadlineSeconds int?',
  DeploymentStrategy: '1 type string, 2 rollingUpdate RollingUpdateDeployment?',
  RollingUpdateDeployment: '1 maxUnavailable IntOrString?, 2 maxSurge IntOrString?',
  DeploymentStatus:
    '1 observedGeneration int, 2 replicas int, 3 updatedReplicas int, 4 availableReplicas int, 5 unavailableReplicas int, 7 readyReplicas int',
  Job: '1 metadata ObjectMeta, 2 spec JobSpec, 3 status JobStatus',
  JobSpec:
    '1 parallelism int?, 2 completions int?, 3 activeDeadlineSeconds int?, 4 selector LabelSelector?, 5 manualSelector bool?, ' +
    '6 template PodTemplateSpec, 7 backoffLimit int?, 8 ttlSecondsAfterFinished int?, 9 completionMode string?, 10 suspend bool?',
  JobStatus: '4 active int, 5 succeeded int, 6 failed int, 7 completedIndexes string',
  CronJob: '1 metadata ObjectMeta, 2 spec CronJobSpec, 3 status CronJobStatus',
  CronJobSpec:
    '1 schedule string, 2 startingDeadlineSeconds int?, 3 concurrencyPolicy string, 4 suspend bool?, 5 jobTemplate JobTemplateSpec, ' +
    '6 successfulJobsHistoryLimit int?, 7 failedJobsHistoryLimit int?, 8 timeZone string?',
  JobTemplateSpec: '1 metadata ObjectMeta, 2 spec JobSpec',
  CronJobStatus: '',

  Eviction: '1 metadata ObjectMeta, 2 deleteOptions DeleteOptions?',
  PodDisruptionBudget: '1 metadata ObjectMeta, 2 spec PodDisruptionBudgetSpec, 3 status PodDisruptionBudgetStatus',
  PodDisruptionBudgetSpec:
    '1 minAvailable IntOrString?, 2 selector LabelSelector?, 3 maxUnavailable IntOrString?, 4 unhealthyPodEvictionPolicy string?',
  PodDisruptionBudgetStatus:
    '1 observedGeneration int, 2 disruptedPods {Time}, 3 disruptionsAllowed int, 4 currentHealthy int, 5 desiredHealthy int, 6 expectedPods int',
  PriorityClass:
    '1 metadata ObjectMeta, 2 value int?, 3 globalDefault bool, 4 description string, 5 preemptionPolicy string?',
  Role: '1 metadata ObjectMeta, 2 rules []PolicyRule',
  ClusterRole: '1 metadata ObjectMeta, 2 rules []PolicyRule, 3 aggregationRule AggregationRule?',
  AggregationRule: '1 clusterRoleSelectors []LabelSelector',
  PolicyRule:
    '1 verbs []string, 2 apiGroups []string, 3 resources []string, 4 resourceNames []string, 5 nonResourceURLs []string',
  RoleBinding: '1 metadata ObjectMeta, 2 subjects []Subject, 3 roleRef RoleRef',
  ClusterRoleBinding: '1 metadata ObjectMeta, 2 subjects []Subject, 3 roleRef RoleRef',
  Subject: '1 kind string, 2 apiGroup string, 3 name string, 4 namespace string',
  RoleRef: '1 apiGroup string, 2 kind string, 3 name string',

  SelfSubjectAccessReview:
    '1 metadata ObjectMeta, 2 spec SelfSubjectAccessReviewSpec, 3 status SubjectAccessReviewStatus',
  SelfSubjectAccessReviewSpec:
    '1 resourceAttributes ResourceAttributes?, 2 nonResourceAttributes NonResourceAttributes?',
  ResourceAttributes:
    '1 namespace string, 2 verb string, 3 group string, 4 version string, 5 resource string, 6 subresource string, 7 name string',
  NonResourceAttributes: '1 path string, 2 verb string',
  SubjectAccessReviewStatus: '1 allowed bool, 2 reason string, 3 evaluationError string, 4 denied bool',
  SelfSubjectRulesReview: '1 metadata ObjectMeta, 2 spec SelfSubjectRulesReviewSpec, 3 status SubjectRulesReviewStatus',
  SelfSubjectRulesReviewSpec: '1 namespace string',
  SubjectRulesReviewStatus: '3 incomplete bool, 4 evaluationError string',
  SelfSubjectReview: '1 metadata ObjectMeta, 2 status SelfSubjectReviewStatus',
  SelfSubjectReviewStatus: '1 userInfo UserInfo',
  UserInfo: '1 username string, 2 uid string, 3 groups []string',
  TokenReview: '1 metadata ObjectMeta, 2 spec TokenReviewSpec, 3 status TokenReviewStatus',
  TokenReviewSpec: '1 token string, 2 audiences []string',
  TokenReviewStatus: '1 authenticated bool, 2 user UserInfo, 3 error string',
} satisfies Record<string, string>;

export interface FieldRule {
  readonly name: string;
  readonly type: string;
  readonly shape: 'single' | 'list' | 'map';
  /** Whether a zero value was set by somebody. */
  readonly keepsZero: boolean;
}

function ruleOf(text: string): readonly [number, FieldRule] {
  const match = /^(\d+) (\w+) (\[\])?(\{)?(\w+)\}?(\?)?$/.exec(text);
  if (match?.[1] === undefined || match[2] === undefined || match[5] === undefined)
    throw new Error(`not a field: ${text}`);
  const shape = match[3] !== undefined ? 'list' : match[4] !== undefined ? 'map' : 'single';
  return [Number(match[1]), { name: match[2], type: match[5], shape, keepsZero: match[6] !== undefined }];
}

/** The fields of each message by number. */
export const messages: ReadonlyMap<string, ReadonlyMap<number, FieldRule>> = new Map(
  Object.entries(table).map(([name, fields]) => [name, new Map(fields === '' ? [] : fields.split(', ').map(ruleOf))]),
);
