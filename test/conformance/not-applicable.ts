/** Conformance lines that need no test of Curfew, each with its reason. Nothing else may be left out. */

const SELECTION = 'which candidates Karpenter disrupts is its own decision; Curfew holds the node by an annotation';

export const NOT_APPLICABLE: ReadonlyMap<string, string> = new Map([
  ['P4', "budgets in Karpenter's scheduling simulation, which Curfew has not"],
  ['X9', SELECTION],
  ['X16', "capacity in Karpenter's scheduling simulation, which Curfew has not"],
  ['A17', SELECTION],
  ['A18', SELECTION],
  ['A19', SELECTION],
]);
