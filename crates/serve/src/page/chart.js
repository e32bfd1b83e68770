// Charts: chosen and drawn by the server at the available width, and copied into the page element by element.

import { drawChart } from "./api.js";
import { draw, el, plain } from "./dom.js";
import { canKeep, keep } from "./files.js";

const TAGS = new Set(["svg", "g", "rect", "line", "path", "circle", "text", "title"]);
const ATTRIBUTES = new Set(("x y width height rx x1 y1 x2 y2 cx cy r d class fill stroke stroke-width stroke-linejoin stroke-linecap "
  + "font-size font-weight font-family text-anchor viewBox role aria-label").split(" "));
const STEP = 40;

/** Elements allowed in a chart; all others are dropped. */
export function taken(svg) {
  // The embedded style is for files; the page styles charts itself.
  const plain = svg.replace(/<style>[^<]*<\/style>/, "");
  const parsed = new DOMParser().parseFromString(plain, "image/svg+xml").documentElement;
  const take = (node) => {
    if (!TAGS.has(node.nodeName)) return null;
    const kept = [...node.attributes].filter(({ name, value }) => ATTRIBUTES.has(name) && !/url\(|javascript:/i.test(value));
    return draw(node.nodeName, Object.fromEntries(kept.map(({ name, value }) => [name, value])),
      ...[...node.childNodes].map((child) => (child.nodeType === 3 ? child.data : child.nodeType === 1 ? take(child) : null)));
  };
  return parsed.nodeName === "svg" ? take(parsed) : null;
}

/** Renders the chart of a result into a placeholder. `under` is the heading above it; `onHeadline` receives the headline number. */
export function chartOf(result, { question = "", title = "", sql = "", units = [], sources = [], name = "chart", under = "", proposal = null, onHeadline = null } = {}) {
  const place = el("figure", { class: "chart", hidden: true });
  if (!result.rows?.length) return place;
  const asked = { columns: result.columns, rows: result.rows, has_more: Boolean(result.has_more), question, title, sql, units, sources,
    ...(proposal ? { proposal } : {}) };
  let wide = 0;
  const show = async (width) => {
    wide = width;
    try {
      const { chart, headline } = await drawChart({ ...asked, width });
      // A number with its change is shown as a headline, without a chart.
      onHeadline?.(headline);
      if (!chart || wide !== width || (onHeadline && headline && chart.kind === "figure")) return;
      const image = taken(chart.svg);
      if (!image) return;
      if (same(chart.title, under)) behead(image);
      place.hidden = false;
      place.dataset.kind = chart.kind;
      place.replaceChildren(image, canKeep() ? el("figcaption", { class: "actions" },
        el("button", { type: "button", class: "quiet small", onclick: () => keep(`${name}.svg`, chart.svg, "image/svg+xml") }, "SVG"),
        el("button", { type: "button", class: "quiet small", onclick: () => png(chart.svg, name) }, "PNG"),
        el("button", { type: "button", class: "quiet small", onclick: () => keep(`${name}.vl.json`, JSON.stringify(chart.vega, null, 1), "application/json") }, "Vega-Lite")) : "");
    } catch {
      // A table shows the same.
    }
  };
  const room = () => Math.max(260, Math.floor((place.parentElement?.clientWidth || 680) / STEP) * STEP);
  const wait = () => {
    if (!place.parentElement) return requestAnimationFrame(wait);
    new ResizeObserver(() => { if (room() !== wide) show(room()); }).observe(place.parentElement);
  };
  requestAnimationFrame(wait);
  return place;
}

const same = (one, other) => plain(one) === plain(other);

/** Removes the title of an image, which is shown above. */
function behead(image) {
  const lines = [...image.querySelectorAll(".title")];
  const [, , width, height] = image.getAttribute("viewBox").split(" ").map(Number);
  const top = Math.max(0, ...lines.map((line) => Number(line.getAttribute("y"))));
  lines.forEach((line) => line.remove());
  image.setAttribute("viewBox", `0 ${top} ${width} ${height - top}`);
  image.setAttribute("height", height - top);
}

/** Returns the image as PNG at twice its size. */
async function png(svg, name) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = el("canvas", { width: image.naturalWidth * 2, height: image.naturalHeight * 2 });
  const pen = canvas.getContext("2d");
  pen.scale(2, 2);
  pen.drawImage(image, 0, 0);
  canvas.toBlob((blob) => blob && keep(`${name}.png`, blob, "image/png"), "image/png");
}
