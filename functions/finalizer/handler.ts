import { ec2Instances } from '../../shared/lambda/ec2-instances.ts';
import { createHandler } from '../../shared/lambda/handler.ts';
import { awsHooks } from './aws-hooks.ts';
import { createReconciler } from './route.ts';

export const handler = createHandler('finalizer', ['kubernetes', 'records', 'wakeUps', 'events'], createReconciler, {
  otherAdapters: { instances: ec2Instances, hooks: awsHooks },
});
