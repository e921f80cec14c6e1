import { beforeAll, describe, expect, it } from 'vitest';
import { prometheusProgram, promtool } from '../support/promtool.js';

/** It may have to be installed first, after others. */
const INSTALL_MS = 300_000;
const file = (name: string) => new URL(`../../deploy/prometheus/${name}`, import.meta.url).pathname;

describe('deploy/prometheus, judged by promtool', () => {
  beforeAll(() => prometheusProgram('promtool'), INSTALL_MS);

  it('the rules are valid', async () => {
    expect(await promtool(['check', 'rules', file('rules.yml')])).toMatchObject({ exitCode: 0 });
  });

  it('the configuration is valid', async () => {
    expect(await promtool(['check', 'config', file('prometheus.yml')])).toMatchObject({ exitCode: 0 });
  });

  it('every alert fires when it should, and else does not', async () => {
    const { exitCode, output } = await promtool(['test', 'rules', file('rules.test.yml')]);
    expect(exitCode, output).toBe(0);
  }, 120_000);
});
