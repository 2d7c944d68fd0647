import { describe, expect, it } from 'vitest';
import { createSchemaValidator } from '../../adapters/schema/ajv.ts';
import { createSmallValidator } from '../fakes/schema.ts';
import { brokenSchemaValidators } from './schema-validator.broken.ts';
import { type SchemaValidatorHarness, schemaValidatorSuite } from './schema-validator.suite.ts';

const subjects: Readonly<Record<string, SchemaValidatorHarness>> = {
  'the ajv validator': { make: createSchemaValidator },
  'the small validator': { make: createSmallValidator },
};

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of a schema validator`, () => {
    for (const { id, sentence, run } of schemaValidatorSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of a schema validator', () => {
  for (const { name, caughtBy, harness } of brokenSchemaValidators) {
    it(`rejects one that ${name} (${caughtBy})`, async () => {
      const found = schemaValidatorSuite.cases.find(({ id }) => id === caughtBy);
      await expect(found?.run(harness)).rejects.toThrow();
    });
  }

  it('has a broken subject for each of its cases', () => {
    const caught = new Set(brokenSchemaValidators.map(({ caughtBy }) => caughtBy));
    expect(schemaValidatorSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});
