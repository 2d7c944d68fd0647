// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a reference in a configuration file.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ServerReply, ServerRequest } from '../../fakes/openai-server.ts';
import type { Ended } from '../support/odek.ts';
import { OPERATOR_KEY, onStage, PATIENT } from '../support/stage.ts';

/** Values that odek can know, because their place or their name tells: hidden in every usual spelling. */
const KNOWN = {
  operatorKey: OPERATOR_KEY,
  token: 'canary-01-token-of-the-environment',
  spaced: 'canary-02 correct horse battery staple',
  apiKey: 'canary-03+api/key=of==environment',
  password: 'canary-04-pässwörd-ünïcode',
  fileToken: 'canary-05-token-of-secrets-env',
  fileOdd: 'canary-06 "quoted" \\ value %41',
  header: 'canary-07-header-of-a-sink',
  lines: 'canary-08-first-line-of-a-key\ncanary-08-second-line-of-a-key',
  variable: 'canary-09-named-in-the-configuration',
} as const;

const SIGN = 'Zy9Xw8Vu7Ts6Rq5Po4';
/** Values that only their shape or the name in front of them tells. */
const SHAPED = {
  github: `ghp_${SIGN}${SIGN}0a`,
  aws: 'AKIAZY9XW8VU7TS6RQ5P',
  slack: `xoxb-${SIGN}-1234`,
  jwt: `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkxMyJ9.${SIGN}${SIGN}`,
  pem: `-----BEGIN RSA PRIVATE KEY-----\nMIICANARY14${SIGN}${SIGN}\n${SIGN}${SIGN}\n-----END RSA PRIVATE KEY-----`,
  url: 'postgres://user:canary15pass@db.example/x',
  named: `api_key: canary16${SIGN}`,
  bearer: `Authorization: Bearer canary17${SIGN}`,
  stripe: `sk_live_canary18${SIGN}`,
  openai: `sk-canary19${SIGN}${SIGN}`,
  remote: 'https://x-access-token:canary21remote@git.example/a.git',
  google: `AIza${SIGN}${SIGN}20`,
} as const;

/** What of each must not be found: the part that is secret. */
const PARTS: Readonly<Record<string, string>> = {
  ...KNOWN,
  ...SHAPED,
  lines1: 'canary-08-first-line-of-a-key',
  lines2: 'canary-08-second-line-of-a-key',
  pem: `MIICANARY14${SIGN}`,
  url: 'canary15pass',
  remote: 'canary21remote',
  named: `canary16${SIGN}`,
  bearer: `canary17${SIGN}`,
};

function spellings(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    encodeURIComponent(secret),
    [...secret].reverse().join(''),
  ];
}

const LEAK = [...Object.values(KNOWN).flatMap((value) => spellings(value)), ...Object.values(SHAPED), `TOKEN_KEY=canary16${SIGN}`].join(
  '\n',
);

/** All that odek left in a folder, but what the test planted itself. */
async function everything(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !/\/(?:config\.json|secrets\.env|leak\.txt|say\.sh|copy\.txt|AGENTS\.md)$/.test(path)) {
      found.set(path, (await readFile(path)).toString('latin1'));
    }
  }
  return found;
}

/** The places of `artefacts` in which a secret stands, in any spelling. */
function leaks(artefacts: ReadonlyMap<string, string>): readonly string[] {
  const wanted = Object.entries(PARTS).flatMap(([name, part]) =>
    (name in SHAPED ? [part] : spellings(part)).flatMap((text) =>
      [text, Buffer.from(text).toString('latin1')].map((form) => [name, form] as const),
    ),
  );
  return [...artefacts].flatMap(([place, text]) =>
    wanted.flatMap(([name, form]) => (text.includes(form) ? [`${name} in ${place}: ${form}`] : [])),
  );
}

const call = (name: string, input: object): ServerReply => ({ calls: [{ name, arguments: input }] });
const pieces = (text: string, size: number): string[] => text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
const ALL = Object.values({ ...KNOWN, ...SHAPED }).join(' and ');
const filler = (word: string): string => `for i in $(seq 1 60); do echo "${word} line $i of many words"; done; cat leak.txt`;

