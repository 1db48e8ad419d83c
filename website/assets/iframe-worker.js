// Pages opened from disk may not start workers, and search runs in one. There, a hidden frame does
// the same work: it loads the worker's script, and messages are handed over by calls.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "Search";
      frame.srcdoc = "<!doctype html><title>Search</title>";
      frame.addEventListener("load", () => this.start(frame, String(url)), { once: true });
      document.body.append(frame);
    }

    start(frame, url) {
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...urls) => Promise.all(urls.map((one) => load(inside, one)));
      load(inside, url).then(() => {
        this.inside = inside;
        this.waiting.splice(0).forEach((data) => this.postMessage(data));
      });
    }

    postMessage(data) {
      if (this.inside) this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }));
      else this.waiting.push(data);
    }

    terminate() {
      this.inside?.frameElement.remove();
    }
  };

  const load = (inside, url) =>
    new Promise((done, failed) => {
      const script = inside.document.createElement("script");
      script.src = url;
      script.onload = done;
      script.onerror = failed;
      inside.document.head.append(script);
    });
}
