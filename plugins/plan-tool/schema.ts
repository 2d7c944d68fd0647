import type { JsonSchema } from '../../ports/message.ts';

export const DESCRIPTION =
  'Maintain your task plan. Create steps before starting multi-step work; update statuses as you go (in_progress when you start a step, done only after verifying it); mark blocked with a note explaining why. The plan is shown to you on every iteration and survives context trimming — trust it over your memory of earlier turns. Use revise when the approach changes so acceptance checks stay attached. For verifiable work, declare optional checks with exact tool arguments before running them in a later batch. Complete checked steps only after their tools succeed; do not self-certify. Plans without checks remain advisory.';

const TEXT: JsonSchema = { type: 'string' };
const about = (description: string): JsonSchema => ({ description, type: 'string' });

const CHECKS: JsonSchema = {
  description:
    'Optional checks with exact tool arguments. In revise edit, append only; IDs must not duplicate existing checks. Invoke tools separately through normal approval; only actual outcomes can pass checks.',
  items: {
    properties: { arguments: { type: 'object' }, description: TEXT, id: TEXT, tool: TEXT },
    required: ['id', 'description', 'tool', 'arguments'],
    type: 'object',
  },
  maxItems: 4,
  type: 'array',
};

const STEP: JsonSchema = {
  properties: { checks: CHECKS, id: TEXT, note: TEXT, title: TEXT },
  required: ['id', 'title'],
  type: 'object',
};

const OPERATION: JsonSchema = {
  properties: {
    after_id: about('For add/move: place after this existing step. Use only one anchor; omit both to append.'),
    before_id: about('For add/move: place before this existing step. Mutually exclusive with after_id.'),
    carry_checks_to: about(
      'Optional. When a split/supersede replaces a checked step: either set to a replacement ID to give it the original checks (pending fresh verification), or omit and declare fresh checks on the replacements. Rejected when omitted and no replacement declares checks, so a checked requirement is never silently dropped.',
    ),
    checks: CHECKS,
    kind: { enum: ['add', 'edit', 'move', 'split', 'supersede'] },
    note: about('edit only: replace note, including an empty string to clear it.'),
    step_id: about('Existing step for edit/move/split/supersede.'),
    steps: {
      description:
        "New steps for add/split/supersede. Split requires at least two. Replacement IDs must be unique; carried checks are added to the target's declared checks.",
      items: STEP,
      minItems: 1,
      type: 'array',
    },
    title: about('edit only: replace title; changed work loses its prior check evidence and reopens if completed.'),
  },
  required: ['kind'],
  type: 'object',
};

const UPDATE: JsonSchema = {
  properties: { id: TEXT, note: TEXT, status: { enum: ['pending', 'in_progress', 'done', 'blocked'] } },
  required: ['id'],
  type: 'object',
};

/** Shown to the model. The plan's own diagnostics check the arguments, with more precise errors. */
export const PARAMETERS: JsonSchema = {
  properties: {
    check_id: TEXT,
    evidence_note: TEXT,
    justification: TEXT,
    operations: {
      description:
        'revise only: ordered atomic operations. Existing checks cannot be removed or changed. New checks require a later tool batch.',
      items: OPERATION,
      maxItems: 8,
      minItems: 1,
      type: 'array',
    },
    reason: { description: 'revise only: bounded reason for the change.', maxLength: 240, type: 'string' },
    replacement: { description: 'check_replace only: one check.', type: 'object' },
    step_id: about('complete and check_replace only'),
    steps: {
      description:
        'create only: full ordered step list (1..max_steps). New steps start pending. Existing checked requirements must remain identical; unchanged checked steps retain progress. Prefer revise for incremental changes.',
      items: STEP,
      type: 'array',
    },
    updates: {
      description: 'update only: applied in array order; unknown id or unknown status fails the whole call (atomic).',
      items: UPDATE,
      type: 'array',
    },
    verb: {
      description:
        'create: replace the whole plan. update: batch status/note changes. complete: shorthand to mark one step done. revise: atomically add/edit/move/split/supersede steps while preserving checked requirements. get: return current plan. check_replace: replace a dead check, or pass it with evidence_note; needs check_id and justification.',
      enum: ['create', 'update', 'complete', 'revise', 'get', 'check_replace'],
    },
  },
  required: ['verb'],
  type: 'object',
};
