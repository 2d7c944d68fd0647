import type { AgentDeps } from '../agent/settings.ts';
import type { Stage } from '../agent/stage.ts';
import type { RunState } from '../agent/state.ts';
import { wrapUntrusted } from '../untrusted/wrapper.ts';
import type { JobDesk } from './desk.ts';
import { finishedNotice } from './notice.ts';

const SOURCE = 'bg';
const NONCE_BYTES = 8;

/** Background jobs in the loop: the run's calls find their session's jobs, and the model hears which have ended. */
export function createJobStage({ ids, redactor }: AgentDeps, jobs: JobDesk): Stage {
  let run: string | undefined;

  /** What jobs write is no more trusted here than in a tool's result. */
  const tell = async (state: RunState, notice: string): Promise<void> => {
    const content = wrapUntrusted(redactor.text(notice), SOURCE, ids.hex(NONCE_BYTES));
    const message = { role: 'system', content } as const;
    const seq = await state.journal.append([{ kind: 'message', run: state.runId, iteration: state.iteration, message }]);
    state.transcript.push(message, seq);
    state.emit({ type: 'hint', iteration: state.iteration, text: redactor.text(notice) });
  };

  return {
    name: 'jobs',
    async begin(state) {
      run = state.runId;
      jobs.open(state.runId, state.sessionId, (event) => state.emit({ ...event, iteration: state.iteration }));
    },
    async beforeThink(state) {
      const finished = jobs.takeFinished(state.sessionId);
      if (finished.length > 0) await tell(state, finishedNotice(finished));
    },
    end() {
      if (run !== undefined) jobs.close(run);
    },
  };
}
