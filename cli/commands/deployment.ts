/** Commands that operate a deployment in an AWS account. */
import type { DoctorOptions } from '../doctor.ts';
import type { OrphansOptions } from '../orphans.ts';
import type { RedriveCommandOptions } from '../redrive.ts';
import type { SwitchOptions } from '../stop-resume.ts';
import { addAudit } from './audit.ts';
import { addEvent } from './event.ts';
import { onCluster, onDeployment, withExamples, type Place } from './place.ts';

export function addDeployment(place: Place): void {
  const { program, output, ends } = place;
  program.commandsGroup('Operate a deployment:');
  addAudit(place);
  addEvent(place);
  const stop = onDeployment(program.command('stop'))
    .description('stop all functions of a deployment: their event sources and ticks; nothing is lost')
    .action(async (options: SwitchOptions) => {
      const { stopCommand } = await import('../stop-resume.ts');
      ends(await stopCommand(options, { output }));
    });
  withExamples(stop, {
    'curfew stop --stack Staging --region eu-west-1': 'nothing is repaired or drained from now on',
  });

  const resume = onDeployment(program.command('resume'))
    .description('start them again')
    .action(async (options: SwitchOptions) => {
      const { resumeCommand } = await import('../stop-resume.ts');
      ends(await resumeCommand(options, { output }));
    });
  withExamples(resume, { 'curfew resume --stack Staging --region eu-west-1': 'what waited is worked on now' });

  const doctor = onCluster(program.command('doctor'))
    .description('look whether an installation can do its work; every failure says what to do')
    .option('--stack <name>', 'the functions stack alone, without --kubeconfig and --context (default: Curfew)')
    .option('--region <name>', 'default: $AWS_REGION, else that of the AWS profile')
    .action(async (options: DoctorOptions) => {
      const { doctorCommand } = await import('../doctor.ts');
      ends(await doctorCommand(options, output));
    });
  withExamples(doctor, {
    'curfew doctor': 'the stack Curfew and the current cluster',
    'curfew doctor --stack Staging --region eu-west-1': 'what is in AWS alone',
    'curfew doctor --kubeconfig kubeconfig': 'what is in the cluster alone',
  });

  const redrive = onDeployment(program.command('redrive'))
    .description("move a function's dead letters back into its inbox")
    .requiredOption('--function <name>', 'whose dead letters: repair, drain, finalizer, grace-period or timer')
    .option('--reason <reason>', 'only those with this reason, as the command prints it')
    .option('--limit <number>', 'at most this many messages (default: all)')
    .option('--dry-run', 'say what would be moved, move nothing')
    .action(async (options: RedriveCommandOptions) => {
      const { redriveCommand } = await import('../redrive.ts');
      ends(await redriveCommand(options, output));
    });
  withExamples(redrive, { 'curfew redrive --function repair --dry-run': 'each dead letter with its reason' });

  const orphans = onDeployment(program.command('orphans'))
    .description('list what may have been left behind: instances, and objects of FinalizerRules')
    .option('--forget <id>', 'close the entry of one that you have seen to, in place of the list')
    .action(async (options: OrphansOptions) => {
      const { orphansCommand } = await import('../orphans.ts');
      ends(await orphansCommand(options, output));
    });
  withExamples(orphans, {
    'curfew orphans': 'each entry, its id first',
    'curfew orphans --forget instance/aws:///us-west-2a/i-0abc': 'once you have seen to it',
  });
}
