/** The forwarder's image without its base: one layer and what a container of it runs, as an OCI layout (image-spec v1.1). */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '../shared/contract/version.ts';
import { gzipOf, tarOf, type Entry } from './archive.ts';
import { ROOT } from './files.ts';

/** The same bundle for each. */
const ARCHITECTURES = ['amd64', 'arm64'] as const;
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';

export interface ForwarderImage {
  /** For `crane append`. */
  readonly layer: Buffer;
  /** Files of the layout. */
  readonly layout: readonly Entry[];
  /** What it is to stand on: name, tag and digest. */
  readonly base: string;
}

interface Blob {
  readonly digest: string;
  readonly bytes: Buffer;
}

/** @param files of the bundle */
export function forwarderImage(
  files: readonly { readonly name: string; readonly contents: Uint8Array }[],
  revision: string,
): ForwarderImage {
  const { base, labels, config } = readDockerfile(readFileSync(join(ROOT, 'forwarder/Dockerfile'), 'utf8'), {
    VERSION,
    REVISION: revision,
  });
  const tar = tarOf(files.map(({ name, contents }) => ({ path: `app/${name}`, contents })));
  const layer = blobOf(gzipOf(tar));
  const diffId = digestOf(tar);
  const configs = ARCHITECTURES.map(architecture => ({
    architecture,
    blob: jsonBlob({
      architecture,
      os: 'linux',
      config: { ...config, Labels: labels },
      rootfs: { type: 'layers', diff_ids: [diffId] },
      history: [{ created_by: 'npm run release' }],
    }),
  }));
  const manifests = configs.map(({ architecture, blob }) => ({
    architecture,
    blob: jsonBlob({
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: descriptorOf('application/vnd.oci.image.config.v1+json', blob),
      layers: [descriptorOf('application/vnd.oci.image.layer.v1.tar+gzip', layer)],
      annotations: { ...labels, 'org.opencontainers.image.base.name': base },
    }),
  }));
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: manifests.map(({ architecture, blob }) => ({
      ...descriptorOf(MANIFEST, blob),
      platform: { architecture, os: 'linux' },
      annotations: { 'org.opencontainers.image.ref.name': VERSION },
    })),
  };
  const blobs = [layer, ...configs.map(({ blob }) => blob), ...manifests.map(({ blob }) => blob)];
  return {
    layer: layer.bytes,
    base,
    layout: [
      { path: 'oci-layout', contents: '{"imageLayoutVersion":"1.0.0"}' },
      { path: 'index.json', contents: JSON.stringify(index) },
      ...blobs.map(({ digest, bytes }): Entry => ({ path: `blobs/${digest.replace(':', '/')}`, contents: bytes })),
    ],
  };
}

const digestOf = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
const blobOf = (bytes: Buffer): Blob => ({ digest: digestOf(bytes), bytes });
const jsonBlob = (value: object): Blob => blobOf(Buffer.from(JSON.stringify(value)));
const descriptorOf = (mediaType: string, { digest, bytes }: Blob): object => ({
  mediaType,
  digest,
  size: bytes.length,
});

interface LastStage {
  readonly base: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly config: object;
}

/** What the Dockerfile says of its last stage, so that both ways make the same image. Throws for an instruction that is not known. */
function readDockerfile(text: string, args: Readonly<Record<string, string>>): LastStage {
  const lines = text.replaceAll('\\\n', ' ').split('\n');
  const stage = lines.slice(lines.findLastIndex(line => line.startsWith('FROM '))).filter(line => /^[A-Z]/.test(line));
  const labels: Record<string, string> = {};
  const config: Record<string, unknown> = {};
  let base = '';
  for (const line of stage) {
    const [, instruction = '', rest = ''] = /^([A-Z]+) +(.*)$/.exec(line) ?? [];
    switch (instruction) {
      case 'FROM':
        base = rest;
        break;
      case 'LABEL':
        for (const [, key = '', value = ''] of rest.matchAll(/([\w.]+)="([^"]*)"/g))
          labels[key] = value.replaceAll(/\$(\w+)/g, (_, name: string) => args[name] ?? '');
        break;
      case 'ENV':
        config['Env'] = [rest];
        break;
      case 'WORKDIR':
        config['WorkingDir'] = rest;
        break;
      case 'USER':
        config['User'] = rest;
        break;
      case 'EXPOSE':
        config['ExposedPorts'] = { [`${rest}/tcp`]: {} };
        break;
      case 'ENTRYPOINT':
        config['Entrypoint'] = JSON.parse(rest);
        break;
      case 'ARG':
      case 'COPY':
        break;
      default:
        throw new Error(`forwarder/Dockerfile: ${instruction} is not known here`);
    }
  }
  return { base, labels, config };
}
