import type { ErrorClass } from '../../ports/event.ts';
import type { ToolOutcome } from '../../ports/message.ts';
import { type Judgement, judgeCall } from '../approvals/judge.ts';
import type { ShellContext } from '../danger/judge-line.ts';
import { ledgerOf, ledgerPath, needsBefore, sawAll } from '../danger/ledger.ts';
import { delimitResult, shapeResult } from '../results/shape.ts';
import { utf8Length } from '../results/utf8.ts';
import type { CallServices } from './attached-services.ts';
import { executeTool } from './execute.ts';
import type { ReadyCall } from './prepare.ts';
import type { CallScope } from './scope.ts';

/** How a call ended, before it is stored or sent anywhere. */
export interface Ending {
  readonly outcome: ToolOutcome;
  /** What the model reads. */
  readonly content: string;
  /** What a person sees: redacted and bounded, without wrapper. */
  readonly visible: string;
  /** Label of the untrusted wrapper, redacted; absent where odek wrote the text. */
  readonly source?: string;
  readonly bytes: number;
  readonly errorClass: ErrorClass;
  readonly durationMs: number;
  /** Artifacts that came with the result. */
  readonly artifactCount?: number;
}

const ERROR_CLASS: Readonly<Partial<Record<ToolOutcome, ErrorClass>>> = { cancelled: 'context_canceled' };

/** An ending that odek itself wrote: no untrusted text in it. */
export function ownEnding({ deps }: Pick<CallScope, 'deps'>, tool: string, outcome: ToolOutcome, text: string): Ending {
  const visible = deps.redactor.text(text);
  const content = delimitResult(tool, deps.ids.hex(8), visible);
  return { outcome, content, visible, bytes: utf8Length(visible), errorClass: ERROR_CLASS[outcome] ?? 'tool_error', durationMs: 0 };
}

/** How this scope reads command lines. */
export function shellContext({ deps, settings, sessionId }: CallScope): ShellContext | undefined {
  if (deps.shell === undefined) return undefined;
  return {
    grammar: deps.shell,
    home: settings.home,
    tempDirs: settings.tempDirs,
    reachable: settings.reachableHosts,
    ledger: ledgerOf(deps.fs, sessionId),
  };
}

/** What a validated call means to the user's world. Never rejects. */
export async function judgeReady(scope: CallScope, ready: ReadyCall): Promise<Judgement> {
  const judged = await judgeCall({
    tool: ready.tool.spec,
    input: ready.input,
    fs: scope.deps.fs,
    policy: scope.settings.danger,
    shell: shellContext(scope),
    mcp: ready.tool.mcp,
    foreign: scope.deps.isForeign?.(ready.tool.owner),
    reachable: scope.settings.reachableHosts,
  });
  // A card or a denial shortens what it shows, so secrets are hidden before that.
  const { text } = scope.deps.redactor;
  return asked({ ...judged, ...scopeOf(scope, ready), resource: text(judged.resource), reason: text(judged.reason) }, ready, text);
}

/** Trust in one build of a third party's code is no trust in another one, or in the model. */
function scopeOf({ deps }: CallScope, { tool }: ReadyCall): Pick<Judgement, 'scope'> {
  if (tool.mcp !== undefined || deps.isForeign?.(tool.owner) !== true) return {};
  return { scope: deps.foreignBuild?.(tool.owner) ?? tool.owner };
}

/** What a listener wants asked is asked, unless it is denied already. */
function asked(judged: Judgement, { ask }: ReadyCall, redact: (text: string) => string): Judgement {
  if (ask === undefined || judged.refused || judged.action === 'deny') return judged;
  const reason = `${redact(ask.reason)} (${ask.by}); ${judged.reason}`;
  return { ...judged, action: 'prompt', explicit: false, everyCall: true, askedBy: ask.by, reason };
}

async function executeAndShape(scope: CallScope, ready: ReadyCall, services?: CallServices): Promise<Ending> {
  const { deps } = scope;
  const startedAt = deps.clock.monotonic();
  const raw = await executeTool(scope, ready, services);
  const shaped = shapeResult({
    tool: ready.call.name,
    text: raw.content,
    source: raw.source,
    ...(ready.tool.spec.maxResultChars !== undefined && { maxResultChars: ready.tool.spec.maxResultChars }),
    notice: ready.tool.mcp?.notice,
    appendix: [...raw.artifacts, ...(ready.notes ?? [])],
    redactor: deps.redactor,
    ids: deps.ids,
  });
  const errorClass: ErrorClass = raw.timedOut ? 'deadline_exceeded' : (ERROR_CLASS[raw.outcome] ?? 'tool_error');
  const durationMs = deps.clock.monotonic() - startedAt;
  return {
    outcome: raw.outcome,
    content: shaped.forModel,
    visible: shaped.visible,
    bytes: shaped.bytes,
    source: shaped.source,
    errorClass,
    durationMs,
    artifactCount: raw.artifacts.length,
  };
}

/** Executes what was authorised, shapes the result, and books which file the model has now seen whole. */
export async function performCall(scope: CallScope, ready: ReadyCall, services?: CallServices): Promise<Ending> {
  const path = ledgerPath(ready.call.name, ready.input);
  if (path === undefined) return executeAndShape(scope, ready, services);
  const ledger = ledgerOf(scope.deps.fs, scope.sessionId);
  const before = needsBefore(ready.call.name) && (await ledger.holds(path));
  const ending = await executeAndShape(scope, ready);
  if (ending.outcome === 'completed' && sawAll(ready.call.name, ready.input, ending.visible, before)) await ledger.note(path);
  return ending;
}
