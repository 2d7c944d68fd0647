import { displayText } from '../../core/approvals/display.ts';
import type { ChatText } from '../../ports/chat-message.ts';
import type { RunEvent } from '../../ports/event.ts';
import { formatBytes } from '../cli/render/figures.ts';
import { argsPreview, toolGlyph } from '../cli/render/tool-preview.ts';
import type { ResolvedConfig } from '../config/types.ts';
import type { Base } from './base.ts';
import { type Bubble, createBubbles } from './bubble.ts';
import type { Place } from './rooms.ts';
import { plain } from './talk.ts';

export type ProgressMode = ResolvedConfig['telegram']['progress'];

/** What a person sees while a run works. None of it rejects. */
export interface Progress {
  onEvent(event: RunEvent): void;
  /** Something was sent below: what comes next is a message of its own. */
  renew(): void;
  end(): Promise<void>;
}

/** Says that work begins and shows it from then on. */
export type OpenProgress = (place: Place, mode: ProgressMode, replyTo?: number) => Progress;

const BEGUN = '🤔 Looking into that...';
const PREVIEW_CELLS = 60;
const VERBOSE_CHARS = 600;
const MAX_WORDS = 20;
const MAX_LINES = 12;
const MAX_REASONING = 4_000;

/** The first sentence of what the model thinks, where it has fewer than 20 words. */
export function firstSentence(reasoning: string): string | undefined {
  const found = /^\s*([^\n]*?[.!?…。！？])(?=\s|$)/.exec(reasoning.slice(0, MAX_REASONING))?.[1];
  if (found === undefined) return undefined;
  const text = found.replaceAll(/[*_`#>]/g, '').trim();
  return text !== '' && text.split(/\s+/).length < MAX_WORDS ? displayText(text) : undefined;
}

type Started = Extract<RunEvent, { type: 'tool_call_started' }>;

/** `📖 read_file: "main.go"`; in words of its own for what runs in the background. */
function preview({ tool = 'tool', args, data }: Started, isVerbose: boolean): string {
  const glyph = toolGlyph(tool);
  if (isVerbose) return `${glyph} ${tool} ${displayText((args ?? '').slice(0, VERBOSE_CHARS))}`;
  const text = argsPreview(args, data.args_summary, PREVIEW_CELLS);
  return text === '' ? `${glyph} ${tool}` : `${glyph} ${tool}: "${text}"`;
}

interface Line {
  readonly text: string;
  readonly callId?: string;
  count: number;
  end?: string;
}

const shownLine = ({ text, count, end }: Line): string => `${text}${count > 1 ? ` (×${count})` : ''}${end === undefined ? '' : ` ${end}`}`;

/** Lines of what happens, told to whoever shows them. */
function createLines(isVerbose: boolean, onChange: (lines: readonly Line[], added: Line | undefined) => void) {
  const lines: Line[] = [];
  let reasoning = '';
  let isTold = false;

  const add = (text: string, callId?: string): void => {
    const last = lines.at(-1);
    if (last?.text === text && last.end === undefined) {
      last.count += 1;
      onChange(lines, undefined);
      return;
    }
    const line: Line = { text, count: 1, ...(callId !== undefined && { callId }) };
    lines.push(line);
    if (lines.length > MAX_LINES) lines.shift();
    onChange(lines, line);
  };

  const tell = (text: string): void => {
    if (isTold) return;
    const sentence = firstSentence(text);
    if (sentence === undefined) return;
    isTold = true;
    add(`💭 ${sentence}`);
  };

  const end = (callId: string, text: string): void => {
    const line = lines.find((each) => each.callId === callId);
    if (line === undefined || !isVerbose) return;
    line.end = text;
    onChange(lines, undefined);
  };

  return {
    see(event: RunEvent): void {
      switch (event.type) {
        case 'iteration_started':
          reasoning = '';
          isTold = false;
          break;
        case 'reasoning_delta':
          if (isTold || reasoning.length > MAX_REASONING) break;
          reasoning += event.text;
          tell(reasoning);
          break;
        case 'message':
          if (!event.final) tell(reasoning === '' ? `${event.message.content} ` : `${reasoning} `);
          break;
        case 'tool_call_started':
          add(preview(event, isVerbose), event.data.call_id);
          break;
        case 'tool_call_completed':
          end(event.data.call_id, `✅ (${event.data.duration_ms} ms, ${formatBytes(event.data.result_bytes)})`);
          break;
        case 'tool_call_failed':
          end(event.data.call_id, `❌ (${event.data.duration_ms} ms)`);
          break;
      }
    },
    clear(): void {
      lines.length = 0;
    },
  };
}

const linesText = (lines: readonly Line[]): ChatText => plain([BEGUN, ...lines.map(shownLine)].join('\n'));

/** Progress in the chats of one bot. */
export function openProgressOf({ bot, clock, signal, config, talk }: Base): OpenProgress {
  const openBubble = createBubbles({ messages: bot.messages, clock, signal });
  const end = (bubble: Bubble): Promise<void> => (config.telegram.progress_cleanup ? bubble.remove() : bubble.leave());

  return (place, mode) => {
    if (mode === 'off') return { onEvent() {}, renew() {}, async end() {} };
    const bubble = openBubble(place, { silent: true });
    bubble.show(plain(BEGUN));
    if (mode === 'new') {
      const lines = createLines(false, (_, added) => {
        if (added !== undefined) void talk.post(place, plain(shownLine(added)), { silent: true });
      });
      return { onEvent: lines.see, renew() {}, end: () => end(bubble) };
    }
    const lines = createLines(mode === 'verbose', (all) => bubble.show(linesText(all)));
    return {
      onEvent: lines.see,
      renew() {
        lines.clear();
        bubble.renew();
      },
      end: () => end(bubble),
    };
  };
}
