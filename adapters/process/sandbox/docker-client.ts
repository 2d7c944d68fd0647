import { spawn } from 'node:child_process';
import { childEnvironment } from '../environment.ts';

/** How a call of `docker` ended. `words`: the last of what it wrote on standard error. */
export interface DockerAnswer {
  readonly ok: boolean;
  readonly words: string;
}

export interface DockerClient {
  /** The program's absolute path. */
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
  call(
    args: readonly string[],
    options: { readonly timeoutMs: number; readonly input?: string; readonly signal?: AbortSignal },
  ): Promise<DockerAnswer>;
  /** Starts a call that goes on without odek. */
  leave(args: readonly string[]): void;
}

const MAX_WORDS = 500;
/** How the client finds its engine. */
const ENGINE = ['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG', 'DOCKER_CERT_PATH', 'DOCKER_TLS_VERIFY', 'XDG_RUNTIME_DIR'];

/** Calls of the `docker` program `file`, without odek's own variables. */
export function createDockerClient(file: string, environment: Readonly<Record<string, string | undefined>>): DockerClient {
  const chosen = ENGINE.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]] as const]));
  const env = childEnvironment(environment, Object.fromEntries(chosen));
  return {
    file,
    env,
    call(args, { timeoutMs, input, signal }) {
      const { promise, resolve } = Promise.withResolvers<DockerAnswer>();
      let words = '';
      const options = { cwd: '/', env, timeout: timeoutMs, killSignal: 'SIGKILL', ...(signal && { signal }) } as const;
      const child = spawn(file, [...args], { ...options, stdio: ['pipe', 'ignore', 'pipe'] });
      child.stdin.on('error', () => {});
      child.stdin.end(input ?? '');
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        words = (words + text).slice(-MAX_WORDS);
      });
      child.on('error', (error) => resolve({ ok: false, words: error.message }));
      child.on('close', (code, ending) => {
        const why = words.trim().replaceAll('\n', ' ') || `docker ended with ${code ?? ending}`;
        resolve({ ok: code === 0, words: why });
      });
      return promise;
    },
    leave(args) {
      const child = spawn(file, [...args], { cwd: '/', env, stdio: 'ignore', detached: true });
      child.on('error', () => {});
      child.unref();
    },
  };
}
