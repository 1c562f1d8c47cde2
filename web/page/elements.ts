/** The element with that id. Page and script are built together, so it is there. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

/** A new element with a text. */
export function make<Name extends keyof HTMLElementTagNameMap>(name: Name, className = "", text = ""): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  element.className = className;
  element.textContent = text;
  return element;
}

/** Copies a text and says so on the button for a while. */
export async function copy(button: HTMLButtonElement, text: string): Promise<void> {
  const label = button.dataset["label"] ?? button.textContent ?? "";
  button.dataset["label"] = label;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Copy it by hand"; // not every page may write to the clipboard
  }
  setTimeout(() => (button.textContent = label), 1500);
}
