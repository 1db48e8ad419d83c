"""Benchmark pages in Chromium: time to open, and frames per second with 50 ghosts.

python benchmarks/page.py PAGE.html [PAGE.html …] [--quick]     pages of `skillfocus view`
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))

from browsing import launched

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

QUICK = "--quick" in sys.argv
OPENINGS = 1 if QUICK else 5
"""How often each page is opened; the median time is reported."""
WATCH = """async () => {
  const { app, model } = skillfocus;
  await app.change(() => { model.ghosts = 50; model.speed = 1; }, true);
  app.play();
  const times = [];
  await new Promise((done) => {
    const frame = (now) => {
      times.push(now);
      if (times.length > 240 || !model.playing) done();
      else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  const begun = performance.now();
  for (let i = 0; i < 100; i++) app.draw();
  const draw = (performance.now() - begun) / 100;
  return [(1000 * (times.length - 1)) / (times.at(-1) - times[0]), draw];
}"""


def open_page(browser: Browser, path: Path) -> tuple[Page, float]:
    """Open a page; return it with the milliseconds until it was ready."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(path.resolve().as_uri(), wait_until="commit")
    page.wait_for_selector("body[data-ready]")
    return page, page.evaluate("performance.getEntriesByName('ready')[0].startTime")


def main() -> None:
    """Print one line per page."""
    print(f"{'page':32} {'MB':>5} {'opens in':>9} {'frames/s':>9} {'ms to draw one':>15}")
    with launched() as browser:
        for path in (Path(word) for word in sys.argv[1:] if word != "--quick"):
            page, opening = open_page(browser, path)
            opened = [opening]
            for _ in range(OPENINGS - 1):
                page.close()
                page, opening = open_page(browser, path)
                opened.append(opening)
            frames, draw = page.evaluate(WATCH)
            page.close()
            size = path.stat().st_size / 1e6
            median = sorted(opened)[OPENINGS // 2] / 1000
            print(f"{path.name:32} {size:5.1f} {median:7.2f} s {frames:9.1f} {draw:15.2f}")


if __name__ == "__main__":
    main()
