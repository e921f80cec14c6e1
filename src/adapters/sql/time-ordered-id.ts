/** A prefix that is smaller than every UUID of version 7 made at or after `epochMs`, and greater than every earlier one. */
export function idBound(epochMs: number): string {
  const hex = Math.max(0, Math.floor(epochMs)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}
