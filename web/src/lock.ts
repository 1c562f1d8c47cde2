/**
 * Takes a Web Lock, and resolves with a function that gives it back, or with undefined if it is not to be had. `lost` is called if
 * somebody takes it away.
 */
export function acquire(locks: LockManager, name: string, options: LockOptions, lost: () => void): Promise<(() => void) | undefined> {
  return new Promise((resolve) => {
    let held = false;
    const hold = (lock: Lock | null) => {
      held = lock !== null;
      return lock ? new Promise<void>((release) => resolve(release)) : resolve(undefined);
    };
    locks.request(name, options, hold).catch(() => (held ? lost() : resolve(undefined)));
  });
}