/** A long session: every way in which a secret can come up, in streams cut at every length. */
const SCRIPT: readonly ServerReply[] = [
  {
    reasoning: pieces(`I think of ${ALL}`, 7),
    text: pieces(`I say ${ALL}`, 5),
    calls: [{ name: 'shell', arguments: { command: 'cat leak.txt' } }],
  },
  call('read_file', { path: 'leak.txt' }),
  call('read_file', { path: `${KNOWN.token}.txt` }),
  call('search_files', { pattern: 'canary' }),
  call('shell', { command: `echo ${KNOWN.token} ${SHAPED.github} >&2; cat leak.txt; exit 3`, description: KNOWN.fileToken }),
  call('write_file', { path: 'copy.txt', content: ALL }),
  call('patch', { path: 'copy.txt', old_string: SHAPED.aws, new_string: KNOWN.apiKey }),
  call(`tool-${KNOWN.token}`, { [KNOWN.token]: KNOWN.spaced }),
  call('read_file', { path: 5, wrong: KNOWN.token } as object),
  call('plan', {
    verb: 'create',
    steps: [
      { id: 'a', title: `Use ${KNOWN.token}`, note: KNOWN.spaced },
      { id: 'b', title: SHAPED.github },
    ],
  }),
  call('bg_start', { command: `sh say.sh # ${KNOWN.token}` }),
  call('shell', { command: 'sleep 0.7' }),
  call('bg_output', { job_id: '{{job}}' }),
  { status: 429, headers: { 'retry-after': '0' }, error: { message: `slow down, ${OPERATOR_KEY}: ${KNOWN.token}` } },
  call('http_request', { url: `http://127.0.0.1:9/?k=${KNOWN.token}` }),
  call('base64', { content: KNOWN.token }),
  call('json_query', { path: 'leak.txt', query: KNOWN.token }),
  ...Array.from({ length: 8 }, (_, at) => call('shell', { command: filler(`round ${at} ${KNOWN.token}`) })),
  { text: pieces(`Done with ${ALL} and ${LEAK}`, 11) },
];

const LATER: readonly ServerReply[] = [
  call('shell', { command: filler('later') }),
  { text: `once more ${ALL}` },
  { status: 401, error: { message: `the key ${OPERATOR_KEY} is wrong; ${KNOWN.token}` } },
];

function reply(script: readonly ServerReply[], seen: { at: number; job: string }, request: ServerRequest): ServerReply {
  const job = /\\"job_id\\":\\"([\w-]+)\\"/.exec(request.text)?.[1];
  if (job !== undefined) seen.job = job;
  // A side call brings no tools: the digest of what no longer fits.
  if (request.body.tools === undefined) return { text: `Done:\n- used ${ALL}` };
  const next = script[seen.at] ?? { text: `over ${KNOWN.token}` };
  seen.at += 1;
  return JSON.parse(JSON.stringify(next).replaceAll('{{job}}', seen.job)) as ServerReply;
}

