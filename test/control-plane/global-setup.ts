/** Before anything else: the real components are there, or are built once, or the run ends with what to do about it. */
import {
  ControlPlaneUnavailableError,
  ensureControlPlaneBinaries,
  ensureOtherKubernetes,
  ensureHelm,
  ensureKarpenter,
} from './build.ts';
import { OTHER_RELEASES, HELM_MAJORS } from './go.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);

export async function setup(): Promise<void> {
  try {
    await ensureControlPlaneBinaries(log);
    const releases = process.env['KUBEBUILDER_ASSETS'] ? [] : OTHER_RELEASES;
    for (const release of releases) await ensureOtherKubernetes(release, log);
    await ensureKarpenter(log);
    for (const major of HELM_MAJORS) await ensureHelm(log, major);
  } catch (error) {
    if (!(error instanceof ControlPlaneUnavailableError)) throw error;
    log(`\nnpm run test:control-plane cannot run here. ${error.message}\n`);
    process.exit(1);
  }
}
