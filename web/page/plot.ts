import uPlot from "uplot";
import type { Path } from "../src/index.ts";

const span = 60; // s
const step = 0.1; // s
const height = 150;

/** The largest delay of each tenth of a second in the last minute, by path. */
export class Plot {
  readonly #box: HTMLElement;
  readonly #times: number[] = [];
  readonly #direct: (number | null)[] = [];
  readonly #relay: (number | null)[] = [];
  #plot: uPlot | undefined;
  #due = false;

  constructor(box: HTMLElement) {
    this.#box = box;
    this.#make();
    new ResizeObserver(() => this.#plot?.setSize({ width: box.clientWidth, height })).observe(box);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#make());
    setInterval(() => this.#draw(), 500);
  }

  add(path: Path | undefined, delay: number): void {
    const time = Math.floor(Date.now() / 1000 / step) * step;
    if (this.#times.at(-1) !== time) {
      this.#times.push(time);
      this.#direct.push(null);
      this.#relay.push(null);
    }
    const series = path === "direct" ? this.#direct : this.#relay;
    const last = series.length - 1;
    series[last] = Math.max(series[last] ?? 0, delay);
    if (this.#due) return;
    this.#due = true;
    requestAnimationFrame(() => {
      this.#due = false;
      this.#draw();
    });
  }

  #draw(): void {
    const end = Date.now() / 1000;
    while (this.#times.length > 0 && this.#times[0]! < end - span) {
      this.#times.shift();
      this.#direct.shift();
      this.#relay.shift();
    }
    this.#plot?.batch(() => {
      this.#plot!.setData([this.#times, this.#direct, this.#relay], false);
      this.#plot!.setScale("x", { min: end - span, max: end });
      this.#plot!.setScale("y", { min: 0, max: this.#top() });
    });
  }

  #top(): number {
    let most = 20;
    for (const delay of [...this.#direct, ...this.#relay]) if (delay !== null && delay > most) most = delay;
    return most * 1.1;
  }

  #make(): void {
    this.#plot?.destroy();
    const style = getComputedStyle(document.documentElement);
    const color = (name: string) => style.getPropertyValue(name).trim();
    const axis = { stroke: color("--soft"), grid: { stroke: color("--grid"), width: 1 }, ticks: { stroke: color("--grid"), width: 1 }, font: "12px system-ui, sans-serif" };
    const points = (name: string) => ({ stroke: color(name), width: 0, paths: () => null, points: { show: true, size: 5, fill: color(name), width: 0 } });
    this.#plot = new uPlot(
      {
        width: this.#box.clientWidth || 300,
        height,
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: false, auto: false }, y: { auto: false } },
        axes: [
          { ...axis, size: 28, splits: (_plot, _axis, _min, end) => [-60, -45, -30, -15, 0].map((ago) => end + ago), values: () => ["-60 s", "-45", "-30", "-15", "now"] },
          { ...axis, size: 44, space: 30 },
        ],
        series: [{}, points("--direct"), points("--relay")],
      },
      [this.#times, this.#direct, this.#relay],
      this.#box,
    );
    this.#draw();
  }
}
