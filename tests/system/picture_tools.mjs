// Parses every Mermaid text of cases.json with the real package, in one process, and writes what it read to parsed.json.
import { readFileSync, writeFileSync } from "node:fs";
import { JSDOM } from "jsdom";

const { window } = new JSDOM("<!doctype html><body></body>");
globalThis.window = window;
globalThis.document = window.document;
const { default: mermaid } = await import("mermaid");
mermaid.initialize({ startOnLoad: false, maxTextSize: 10_000_000, maxEdges: 100_000 });

const parsed = [];
for (const text of JSON.parse(readFileSync("cases.json", "utf8"))) {
  try {
    const { db } = await mermaid.mermaidAPI.getDiagramFromText(text);
    parsed.push({
      labels: [...db.getVertices().values()].map((vertex) => vertex.text ?? vertex.id),
      titles: db.getSubGraphs().map((subgraph) => subgraph.title),
      edges: db.getEdges().length,
    });
  } catch (error) {
    parsed.push({ error: String(error), text });
  }
}
writeFileSync("parsed.json", JSON.stringify(parsed));
