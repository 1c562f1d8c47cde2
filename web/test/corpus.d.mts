export const root: string;
export function corpus(): { name: string; text: string }[];
export function report(body: string, count: number, faults: readonly string[]): void;
