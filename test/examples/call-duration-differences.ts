/** Example scenarios that do not hold to the second when calls take time, each with its reason. */

const A_SECOND_EARLIER = 'a pod has a whole second less, so that its instance is ended a second earlier';

export const KNOWN_DIFFERENCES: Readonly<Record<string, string>> = {
  'finalizer-deadline.yaml#a-pod-that-needs-more-than-there-is-goes-at-once': A_SECOND_EARLIER,
  'finalizer-hooks.yaml#pods-have-their-grace-while-a-hook-is-at-work': A_SECOND_EARLIER,
  'finalizer-deadline.yaml#a-pod-that-stops-for-long-has-until-the-deadline':
    'four runs at once ask for the same deletion of a pod, with its UID and the same grace',
  'finalizer-rules-that-do-not-clean-up.yaml#a-rule-says-how-often-its-clean-up-is-called':
    'a run begins after its place, so that 23 calls come in five minutes in place of 25',
  'repair-replaces-first.yaml#repair-replacement-falls-ill':
    'a pass sees the replacement ready a second before it falls ill',
  'refused-pods-and-instances.yaml#drain-of-a-pod-that-the-api-server-denies-to-know':
    'runs at once note different failures, so that the same one is said again after an hour',
};
