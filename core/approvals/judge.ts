import type { DangerAction, DangerClass, DangerPolicy } from '../../ports/approval.ts';
import type { ArgsSummary } from '../../ports/event.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { ToolEffects, ToolSpec } from '../../ports/plugin.ts';
import type { LineVerdict, ShellContext } from '../danger/judge-line.ts';
import type { McpMark } from '../mcp/tool.ts';
import { actionOf, decidingClass, isExplicitlyAllowed, ranked } from './actions.ts';
import { effectsOf, inWords } from './declared.ts';
import { judgeHost } from './host-rules.ts';
import { type Finding, judgeRead, judgeWrite } from './path-rules.ts';

/** What a call means to the user's world, and what the operator's policy makes of it. Texts are raw; the gate makes them safe to show. */
export interface Judgement {
  /** Every class the call triggers, in rank order; at least one. */
  readonly classes: readonly DangerClass[];
  /** The one that decides: the strictest by action, then by rank. */
  readonly class: DangerClass;
  readonly action: DangerAction;
  /** The whole command, the paths or the hosts. */
  readonly resource: string;
  /** Why the call has its class, or why it is refused. */
  readonly reason: string;
  /** What was found about everything the call touches; the same call in a changed world has others. */
  readonly findings: readonly string[];
  /** Refused by a rule that no policy and no person changes. */
  readonly refused: boolean;
  /** The operator's own words, not a built-in default, allow it. */
  readonly explicit: boolean;
  /** `dangerous.non_interactive` does not speak for it. */
  readonly needsPerson?: boolean;
  /** A person is asked about this very call, whatever they trust and whatever the rule is where nobody can be asked. */
  readonly everyCall?: boolean;
  /** Who wants a person to be asked about this very call, for messages. */
  readonly askedBy?: string;
  /** Whose own trust counts: what a person trusts elsewhere does not cover this, and the other way round. Absent: everybody's. */
  readonly scope?: string;
  readonly summary: ArgsSummary;
}

export interface JudgeRequest {
  readonly tool: ToolSpec;
  /** The arguments as validated. */
  readonly input: unknown;
  readonly fs: FileSystem;
  readonly policy: DangerPolicy;
  /** Set for the tool of an MCP server: whether its registration is its approval, or each call asks. */
  readonly mcp?: Pick<McpMark, 'approve'> | undefined;
  /** How command lines are read; absent: every command is `unknown`. */
  readonly shell?: ShellContext | undefined;
  /** `host:port` entries on this machine or in its network that the operator admitted. */
  readonly reachable?: readonly string[] | undefined;
  /** The tool is a third party's: what it declares is shown and not believed. */
  readonly foreign?: boolean | undefined;
}

const MAX_SHOWN_INPUT = 2000;

/**
 * Judges one call by the effects its tool declares. Order: refusals, allowlist, denylist, the
 * operator's word for the class, the operator's global action, built-in defaults. A call that touches
 * nothing outside the run is allowed or denied, never asked about. Never rejects: what cannot be judged
 * is `unknown`, and a path that cannot be resolved is refused.
 */
export async function judgeCall(request: JudgeRequest): Promise<Judgement> {
  const { tool, input, fs, policy, shell, mcp } = request;
  if (mcp !== undefined) return judgeMcp(tool, input, policy, mcp.approve);
  const effects = effectsOf(tool, input);
  if (request.foreign === true) return foreign(tool, input, effects, policy);
  if (!effects) return concluded(unjudged(tool, input), policy);
  const line = effects.command === undefined ? undefined : await lineVerdict(effects.command, fs, shell, policy);
  const findings = [...(await findTargets(effects, request)), ...findingsOf(line)];
  const resource = resourceOf(effects) || tool.name;
  const facts = { findings, resource, summary: summaryOf(effects, line) };
  const refusal = findings.find((finding) => finding.refused);
  if (refusal) return verdict(facts, policy, { action: 'deny', class: refusal.class, reason: refusal.reason, refused: true });
  return line === undefined ? concluded(facts, policy) : underLists(line, facts, policy);
}

/**
 * A tool of an MCP server says nothing about what it touches, and was let in by a person all the same.
 * That is its approval, except where the operator's own `dangerous.action` denies what is unknown.
 */
function judgeMcp(tool: ToolSpec, input: unknown, policy: DangerPolicy, approve: McpMark['approve']): Judgement {
  const judged = concluded(unjudged(tool, input), policy);
  if (policy.action === 'deny' && judged.action === 'deny') return { ...judged, reason: 'dangerous.action is "deny"' };
  if (approve === 'register') return { ...judged, action: 'allow', reason: 'its registration was approved', explicit: true };
  return { ...judged, action: 'prompt', reason: 'its server is set to approve: "call"', explicit: false, everyCall: true };
}

interface Facts {
  readonly findings: readonly Finding[];
  readonly resource: string;
  readonly summary: ArgsSummary;
}

