import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isCredentialIn, isCredentialPath } from '../../../adapters/fs/credentials.ts';
import { createDiskFileSystem } from '../../../adapters/fs/disk.ts';
import { isCredential } from '../../../core/danger/sensitive.ts';

const CREDENTIALS =
  '.env .ENV .env.local prod.env .prod.env server.pem .tls.pem tls.key store.p12 store.pfx store.jks a.keystore a.kdbx id_rsa id_ed25519 .netrc _netrc .npmrc .pypirc .pgpass .my.cnf .htpasswd .dockercfg .git-credentials .vault-token .s3cfg .boto credentials.json credentials.toml secrets.env mcp_oauth.json kubeconfig my.kubeconfig terraform.tfstate terraform.tfstate.backup prod.tfvars .envrc.private .ssh/config .aws/credentials .azure/token .gnupg/ring .kube/config .docker/config.json secrets/a.txt deep/.AWS/credentials'.split(
    ' ',
  );
const OTHERS =
  '.env.example .env.sample .env.template .env.dist env pem keys.ts monkey identity.md .npmignore .envrc environment.ts src/aws/x.ts docker/config.json secrets.ts package.json'.split(
    ' ',
  );

describe('a credential file', () => {
  it.each(CREDENTIALS)('is %s', (path) => {
    expect(isCredentialPath(path)).toBe(true);
  });

  it.each(OTHERS)('is not %s', (path) => {
    expect(isCredentialPath(path)).toBe(false);
  });

  it('is the same for a file tool and for a command line', () => {
    const paths = [...CREDENTIALS, ...OTHERS];
    expect(paths.filter(isCredentialPath)).toEqual(paths.filter((path) => isCredential(path, false)));
  });

  it('is not made by the folders above the root', () => {
    expect(isCredentialIn('/home/me/secrets/app', '/home/me/secrets/app/a.txt')).toBe(false);
    expect(isCredentialIn('/home/me/app', '/home/me/secrets/a.txt')).toBe(true);
  });

  it('is told by the place of a file, when it is resolved and when it is listed', async () => {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'odek-fs-')));
    try {
      await mkdir(join(root, '.aws'));
      await writeFile(join(root, '.aws', 'credentials'), 'x');
      const fs = createDiskFileSystem({ root, stateDir: join(root, '.odek') });
      expect((await fs.resolve('.aws/credentials')).credential).toBe(true);
      for (const [from, path] of [
        ['.', '.aws/credentials'],
        ['.aws', 'credentials'],
      ] as const) {
        const listed = [];
        for await (const entry of fs.list(from, { depth: 3 })) listed.push(entry);
        expect(listed.find((entry) => entry.path === path)?.credential).toBe(true);
      }
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });
});
