/** Commands that print what a user applies. */
import { Argument } from 'commander';
import { onCluster, withExamples, type Place } from './place.ts';

export function addManifests({ program, output, ends }: Place): void {
  program.commandsGroup('Print what you apply:');
  const admission = onCluster(
    program
      .command('policies')
      .description('print policies that are made of NodePools and NodeLifecyclePolicies, for kubectl apply -f -')
      .command('admission')
      .description(
        'the admission policy that puts termination finalizers on NodeClaims and Nodes from their first write',
      )
      .argument(
        '[files...]',
        'files and folders with NodePools and NodeLifecyclePolicies (default: those of the cluster)',
      ),
  ).action(async (files: string[], options: Record<string, string>) => {
    const { admissionCommand } = await import('../policies.ts');
    ends(await admissionCommand(files, options, output));
  });
  withExamples(admission, {
    'curfew policies admission > admission.yaml':
      'for the policies of your cluster; then kubectl apply -f admission.yaml',
    'curfew policies admission policies/ nodepools.yaml': 'for files, without a cluster',
  });

  const rbac = program.command('rbac').description('print the permissions that a user grants, for kubectl apply -f -');
  for (const [use, whose, given] of [
    [
      'finalizerrules',
      'the kinds of FinalizerRules',
      'FinalizerRules and their CustomResourceDefinitions (default: the rules of the cluster)',
    ],
    [
      'hooks',
      'the custom resources of termination hooks',
      'NodeLifecyclePolicies, the ConfigMap curfew-config and CustomResourceDefinitions (default: those of the cluster)',
    ],
  ] as const) {
    const granting = rbac
      .command(use)
      .description(`those on ${whose}, for the forwarder and the finalizer function`)
      .argument('[files...]', `files and folders with ${given}`)
      .option(
        '--kubeconfig <file>',
        'the cluster that serves the kinds (default without files: $KUBECONFIG, else ~/.kube/config)',
      )
      .option('--context <name>', 'context of the kubeconfig (default: its current one)')
      .action(async (files: string[], options: Record<string, string>) => {
        const { rbacCommand } = await import('../rbac.ts');
        ends(await rbacCommand(use, files, options, output));
      });
    withExamples(granting, {
      [`curfew rbac ${use} > rbac.yaml`]: 'for those of your cluster; read it, then kubectl apply -f rbac.yaml',
    });
  }

  const crdPatch = program
    .command('crd-patch')
    .description("print the patch by which Karpenter's definition keeps the fields that Curfew reads")
    .addArgument(new Argument('<definition>', 'which definition').choices(['nodepool']))
    .action(async () => {
      const { crdPatchCommand } = await import('../crd-patch.ts');
      ends(crdPatchCommand(output));
    });
  withExamples(crdPatch, { 'curfew crd-patch nodepool > patch.json': 'for kubectl patch crd nodepools.karpenter.sh' });
}
