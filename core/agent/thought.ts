import type { CallSpeed } from '../../ports/event.ts';
import type { FinishReason } from '../../ports/llm.ts';
import type { AssistantMessage, ToolCall } from '../../ports/message.ts';
import type { JournalRecord } from '../../ports/session.ts';

/** What one think step decided. */
export interface Thought {
  /** Redacted: what is stored, shown and sent back. */
  readonly message: AssistantMessage;
  /** As the model wrote them: what is executed. */
  readonly calls: readonly ToolCall[];
  readonly finish: FinishReason;
  readonly speed: CallSpeed;
  /** Not stored yet: the message and what it cost, in one commit with what follows from it. */
  readonly records: readonly JournalRecord[];
}
