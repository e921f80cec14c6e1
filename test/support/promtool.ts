import { execa } from 'execa';
import { findOrInstall } from './servers/find-or-install.js';
import { findProgram } from './servers/from-programs.js';

/** Path of a program of Prometheus. @throws Error that says what to provide. */
export const prometheusProgram = (file: 'prometheus' | 'promtool'): Promise<string> =>
  findOrInstall({
    need: 'Tests of metrics, rules and dashboards',
    file,
    title: 'Prometheus',
    debianPackage: 'prometheus',
    find: () => findProgram(file),
  });

/** What promtool says of `args`, and its exit code; `input` is its standard input. */
export async function promtool(
  args: readonly string[],
  input = '',
): Promise<{ readonly exitCode: number | undefined; readonly output: string }> {
  const { exitCode, all } = await execa(await prometheusProgram('promtool'), args, {
    input,
    all: true,
    reject: false,
  });
  return { exitCode, output: all };
}
