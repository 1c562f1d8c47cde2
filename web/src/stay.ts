// A shared worker that does nothing: the process of a page lives as long as it does (last-act.ts).
export {};
