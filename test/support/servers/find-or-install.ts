import { type DebianMachine, thisMachine } from './install-debian.js';

export type InstallMachine = Pick<DebianMachine, 'isRoot' | 'isDebian' | 'install'>;

export interface Wanted {
  /** What cannot run without it, in words. */
  readonly need: string;
  /** The file that is looked for, by name. */
  readonly file: string;
  /** What people call it. */
  readonly title: string;
  readonly debianPackage: string;
  /** Its path on this machine. */
  find(): string | undefined;
}

/** The path of a file that tests need: found on this machine or, on Debian as root, installed. @throws Error that says what to provide. */
export async function findOrInstall(wanted: Wanted, machine: InstallMachine = thisMachine): Promise<string> {
  const { need, file, title, debianPackage } = wanted;
  let reason = `${file} is not on this machine`;
  const found = wanted.find();
  if (found !== undefined) return found;
  if (!machine.isDebian()) reason += ', and this is not Debian';
  else if (!machine.isRoot()) reason += ', and the tests do not run as root';
  else {
    await machine.install([debianPackage]);
    const installed = wanted.find();
    if (installed !== undefined) return installed;
    reason = `${debianPackage} was installed and brought no ${file}`;
  }
  const fix = `provide ${title} (Debian package ${debianPackage}), or run the tests on Debian as root: then they install it themselves`;
  throw new Error(`${need} cannot run: ${reason}. Please ${fix}.`);
}
