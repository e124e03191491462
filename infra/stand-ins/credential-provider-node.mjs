/**
 * `@aws-sdk/credential-provider-node` for the bundles: Lambda gives a function its credentials in the environment, where the SDK looks
 * first. What finds them on a developer's machine, on EC2 and in containers is left out: 140 kB, a part of which each start would read.
 */
import { fromEnv } from '@aws-sdk/credential-provider-env';

export const defaultProvider = init => fromEnv(init);
