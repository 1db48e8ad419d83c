"""What tests ask of the site's pages, in a browser and in their text."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

CONTRAST = """() => {
  const channels = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    const unit = text.startsWith("color(") ? 255 : 1;
    return [r * unit, g * unit, b * unit, a];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((c, i) => c * a + below[i] * (1 - a));
  const luminance = (colour) => {
    const [r, g, b] = colour.map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const ancestors = (element) => element ? [...ancestors(element.parentElement), element] : [];
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.closest("script, style, template, .headerlink")) continue;
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    let back = [255, 255, 255], opacity = 1;
    for (const each of ancestors(element)) {
      const style = getComputedStyle(each);
      back = over(channels(style.backgroundColor), back);
      opacity *= Number(style.opacity);
    }
    const style = getComputedStyle(element);
    const colour = channels(style.color);
    const seen = over([...colour.slice(0, 3), colour[3] * opacity], back);
    const size = parseFloat(style.fontSize), bold = Number(style.fontWeight) >= 700;
    const needed = size >= 24 || (bold && size >= 18.66) ? 3 : 4.5;
    const has = ratio(seen, back);
    if (has < needed) poor.push(`${has.toFixed(2)} < ${needed}: ${walker.currentNode.data.trim().slice(0, 40)} (${element.className})`);
  }
  return [...new Set(poor)];
}"""
"""Texts whose contrast is below what WCAG 2.1 AA asks for: 4.5, or 3 for large letters."""


class Links(HTMLParser):
    """What a page refers to: links, frames, pictures and other parts, and its own anchors."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.parts: list[str] = []
        self.anchors: set[str] = {""}
        self.without_alt: list[str] = []
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.anchors |= {value for key in ("id", "name") if (value := values.get(key))}
        if tag == "a" and values.get("href"):
            self.links.append(str(values["href"]))
        if tag == "link" and values.get("rel") not in ("canonical", "next", "prev"):
            self.parts.append(str(values["href"]))
        if values.get("src"):
            self.parts.append(str(values["src"]))
        if tag == "img" and not (values.get("alt") or "").strip():
            self.without_alt.append(str(values.get("src")))


def local_target(page: Path, link: str) -> tuple[Path, str] | None:
    """Return the file and the anchor that a relative link leads to; None if it leaves the site."""
    address, anchor = urldefrag(link)
    if urlparse(address).scheme:
        return None
    return (page.parent / unquote(address)).resolve() if address else page, unquote(anchor)
