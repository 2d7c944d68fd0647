import { describe, expect, it } from 'vitest';
import { createShellGrammar } from '../../../adapters/shell-grammar/unbash.ts';
import { judgeCall } from '../../../core/approvals/judge.ts';
import { scheduleDanger } from '../../../hosts/schedule/danger.ts';
import { DANGER_CLASSES, type DangerAction, type DangerClass } from '../../../ports/approval.ts';
import { sampleTool } from '../../contracts/plugin.broken.ts';
import { createMemoryFileSystem } from '../../fakes/file-system.ts';
import { makeHome } from '../config/home.ts';

async function configOf(config: object) {
  const home = await makeHome();
  try {
    await home.global(config);
    return (await home.load()).config;
  } finally {
    await home.remove();
  }
}

const classesOf = async (config: object, canAsk = false) => scheduleDanger(await configOf(config), canAsk).classes;
const those = (classes: Readonly<Partial<Record<DangerClass, DangerAction>>>, action: DangerAction) =>
  DANGER_CLASSES.filter((cls) => classes[cls] === action);
const ALWAYS_DENIED = ['unread_exec', 'persistence', 'destructive', 'blocked'];

describe('a scheduled run', () => {
  it('does without being asked what is allowed by default, and nothing that would ask', async () => {
    expect(those(await classesOf({}), 'allow')).toEqual(['safe', 'local_write', 'network_egress']);
    expect(those(await classesOf({}), 'prompt')).toEqual([]);
  });

  it('may do what schedules.dangerous grants, but never what is always denied', async () => {
    const granted = await classesOf({ schedules: { dangerous: { classes: { network_upload: 'allow', unknown: 'allow' } } } });
    expect(those(granted, 'allow')).toEqual(['safe', 'local_write', 'network_egress', 'network_upload', 'unknown']);
    expect(those(await classesOf({ schedules: { dangerous: { action: 'allow' } } }), 'deny')).toEqual(ALWAYS_DENIED);
  });

  it('gets nothing from what is granted where somebody watches, and loses what is denied there', async () => {
    const classes = await classesOf({ dangerous: { classes: { install: 'allow', network_egress: 'prompt', local_write: 'deny' } } });
    expect(those(classes, 'allow')).toEqual(['safe']);
    expect(those(await classesOf({ dangerous: { action: 'deny' } }), 'allow')).toEqual([]);
  });

  it('asks where somebody answers, about what would ask by default', async () => {
    expect(those(await classesOf({}, true), 'prompt')).toEqual(['install', 'network_upload', 'code_execution', 'system_write']);
    const classes = await classesOf({ schedules: { dangerous: { classes: { install: 'deny', unknown: 'prompt' } } } }, true);
    expect(those(classes, 'prompt')).toEqual(['network_upload', 'code_execution', 'system_write', 'unknown']);
    expect(those(await classesOf({ schedules: { dangerous: { action: 'prompt' } } }, true), 'deny')).toEqual(ALWAYS_DENIED);
  });

  it('has its own allowlist, and both denylists', async () => {
    const danger = scheduleDanger(
      await configOf({
        dangerous: { allowlist: ['make'], denylist: ['git push'] },
        schedules: { dangerous: { allowlist: ['make nightly'], denylist: ['npm publish'] } },
      }),
      false,
    );
    expect([danger.allowlist, danger.denylist, danger.non_interactive]).toEqual([['make nightly'], ['git push', 'npm publish'], 'deny']);
  });
});

describe('a class that is never allowed', () => {
  it('stays denied although the allowlist has the very line', async () => {
    const { never = [], ...danger } = scheduleDanger(await configOf({ schedules: { dangerous: { allowlist: ['rm -rf /srv'] } } }), false);
    const tool = sampleTool({ effects: () => ({ command: 'rm -rf /srv' }) });
    const judge = (extra: object) =>
      judgeCall({
        tool,
        input: { text: 'x' },
        fs: createMemoryFileSystem(),
        policy: { ...danger, nonInteractive: 'deny', ...extra },
        shell: { grammar: createShellGrammar() },
      });
    expect(await judge({})).toMatchObject({ action: 'allow', class: 'destructive' });
    expect(await judge({ never })).toMatchObject({ action: 'deny', class: 'destructive' });
  });
});
