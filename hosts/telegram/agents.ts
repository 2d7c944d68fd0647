import { resolve } from 'node:path';
import { type SendMessage, sendMessagePlugin } from '../../plugins/send-message/index.ts';
import type { Approver } from '../../ports/approval.ts';
import type { Clarifier } from '../../ports/clarifier.ts';
import type { RunEvent } from '../../ports/event.ts';
import type { JobView } from '../../ports/job.ts';
import { type Composed, closeInOrder, compose } from '../compose.ts';
import { selectProvider } from '../config/select.ts';
import type { ResolvedConfig } from '../config/types.ts';
import type { HostEnvironment } from '../environment.ts';
import { isPlanning } from '../planning.ts';
import { buildSystemPrompt } from '../system-prompt.ts';
import type { Base } from './base.ts';
import { TELEGRAM_POLICY } from './policy.ts';
import { type Place, sessionIdOf } from './rooms.ts';

/** The agent of one place, with what its person trusts and what it read. */
export interface RoomAgent {
  readonly composed: Composed;
  readonly environment: HostEnvironment;
}

/** What only the place has. */
export interface RoomEdges {
  readonly approver: Approver;
  readonly clarifier: Clarifier;
  readonly send: SendMessage;
  onEvent(event: RunEvent): void;
}

/** Agents of places, made when they are needed and given back when they were quiet for long. */
export interface Agents {
  /** Rejects with the first setup error. */
  open(place: Place, edges: RoomEdges): Promise<RoomAgent>;
  /** The place is not at work any more, for now. */
  rest(place: Place): void;
  /** Background jobs of the place's conversation, oldest first; none where its agent is not there. */
  jobsOf(place: Place): Promise<readonly JobView[]>;
  /** Gives an agent back, and with it trust and what was read. */
  close(place: Place): Promise<void>;
  closeAll(): Promise<void>;
}

interface Kept {
  readonly agent: Promise<RoomAgent>;
  busy: boolean;
  usedAt: number;
}

/** Agents of quiet places beyond this are given back early. */
const MAX_QUIET = 16;
/** And beyond this, also where commands run in the background. */
const MAX_WORKING = 64;
const HOUR_MS = 3_600_000;
const APPROVAL_SECONDS = 120;
/** What the model is told of where it is. */
const SHOWN_AS =
  'Telegram chat. Your answer is read on a phone: short paragraphs, Markdown, in the language of the person. To send files with it, begin it with lines such as MEDIA:photo:/absolute/path (photo, voice or document)';

/** The configuration under which people of a chat are asked and MCP servers are not there. */
function chatConfig(config: ResolvedConfig): ResolvedConfig {
  const { dangerous } = config;
  return {
    ...config,
    mcp_servers: {},
    dangerous: { ...dangerous, approval_timeout_seconds: Math.min(APPROVAL_SECONDS, dangerous.approval_timeout_seconds) },
  };
}

export function createAgents(base: Base): Agents {
  const { clock, log } = base;
  const kept = new Map<string, Kept>();
  const config = chatConfig(base.config);

  const environmentOf = async (): Promise<HostEnvironment> => ({
    config,
    selection: selectProvider(config),
    env: base.env,
    workspace: base.workspace,
    systemPrompt: await buildSystemPrompt(
      config,
      { workspace: base.workspace, surface: SHOWN_AS, now: clock.now(), planning: isPlanning(config) },
      (text) => log('warning', text),
    ),
    dataDirOf: (plugin) => resolve(config.state.home, 'plugins', plugin, 'data'),
    eventsIncludeArgs: false,
  });

  const make = async (place: Place, { approver, clarifier, send, onEvent }: RoomEdges): Promise<RoomAgent> => {
    const environment = await environmentOf();
    const composed = await compose(TELEGRAM_POLICY, environment, {
      approver,
      clarifier,
      plugins: [sendMessagePlugin(send)],
      signal: base.signal,
      onEvent,
      log: (level, text) => log(level === 'warning' || level === 'error' ? 'warning' : 'debug', `${sessionIdOf(place)}: ${text}`),
    });
    return { composed, environment };
  };

  const give = async (key: string): Promise<void> => {
    const found = kept.get(key);
    kept.delete(key);
    const agent = await found?.agent.catch(() => undefined);
    await agent?.composed.close();
  };

  /** Not where something runs in the background: that would end with it. */
  const giveIdle = async (key: string): Promise<void> => {
    const found = kept.get(key);
    const agent = await found?.agent.catch(() => undefined);
    const isWorking = agent?.composed.root.jobs?.look(key).some(({ status }) => status === 'running');
    if (kept.get(key) === found && found?.busy === false && isWorking !== true) await give(key);
  };

  const tidy = (): void => {
    const quiet = [...kept].filter(([, { busy }]) => !busy).sort(([, one], [, other]) => other.usedAt - one.usedAt);
    const oldest = clock.now() - config.telegram.session_ttl_hours * HOUR_MS;
    for (const [index, [key, { usedAt }]] of quiet.entries()) {
      if (index >= MAX_WORKING || usedAt < oldest) void give(key);
      else if (index >= MAX_QUIET) void giveIdle(key);
    }
  };

  return {
    async open(place, edges) {
      const key = sessionIdOf(place);
      tidy();
      const found = kept.get(key) ?? { agent: make(place, edges), busy: true, usedAt: clock.now() };
      kept.set(key, found);
      found.busy = true;
      try {
        return await found.agent;
      } catch (error) {
        if (kept.get(key) === found) kept.delete(key);
        throw error;
      }
    },
    rest(place) {
      const found = kept.get(sessionIdOf(place));
      if (found === undefined) return;
      found.busy = false;
      found.usedAt = clock.now();
      tidy();
    },
    async jobsOf(place) {
      const key = sessionIdOf(place);
      const agent = await kept.get(key)?.agent.catch(() => undefined);
      return agent?.composed.root.jobs?.look(key) ?? [];
    },
    close: (place) => give(sessionIdOf(place)),
    closeAll: () =>
      closeInOrder(
        clock,
        [...kept.keys()].map((key) => () => give(key)),
      ),
  };
}
