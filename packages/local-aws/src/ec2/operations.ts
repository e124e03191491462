/** The operations that run here, of EC2 and of Auto Scaling, by the name in `Action`. */
import { AwsError } from './aws-error.ts';
import type { Fleet, StateChange } from './fleet.ts';
import { STATE_CODES, type InstanceView, type State, type Tags } from './instances.ts';
import { filtersOf, listOf, pageOf } from './query.ts';
import type { XmlElement } from './xml.ts';

/** Where something is done, for the statements that allow it: an ARN without partition, Region and account, and its tags. */
export interface Target {
  readonly service: 'ec2' | 'autoscaling';
  readonly resource: string;
  readonly tags: Tags;
}

export interface Operation {
  readonly service: 'ec2' | 'autoscaling';
  /** No target: the operation knows no resources. */
  readonly targets: (fleet: Fleet, parameters: URLSearchParams) => readonly Target[];
  /** What stands in the answer. Throws an `AwsError`. */
  readonly run: (fleet: Fleet, parameters: URLSearchParams) => readonly XmlElement[];
}

export const OPERATIONS: Readonly<Record<string, Operation>> = {
  DescribeInstances: {
    service: 'ec2',
    targets: () => [],
    run(fleet, parameters) {
      const ids = listOf(parameters, 'InstanceId');
      const filters = filtersOf(parameters);
      const instances = ids.length === 0 ? fleet.all() : ids.map(instanceId => fleet.required(instanceId));
      const matching = instances.filter(instance => filters.every(matches => matches(instance)));
      const { page, nextToken } = pageOf(matching, parameters, ids.length > 0);
      return [
        ['reservationSet', page.map(instance => ['item', reservation(instance)])],
        ...(nextToken === undefined ? [] : [['nextToken', nextToken] as const]),
      ];
    },
  },
  DescribeInstanceStatus: {
    service: 'ec2',
    targets: () => [],
    run(fleet, parameters) {
      const isOfAll = parameters.get('IncludeAllInstances') === 'true';
      const found = requiredIds(parameters)
        .map(instanceId => fleet.required(instanceId))
        .filter(({ state }) => isOfAll || state === 'running');
      return [['instanceStatusSet', found.map(instance => ['item', statusOf(fleet, instance)])]];
    },
  },
  TerminateInstances: {
    service: 'ec2',
    targets: instancesIn,
    run: (fleet, parameters) => [
      ['instancesSet', fleet.terminate(requiredIds(parameters)).map(change => ['item', changed(change)])],
    ],
  },
  RebootInstances: {
    service: 'ec2',
    targets: instancesIn,
    run(fleet, parameters) {
      fleet.reboot(requiredIds(parameters));
      return [['return', true]];
    },
  },
  TerminateInstanceInAutoScalingGroup: {
    service: 'autoscaling',
    targets(fleet, parameters) {
      const instanceId = parameters.get('InstanceId') ?? '';
      const group = fleet.groupOf(instanceId) ?? '*';
      // A group has the tags that it gives to its instances.
      const tags = fleet.look(instanceId)?.tags ?? {};
      return [{ service: 'autoscaling', resource: `autoScalingGroup:${group}:autoScalingGroupName/${group}`, tags }];
    },
    run(fleet, parameters) {
      const instanceId = parameters.get('InstanceId') ?? '';
      const shrink = parameters.get('ShouldDecrementDesiredCapacity');
      if (shrink !== 'true' && shrink !== 'false') {
        throw new AwsError('ValidationError', 'ShouldDecrementDesiredCapacity is required');
      }
      const { group, description } = fleet.terminateInGroup(instanceId, shrink === 'true');
      return [
        [
          'Activity',
          [
            ['ActivityId', `terminate-${instanceId}`],
            ['AutoScalingGroupName', group],
            ['Description', description],
            ['StatusCode', 'InProgress'],
          ],
        ],
      ];
    },
  },
};

function requiredIds(parameters: URLSearchParams): string[] {
  const ids = listOf(parameters, 'InstanceId');
  if (ids.length === 0) throw new AwsError('MissingParameter', 'The request must contain the parameter InstanceId');
  return ids;
}

function instancesIn(fleet: Fleet, parameters: URLSearchParams): readonly Target[] {
  return requiredIds(parameters).map(instanceId => ({
    service: 'ec2',
    resource: `instance/${instanceId}`,
    tags: fleet.look(instanceId)?.tags ?? {},
  }));
}

const stateOf = (state: State): readonly XmlElement[] => [
  ['code', STATE_CODES[state]],
  ['name', state],
];

function statusOf(fleet: Fleet, { instanceId, availabilityZone, state }: InstanceView): readonly XmlElement[] {
  const { instance, application } = fleet.checksOf(instanceId);
  return [
    ['instanceId', instanceId],
    ['availabilityZone', availabilityZone],
    ['instanceState', stateOf(state)],
    ['instanceStatus', [['status', instance]]],
    ['systemStatus', [['status', instance]]],
    ['applicationStatus', [['status', application]]],
  ];
}

const changed = ({ instanceId, previous, current }: StateChange): readonly XmlElement[] => [
  ['instanceId', instanceId],
  ['currentState', stateOf(current)],
  ['previousState', stateOf(previous)],
];

const reservation = ({
  instanceId,
  availabilityZone,
  state,
  tags,
  launchTime,
}: InstanceView): readonly XmlElement[] => [
  ['reservationId', instanceId.replace(/^i-/, 'r-')],
  [
    'instancesSet',
    [
      [
        'item',
        [
          ['instanceId', instanceId],
          ['instanceState', stateOf(state)],
          ['launchTime', new Date(launchTime).toISOString()],
          ['placement', [['availabilityZone', availabilityZone]]],
          [
            'tagSet',
            Object.entries(tags).map(([key, value]) => [
              'item',
              [
                ['key', key],
                ['value', value],
              ],
            ]),
          ],
        ],
      ],
    ],
  ],
];
