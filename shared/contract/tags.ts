/** AWS tag on everything that belongs to one function: splits the bill, and tells the local stack which function is which. */
export const FUNCTION_TAG = 'curfew.dev/function';

/**
 * Tags whose value is the name of the EKS cluster that an instance or Auto Scaling group belongs to: of Karpenter (1.0 and newer), and
 * of managed node groups. The roles may act on nothing that has neither.
 */
export const CLUSTER_TAGS = ['eks:eks-cluster-name', 'eks:cluster-name'] as const;
