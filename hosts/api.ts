/** The package `odek`: what a program that embeds odek, or an adapter for it, imports. */
export type { AdapterDefinition, AdapterPorts, AdapterServices } from '../ports/adapter.ts';
export { defineAdapter } from '../ports/adapter.ts';
export { hasCode, isOdekError, OdekError } from '../ports/errors.ts';
export type { WireEvent } from '../ports/event.ts';
export type { EventSink } from '../ports/event-sink.ts';
export type { LlmProvider, ModelEvent, ModelLimits, ModelRequest, ProviderErrorCode } from '../ports/llm.ts';
export { ProviderError } from '../ports/llm.ts';
