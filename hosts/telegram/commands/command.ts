import type { InboxClaim } from '../../../ports/chat-inbox.ts';
import type { ChatMessage, ChatUser } from '../../../ports/chat-message.ts';
import type { Agents } from '../agents.ts';
import type { Base } from '../base.ts';
import type { Place } from '../rooms.ts';
import type { Runs, Task } from '../runs.ts';

/** What the bot as a whole can do for a command. */
export interface Bot {
  readonly base: Base;
  readonly runs: Runs;
  readonly agents: Agents;
  /** Looks at jobs again at once. */
  reloadJobs(): void;
  /** Ends the bot and starts it anew; `place` is told when it is there again. Undefined, or why it is not done. */
  restart(place: Place): Promise<string | undefined>;
}

/** One command that somebody gave. */
export interface CommandCall {
  readonly bot: Bot;
  readonly place: Place;
  readonly user: ChatUser;
  readonly message: ChatMessage;
  /** What stands behind the command. */
  readonly rest: string;
  /** The person may change jobs and restart the bot, here. */
  readonly isAdmin: boolean;
  readonly claim: InboxClaim;
  /** Says a text as it is; what is over 4096 units is cut. */
  reply(text: string): Promise<void>;
}

export interface Command {
  /** For the list that the app shows. */
  readonly description: string;
  /** Says what there is to say; a turn for the agent is given back. Errors of odek are said to the person. */
  run(call: CommandCall): Promise<Task | undefined> | Promise<void>;
}

/** A turn for the agent that a command makes. */
export function taskOf(call: CommandCall, text: string, more: Partial<Pick<Task, 'onAnswer' | 'original'>> = {}): Task {
  return { place: call.place, user: call.user.id, text, replyTo: call.message.id, claim: call.claim, isBegun: true, ...more };
}