/** What knows commands is loaded with the first of them: most starts need none of it. */
async function lineVerdict(line: string, fs: FileSystem, shell: ShellContext | undefined, policy: DangerPolicy): Promise<LineVerdict> {
  const { judgeLine } = await import('../danger/judge-line.ts');
  return judgeLine(line, fs, shell, policy);
}

/** The allowlist speaks before the denylist, and both before the classes; nothing speaks for what is blocked. */
function underLists(line: LineVerdict, facts: Facts, policy: DangerPolicy): Judgement {
  const judged = concluded(facts, policy);
  if (judged.classes.some((cls) => cls === 'blocked' || policy.never?.includes(cls))) return judged;
  const otherwiseAllowed = facts.findings.every(({ command, class: cls }) => command || actionOf(cls, policy) === 'allow');
  if (line.allowlisted && otherwiseAllowed) return { ...judged, action: 'allow', reason: 'the operator allows this line', explicit: true };
  if (line.denylistedBy === undefined || line.allowlisted) return judged;
  return { ...judged, action: 'deny', reason: `dangerous.denylist has ${JSON.stringify(line.denylistedBy)}`, explicit: false };
}

function concluded(facts: Facts, policy: DangerPolicy): Judgement {
  return verdict(facts, policy, {});
}

function verdict(facts: Facts, policy: DangerPolicy, fixed: Partial<Judgement>): Judgement {
  const classes = ranked(facts.findings.length === 0 ? ['safe'] : facts.findings.map((finding) => finding.class));
  const cls = fixed.class ?? decidingClass(classes, policy);
  const reason = facts.findings.find((finding) => finding.class === cls)?.reason ?? 'it touches nothing outside the run';
  const action = actionOf(cls, policy);
  // Without a path, a host or a command there is nothing that a person could weigh.
  const isPointless = action === 'prompt' && facts.findings.length === 0;
  return {
    classes,
    class: cls,
    action: isPointless ? 'allow' : action,
    resource: facts.resource,
    reason,
    findings: facts.findings.map((finding) => `${finding.class}: ${finding.reason}`),
    refused: false,
    ...fixed,
    explicit: !fixed.refused && classes.every((each) => each === 'safe' || isExplicitlyAllowed(each, policy)),
    summary: { ...facts.summary, class: cls },
  };
}

async function findTargets(effects: ToolEffects, { fs, shell, reachable = [] }: JudgeRequest): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const path of effects.writes ?? []) {
    const change = effects.changes?.find((each) => each.path === path);
    findings.push(await judgeWrite(path, fs, { change, home: shell?.home }));
  }
  for (const path of effects.reads ?? []) findings.push(await judgeRead(path, fs));
  const hosts = effects.hosts ?? [];
  for (const host of hosts.length === 0 && effects.uploads ? ['a host it does not name'] : hosts) {
    findings.push(...judgeHost(host, effects.uploads === true, reachable));
  }
  return findings;
}

function findingsOf(line: LineVerdict | undefined): readonly Finding[] {
  return (line?.findings ?? []).map((finding) => ({ ...finding, refused: false, command: true }));
}

/** Code of a third party may do anything. A person decides; without one, only the operator's action for everything does. */
function foreign(tool: ToolSpec, input: unknown, effects: ToolEffects | undefined, policy: DangerPolicy): Judgement {
  const says = effects === undefined ? 'does not say what it would touch' : `says it would ${inWords(effects)}`;
  const reason = `"${tool.name}" is code of a third party; it ${says}`;
  const facts = {
    findings: [{ class: 'code_execution', reason, refused: false }] as const,
    resource: `${tool.name} ${shownInput(input)}`,
    summary: {},
  };
  return { ...concluded(facts, policy), explicit: policy.action === 'allow', needsPerson: policy.action !== 'allow' };
}

function unjudged(tool: ToolSpec, input: unknown): Facts {
  const finding: Finding = { class: 'unknown', reason: `the tool "${tool.name}" does not say what it would touch`, refused: false };
  return { findings: [finding], resource: `${tool.name} ${shownInput(input)}`, summary: {} };
}

function resourceOf({ command, reads, writes, hosts }: ToolEffects): string {
  if (command !== undefined) return command;
  return [...new Set([...(writes ?? []), ...(reads ?? []), ...(hosts ?? [])])].join(', ');
}

function summaryOf({ reads, writes, hosts }: ToolEffects, line: LineVerdict | undefined): ArgsSummary {
  const argv0 = line?.program;
  const paths = [...new Set([...(writes ?? []), ...(reads ?? [])])];
  const only = paths.length === 1 ? paths[0] : undefined;
  const host = hosts?.[0];
  return {
    ...(argv0 === undefined ? {} : { argv0 }),
    ...(paths.length === 0 ? {} : { path: only ?? paths }),
    ...(host === undefined ? {} : { host }),
  };
}

function shownInput(input: unknown): string {
  try {
    return (JSON.stringify(input) ?? '').slice(0, MAX_SHOWN_INPUT);
  } catch {
    return '';
  }
}
