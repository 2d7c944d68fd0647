/**
 * Stands in front of fast-check in all tests: the same cases in every run, so that a red run can be
 * repeated and a green one says the same on every machine. `ODEK_TEST_SEED=<number>` looks elsewhere.
 */
import fc from '../../node_modules/fast-check/lib/fast-check.js';

const SEED = 20_261_130;

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.ODEK_TEST_SEED ?? SEED) });

export * from '../../node_modules/fast-check/lib/fast-check.js';
export default fc;
