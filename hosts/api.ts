/** The package `odek`: what a program that embeds odek, or an adapter for it, imports. */

export type { AdapterDefinition, AdapterPorts, AdapterServices } from '../ports/adapter.ts';
export { defineAdapter } from '../ports/adapter.ts';
export type { ApprovalRequest, ApprovalVerdict, Approver } from '../ports/approval.ts';
export { hasCode, isOdekError, OdekError } from '../ports/errors.ts';
export type { RunEvent, WireEvent } from '../ports/event.ts';
export type { EventSink } from '../ports/event-sink.ts';
export type { LlmProvider, ModelEvent, ModelLimits, ModelRequest, ProviderErrorCode } from '../ports/llm.ts';
export { ProviderError } from '../ports/llm.ts';
export type { RunOutcome, RunResult } from '../ports/run.ts';
export type { CreateAgentOptions, EmbeddedAgent, EmbeddedRunOptions } from './embed/agent.ts';
export { createAgent } from './embed/agent.ts';