describe('twenty and more planted secrets', PATIENT, () => {
  it('are in no artefact of a long session: database, events, recording, streams, exports, audit, requests', () => {
    const seen = { at: 0, job: 'none' };
    return onStage(
      (request) => reply([...SCRIPT, ...LATER], seen, request),
      async ({ run, state, work, server, file }) => {
        const secretsFile = `FILE_TOKEN=${KNOWN.fileToken}\nFILE_ODD='${KNOWN.fileOdd}'\n`;
        await writeFile(join(state, 'secrets.env'), secretsFile, { mode: 0o600 });
        await file('leak.txt', LEAK);
        await file('say.sh', `cat leak.txt; cat leak.txt >&2\n`);
        await file('AGENTS.md', `Use ${ALL}`);
        const env = {
          SERVICE_TOKEN: KNOWN.token,
          DB_PASSWORD: KNOWN.spaced,
          VENDOR_APIKEY: KNOWN.apiKey,
          SMTP_PASS: KNOWN.password,
          TLS_PRIVATEKEY: KNOWN.lines,
          NAMED_SECRET: KNOWN.variable,
        };
        const outputs: [string, Ended][] = [];
        const odek = async (...args: string[]): Promise<Ended> => {
          const ended = await run(args, { env });
          outputs.push([args.join(' ').slice(0, 60), ended]);
          return ended;
        };
        const tapes = ['--events-jsonl', 'events.jsonl', '--events-include-args', '--record', 'tape.json'];
        const ref = `ticket=https://t.example/?token=canary16${SIGN}&x=${KNOWN.token}`;
        const first = await odek('run', '--session', '--external-ref', ref, ...tapes, `use ${ALL}`);
        expect(first.stderr).toContain('session ');
        expect(first.code, first.stderr).toBe(0);
        const id = /session (\d{8}-[0-9a-f]{32})/.exec(first.stderr)?.[1] ?? '';
        expect((await odek('continue', '--id', id, '--json', `go on with ${ALL}`)).code).toBe(0);
        expect((await odek('continue', '--id', id, 'fail')).code).toBe(1);
        const talk = await run(['repl', '--id', id], { env, input: `say ${KNOWN.token}\n/info\n` });
        outputs.push(['repl', talk]);
        await odek('run', '--replay', 'tape.json', 'again');
        for (const args of [
          ['session', 'list', '--json'],
          ['session', 'show', id],
          ['session', 'show', id, '--json'],
          ['session', 'export', id],
          ['audit', '--list'],
          ['audit', id],
          ['plan', id],
          ['usage', '--json'],
          ['config', '--json'],
          ['doctor'],
          ['models'],
          ['continue', '--id', KNOWN.token, 'x'],
          ['run', `--${KNOWN.token}`],
          ['run', '--max-iterations', KNOWN.token, 'x'],
        ])
          await odek(...args);

        const artefacts = new Map<string, string>();
        for (const folder of [state, work]) for (const [path, text] of await everything(folder)) artefacts.set(path, text);
        expect([...artefacts.keys()].join(' ')).toMatch(/odek\.db/);
        expect([...artefacts.keys()].join(' ')).toMatch(/tape\.json/);
        for (const [name, { stdout, stderr }] of outputs) {
          artefacts.set(`stdout of odek ${name}`, stdout);
          artefacts.set(`stderr of odek ${name}`, stderr);
        }
        for (const { number, text, headers } of server.requests) {
          const { authorization, ...others } = headers;
          expect(authorization).toBe(`Bearer ${OPERATOR_KEY}`);
          artefacts.set(`request ${number}`, text);
          artefacts.set(`headers of request ${number}`, JSON.stringify(others));
        }
        // What is looked for is found where it was planted, so the search works.
        expect(leaks(new Map([['leak.txt', LEAK]])).length).toBeGreaterThan(20);
        expect(leaks(artefacts)).toEqual([]);
        // And the session was what it claims to be.
        expect(server.requests.length).toBeGreaterThan(25);
        const asked = server.requests.map(({ text }) => text).join('\n');
        for (const sign of [
          'source=\\"bg_output\\"',
          'source=\\"plan\\"',
          'source=\\"compaction\\"',
          'exit status 3',
          'Notes of this project',
        ]) {
          expect(asked.includes(sign), sign).toBe(true);
        }
        expect(server.requests.some(({ body }) => body.tools === undefined)).toBe(true);
        expect(talk.stdout).not.toBe('');
        expect([...artefacts.values()].join('')).toContain('[REDACTED]');
        const audit = outputs.find(([name]) => name === `audit ${id}`)?.[1].stdout ?? '';
        expect(JSON.parse(audit)).toMatchObject({ session_id: id });
        expect(JSON.parse(audit).ingests.length).toBeGreaterThan(10);
      },
      {
        config: {
          dangerous: { action: 'allow' },
          planning: { enabled: true },
          llm: { context_window: 24_000 },
          sinks: {
            otel: { endpoint: 'http://127.0.0.1:9', headers: { authorization: `Bearer ${KNOWN.header}`, 'x-names': '${NAMED_SECRET}' } },
          },
        },
      },
    );
  });
});
