/** Everything that a release has, as files: the same bytes for the same sources, wherever they stand. */
import libraryFile from '../packages/curfew-cdk/package.json' with { type: 'json' };
import packageFile from '../package.json' with { type: 'json' };
import { bundleForwarder } from '../forwarder/bundle.ts';
import { tarGzOf, tarOf, type Entry } from './archive.ts';
import { awsFiles } from './aws.ts';
import { billOfMaterials } from './bill-of-materials.ts';
import { cliPackage, PACKAGE_NAME } from './cli/package.ts';
import { filesOf } from './files.ts';
import { forwarderImage } from './image.ts';
import { libraryPackage } from './library.ts';
import { packagesIn } from './packages.ts';
import { provenanceOf, sha256, type Revision } from './provenance.ts';

/** What `deploy/kustomization.yaml` applies, and samples. */
const KUSTOMIZATION = ['kustomization.yaml', '{crds,rbac,policies,forwarder,samples}/*', 'config/config.toml'];

/** Needs no network. */
export async function releaseFiles(revision: Revision): Promise<readonly Entry[]> {
  const { version } = packageFile;
  const cli = await cliPackage();
  const forwarder = await bundleForwarder();
  const image = forwarderImage(forwarder.files, revision.commit);
  const aws = awsFiles();
  const library = await libraryPackage();
  const artefacts: readonly Entry[] = [
    { path: `${PACKAGE_NAME}-${version}.tgz`, contents: cli.archive },
    { path: `${libraryFile.name}-${version}.tgz`, contents: library.archive },
    { path: `curfew-forwarder-${version}-layer.tar.gz`, contents: image.layer },
    { path: `curfew-forwarder-${version}-oci.tar`, contents: tarOf(image.layout) },
    { path: `curfew-${version}.tgz`, contents: tarGzOf(filesOf('deploy/chart', ['**'], 'curfew/')) },
    {
      path: `curfew-kustomize-${version}.tar.gz`,
      contents: tarGzOf(filesOf('deploy', KUSTOMIZATION, `curfew-kustomize-${version}/`)),
    },
    {
      path: `curfew-aws-${version}.tar.gz`,
      contents: tarGzOf(aws.files.map(each => ({ ...each, path: `curfew-aws-${version}/${each.path}` }))),
    },
    {
      path: `curfew-${version}.cdx.json`,
      contents: billOfMaterials(
        new Set([
          ...[cli.metafile, forwarder.metafile, ...library.metafiles].flatMap(each => [...packagesIn(each)]),
          ...aws.packages,
        ]),
      ),
    },
  ];
  const all = [
    ...artefacts,
    { path: `curfew-${version}.provenance.json`, contents: provenanceOf(artefacts, revision, image.base) },
  ];
  const sums = all.map(({ path, contents }) => `${sha256(contents)}  ${path}\n`);
  return [...all, { path: 'SHA256SUMS', contents: sums.join('') }];
}
