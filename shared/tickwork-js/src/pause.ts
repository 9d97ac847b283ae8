/** Waits for so many seconds; rejects with the reason of the signal once that is aborted. */
export function pause(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** 0.1, 0.2, 0.4 … seconds, up to the longest. */
export function* growing(longest: number): Generator<number, never> {
  for (let seconds = 0.1; ; seconds *= 2) yield Math.min(seconds, longest);
}
