/** `grace-period` → `GracePeriod`: construct ids are PascalCase; they name stateful resources, so this must never change. */
export function toConstructId(name: string): string {
  return name
    .split('-')
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}
