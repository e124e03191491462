/** Before anything else: the real components are there, or are built once, or the run ends with what to do about it. */
import {
  ControlPlaneUnavailableError,
  ensureControlPlaneBinaries,
  ensureOtherKubernetes,
  ensureEtcdutl,
  ensureHelm,
  ensureKarpenter,
} from './build.ts';
import { HELM_MAJORS, releasesInUse } from './go.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);

export async function setup(): Promise<void> {
  try {
    await ensureControlPlaneBinaries(log);
    for (const release of releasesInUse()) await ensureOtherKubernetes(release, log);
    await ensureEtcdutl(log);
    await ensureKarpenter(log);
    for (const major of HELM_MAJORS) await ensureHelm(log, major);
  } catch (error) {
    if (!(error instanceof ControlPlaneUnavailableError)) throw error;
    log(`\nnpm run test:control-plane cannot run here. ${error.message}\n`);
    process.exit(1);
  }
}
