/** The package `odek/testing`: contract suites for whoever writes an adapter. No test runner needed. */
export type { BrokenAdapter, ContractCase, ContractSuite } from './suite.ts';
