/** Conformance lines that need no test of Curfew, each with its reason. Nothing else may be left out. */

const SELECTION = 'which candidates Karpenter disrupts is its own decision; Curfew holds the node by an annotation';
const LAUNCH =
  "launch, registration and initialization of a NodeClaim are Karpenter's; Curfew acts from the deletion on";
const COLLECTION =
  'garbage collection and expiration delete NodeClaims, which Karpenter does; Curfew ends what was deleted';
const METRICS =
  "Karpenter's and NVSentinel's metrics; Curfew counts `DrainStarted`, `PodEviction` and its like instead";
const LIVE = "NVSentinel's informer cache; Curfew's drain reads the pods and the Node live in every look";
const COLD_START =
  "NVSentinel's search of its database at a start; Curfew keeps requests and the drain under way in its own record";

export const NOT_APPLICABLE: ReadonlyMap<string, string> = new Map([
  ['P4', "budgets in Karpenter's scheduling simulation, which Curfew has not"],
  ['X9', SELECTION],
  ['X16', "capacity in Karpenter's scheduling simulation, which Curfew has not"],
  ['Q8', METRICS],
  [
    'Q11',
    'the deadline is read anew in every look, and moves away only when what set it is edited (docs/terminations.md)',
  ],
  ['Q19', 'a deviation: one refused eviction of a pod in 10 s, from the first on (I11)'],
  ['Q20', 'a deviation: Curfew forces at exactly D - G, not one tick later (N24)'],
  ['Q22', METRICS],
  ['A17', SELECTION],
  ['A18', SELECTION],
  ['A19', SELECTION],
  ['N26', 'the least time of a drain covers a cache that lags; Curfew reads the pods of the node live in every look'],
  ['N30', "names and samples of Karpenter's metrics; Curfew has metrics of its own"],
  ['N45', 'the order over real kubelets: the groups are tested on the simulated ones (N15)'],
  ['L4', 'Curfew releases the NodeClaim in the look that finds everything done: no later generation is seen'],
  ['L6', LAUNCH],
  ['L7', LAUNCH],
  ['L9', LAUNCH],
  ['L11', LAUNCH],
  ['L12', LAUNCH],
  ['L14', LAUNCH],
  ['L15', LAUNCH],
  ['L17', LAUNCH],
  ['L18', LAUNCH],
  ['L20', LAUNCH],
  ['L21', LAUNCH],
  ['L23', LAUNCH],
  ['L24', LAUNCH],
  ['L26', LAUNCH],
  ['L28', LAUNCH],
  ['L29', LAUNCH],
  ['L31', LAUNCH],
  ['L32', LAUNCH],
  ['L43', LAUNCH],
  ['L48', COLLECTION],
  ['G1', COLLECTION],
  ['G3', COLLECTION],
  ['G4', COLLECTION],
  ['G6', COLLECTION],
  ['G8', COLLECTION],
  ['G9', COLLECTION],
  ['G11', COLLECTION],
  ['NV23', METRICS],
  ['NV41', 'rows of a database; in the record of a node an id stands once'],
  ['NV72', 'there is no Helm chart: the configuration is the TOML itself'],
  ['NV83', LIVE],
  ['NV84', LIVE],
  ['NV86', LIVE],
  [
    'NV91',
    'the order of a queue in one process; requests come by SQS, and those of one node join one drain (NV87, NV90)',
  ],
  ['NV93', 'ids are strings: the schema of HealthEvents takes nothing else'],
  ['NV94', COLD_START],
  ['NV96', COLD_START],
  ['NV98', COLD_START],
  ['NV99', COLD_START],
  ['NV103', COLD_START],
  ['NV112', "whose pods a Slinky cluster lets go is its controller's decision; Curfew waits for its condition (NV33)"],
]);
