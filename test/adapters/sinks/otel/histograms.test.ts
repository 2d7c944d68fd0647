import { expect, it } from 'vitest';
import { BOUNDS, createHistograms } from '../../../../adapters/sinks/otel/histograms.ts';

const metric = 'gen_ai.client.token.usage';

it('has the bounds of the conventions', () => {
  expect(BOUNDS[metric]?.slice(0, 4)).toEqual([1, 4, 16, 64]);
  expect(BOUNDS[metric]?.at(-1)).toBe(67_108_864);
  expect(BOUNDS['gen_ai.client.operation.duration']?.at(0)).toBe(0.01);
  expect(BOUNDS['gen_ai.client.operation.duration']?.at(-1)).toBe(81.92);
});

it('puts a value into the first bucket whose bound is not below it', () => {
  const histograms = createHistograms();
  for (const value of [1, 2, 4, 5, 1e12]) histograms.add({ metric, value, attributes: {} });
  const [point] = histograms.take();
  expect(point?.buckets).toEqual([1, 2, 1, ...Array(11).fill(0), 1]);
  expect(point).toMatchObject({ count: 5, sum: 1e12 + 12, min: 1, max: 1e12 });
});

it('keeps sets of attributes apart, whatever their order, and begins anew once taken', () => {
  const histograms = createHistograms();
  histograms.add({ metric, value: 1, attributes: { a: 1, b: 2 } });
  histograms.add({ metric, value: 2, attributes: { b: 2, a: 1 } });
  histograms.add({ metric, value: 3, attributes: { a: '1', b: 2 } });
  expect(histograms.take().map(({ sum }) => sum)).toEqual([3, 3]);
  expect(histograms.take()).toEqual([]);
});

it('refuses further sets once there are 500', () => {
  const histograms = createHistograms();
  const added = Array.from({ length: 600 }, (_, at) => histograms.add({ metric, value: 1, attributes: { at } }));
  expect(added.filter(Boolean)).toHaveLength(500);
  expect(histograms.add({ metric, value: 1, attributes: { at: 0 } })).toBe(true);
});
