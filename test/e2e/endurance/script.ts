/** The task of the endurance run and the model that does it: everything it decides, it decides from what it is sent. */
import { estimateRequest } from '../../../core/budget/estimate.ts';
import { extractPlan } from '../../../core/plan/extract.ts';
import type { ModelRequest } from '../../../ports/llm.ts';
import type { AssistantMessage, Message, ToolMessage } from '../../../ports/message.ts';

export const STEPS = 2_000;
export const WINDOW = 32_768;
export const PHASES = 20;
const STEPS_PER_PHASE = STEPS / PHASES;

export const SYSTEM = 'You measure.';
export const TASK = 'Measure all 2000 steps, note each checkpoint, keep the plan, and report. The word is cormorant.';

/** What step `step` measures; known to the tool alone. */
export function measurement(step: number): string {
  return ((step * 2_654_435_761) % 4_294_967_296).toString(16).padStart(8, '0');
}

/** Of different lengths, some shortened by a trim and some not. */
export function measureResult(step: number): string {
  const noise = `reading ${step} of the instrument, nothing to see here\n`;
  return `step ${step} measures ${measurement(step)}\n${noise.repeat(2 + ((step * 7) % 60))}`;
}

const CHECKPOINT = /checkpoint (\d+) is ([0-9a-f]{8})/g;

function checkpointsIn(text: string): ReadonlyMap<number, string> {
  return new Map([...text.matchAll(CHECKPOINT)].map((match) => [Number(match[1]), match[2] ?? '']));
}

/** The answer of a run in which nothing was lost. */
export function expectedAnswer(): string {
  const noted = Array.from({ length: PHASES }, (_, at) => `${at + 1}=${measurement((at + 1) * STEPS_PER_PHASE - 1)}`);
  return `cormorant; plan ${PHASES}/${PHASES}; ${noted.join(' ')}`;
}

interface Position {
  /** Measured for certain. */
  readonly measured: number;
  /** What the last measurement said. */
  readonly value: string;
}

function stepOf(message: Message, callId: string): number | undefined {
  const call = message.role === 'assistant' ? message.toolCalls?.find(({ id, name }) => id === callId && name === 'measure') : undefined;
  return call === undefined ? undefined : (JSON.parse(call.arguments) as { step: number }).step;
}

/** The newest measurement that completed. */
function positionOf(messages: readonly Message[]): Position {
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const result = messages[at];
    if (result?.role !== 'tool' || result.name !== 'measure' || result.outcome !== 'completed') continue;
    const asked = messages.slice(0, at).findLast((message) => message.role === 'assistant');
    const measured = asked === undefined ? undefined : stepOf(asked, result.callId);
    return { measured: measured ?? 0, value: /measures ([0-9a-f]{8})/.exec(result.content)?.[1] ?? 'lost' };
  }
  return { measured: 0, value: '' };
}

interface Call {
  readonly name: 'measure' | 'plan';
  readonly args: object;
}

function asking(calls: readonly Call[], nextId: () => string, content = ''): AssistantMessage {
  return {
    role: 'assistant',
    content,
    toolCalls: calls.map(({ name, args }) => ({ id: nextId(), name, arguments: JSON.stringify(args) })),
  };
}

const createPlan: Call = {
  name: 'plan',
  args: {
    verb: 'create',
    steps: Array.from({ length: PHASES }, (_, at) => ({ id: `s${at + 1}`, title: `Measure phase ${at + 1}` })),
  },
};

const completePhase = (phase: number): Call => ({ name: 'plan', args: { verb: 'complete', step_id: `s${phase}` } });

/** The model's reply in the main conversation. */
export function reply({ messages }: ModelRequest, nextId: () => string): AssistantMessage {
  const plan = extractPlan(messages);
  if (!plan.found) return asking([createPlan], nextId);
  const { measured, value } = positionOf(messages);
  const finished = Math.floor(measured / STEPS_PER_PHASE);
  // A phase that is measured but not done in the plan: its plan call was lost to a kill.
  if (plan.done < finished) return asking([completePhase(plan.done + 1)], nextId);
  if (measured < STEPS) {
    const step = measured + 1;
    const measure: Call = { name: 'measure', args: { step } };
    if (step % STEPS_PER_PHASE !== 0) return asking([measure], nextId);
    const phase = step / STEPS_PER_PHASE;
    return asking([measure, completePhase(phase)], nextId, `checkpoint ${phase} is ${value}`);
  }
  const noted = [...knownCheckpoints(messages)].sort(([a], [b]) => a - b).map(([phase, noticed]) => `${phase}=${noticed}`);
  return { role: 'assistant', content: `${wordOf(messages)}; plan ${plan.done}/${plan.total}; ${noted.join(' ')}` };
}

function wordOf(messages: readonly Message[]): string {
  return /The word is (\w+)\./.exec(messages.find((message) => message.role === 'user')?.content ?? '')?.[1] ?? 'forgotten';
}

function knownCheckpoints(messages: readonly Message[]): ReadonlyMap<number, string> {
  const told = messages.filter(({ role }) => role === 'assistant' || role === 'system').map(({ content }) => content);
  return checkpointsIn(told.join('\n'));
}

/** The model's reply to a request for a digest: it keeps the checkpoints it is shown, and little else. */
export function digestReply({ messages }: ModelRequest): string {
  const shown = checkpointsIn(messages.map(({ content }) => content).join('\n'));
  const noted = [...shown].map(([phase, value]) => `- checkpoint ${phase} is ${value}`);
  return ['Task:', '- measure', 'Done:', '- measured a good deal', 'Decisions:', ...noted].join('\n');
}

function resultsFollow(messages: readonly Message[]): boolean {
  let waiting: readonly string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      if (waiting[0] !== (message satisfies ToolMessage).callId) return false;
      waiting = waiting.slice(1);
    } else if (waiting.length > 0) {
      return false;
    } else if (message.role === 'assistant') {
      waiting = (message.toolCalls ?? []).map(({ id }) => id);
    }
  }
  return waiting.length === 0;
}

/** What is wrong with a request of the run; `undefined` when nothing is. */
export function faultOf(request: ModelRequest): string | undefined {
  const { messages, tools } = request;
  if (!resultsFollow(messages)) return 'a call without its result behind it, or a result without its call';
  const tokens = estimateRequest(messages, tools);
  if (tokens > WINDOW * 0.75) return `${tokens} tokens are more than the budget`;
  if (messages[0]?.content !== SYSTEM) return 'the system prompt is gone';
  const task = messages.findIndex((message) => message.role === 'user');
  if (messages[task]?.content !== TASK) return 'the task is gone';
  const { measured } = positionOf(messages);
  if (measured === 0) return undefined;
  const digest = messages[task + 1]?.content.startsWith('[Compacted earlier context:') ? 1 : 0;
  const planned = extractPlan(messages.slice(task + 1 + digest, task + 2 + digest));
  if (planned.total !== PHASES) return 'the plan is not in its place';
  const isTrimmed = messages.some(({ role, content }) => role === 'system' && /^\[Context trimmed: [1-9]/.test(content));
  if (isTrimmed && digest === 0) return 'the digest is not in its place';
  const known = knownCheckpoints(messages);
  for (let phase = 1; phase * STEPS_PER_PHASE <= measured; phase += 1) {
    if (known.get(phase) !== measurement(phase * STEPS_PER_PHASE - 1)) return `checkpoint ${phase} is lost`;
  }
  return undefined;
}
