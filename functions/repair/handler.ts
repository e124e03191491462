import { createReconciler } from './route.ts';
import { ec2Instances } from '../../shared/lambda/ec2-instances.ts';
import { createHandler } from '../../shared/lambda/handler.ts';

export const handler = createHandler(
  'repair',
  ['kubernetes', 'records', 'wakeUps', 'bus', 'events'],
  createReconciler,
  { otherAdapters: { instances: ec2Instances } },
);
