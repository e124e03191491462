/** What a deployment may choose. */
import type { ISecurityGroup, ISubnet, IVpc } from 'aws-cdk-lib/aws-ec2';
import type { Code } from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { CurfewState, CurfewStateProps } from './curfew-state.ts';

/** The EKS cluster; each value may be a token, such as an attribute of a cluster of the same app. */
export interface CurfewCluster {
  readonly name: string;
  /** The URL of its API server, as `aws eks describe-cluster` prints it. */
  readonly endpoint: string;
  /** The CA's PEM in base64, as `aws eks describe-cluster` prints it. Public, not a secret. */
  readonly certificateAuthority: string;
}

/** For a cluster whose API endpoint is private: the functions run in its VPC. */
export interface CurfewPrivateAccess {
  readonly vpc: IVpc;
  /** The subnets of the functions. Default: the VPC's private ones. */
  readonly subnets?: readonly ISubnet[] | undefined;
  /** The security group that EKS made for the cluster; it gets an ingress rule for port 443 from the functions. */
  readonly clusterSecurityGroup: ISecurityGroup;
}

/** The props of {@link Curfew}. */
export interface CurfewProps extends CurfewStateProps {
  /** The cluster. It has one deployment: EKS refuses its forwarder's identity to a second. */
  readonly cluster: CurfewCluster;
  /**
   * Table, bus and dead-letter queues, where another stack has them. It must have the same name, and gives its `encryptionKey`.
   *
   * @default made within this construct
   */
  readonly state?: CurfewState | undefined;
  /**
   * The VPC from which the functions reach a private API endpoint.
   *
   * @default the API server's public endpoint is used
   */
  readonly privateAccess?: CurfewPrivateAccess | undefined;
  /**
   * How long audit lines are kept.
   *
   * @default RetentionDays.SIX_MONTHS
   */
  readonly logRetention?: RetentionDays | undefined;
  /**
   * Names of the Lambda functions that hooks of terminations may call.
   *
   * @default none
   */
  readonly hookFunctions?: readonly string[] | undefined;
  /**
   * Functions call the FIPS endpoints of AWS, which only some Regions have.
   *
   * @default false
   */
  readonly fipsEndpoints?: boolean | undefined;
  /**
   * Name of a table that was restored, in place of the state's, which stays.
   *
   * @default the table of the state
   */
  readonly recordsTable?: string | undefined;
  /**
   * ARNs of IAM roles or users, with `*` and `?`, who send to inboxes beside Curfew's own roles: operators who redrive dead letters or close
   * entries of the ledger.
   *
   * @default none
   */
  readonly operatorPrincipals?: readonly string[] | undefined;
  /**
   * ARNs like those of `operatorPrincipals`, of who puts events on the bus: it denies everybody else.
   *
   * @default whoever has the permission
   */
  readonly drainPrincipals?: readonly string[] | undefined;
  /**
   * Values of `source` under which drains may be asked for on the bus.
   *
   * @default any
   */
  readonly drainSources?: readonly string[] | undefined;
  /**
   * SNS topics that alarms notify, by how soon somebody must look.
   *
   * @default alarms only change state
   */
  readonly alarmTopics?: { readonly page?: ITopic | undefined; readonly ticket?: ITopic | undefined } | undefined;
  /**
   * The alarms to make. `Essential` leaves out those that say earlier or more exactly what another one also says.
   *
   * @default Full
   */
  readonly alarms?: 'Full' | 'Essential' | undefined;
  /**
   * Whether there is a dashboard.
   *
   * @default true
   */
  readonly dashboard?: boolean | undefined;
  /**
   * Number of nodes from which somebody is paged, if repairs or deadlines end them within an hour.
   *
   * @default 10
   */
  readonly terminationsPerHour?: number | undefined;
  /**
   * URL at which `docs/runbook.md` can be read, for the descriptions of alarms.
   *
   * @default alarms name the paragraph
   */
  readonly runbookUrl?: string | undefined;
  /**
   * The code of a function by its name.
   *
   * @default what the package has
   * @internal
   */
  readonly code?: ((functionName: string) => Code) | undefined;
}
