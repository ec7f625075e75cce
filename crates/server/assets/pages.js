// Pages work without this script. It adds: selecting ranges of rows, a warning before changes are lost, progress without
// loading the page again, copying, and keys.
"use strict";
{
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Ticks: the box in the head ticks all rows, Shift ticks a range, and the bar below says how many.
  let last = null;
  const count = (form) => {
    const ticked = all("tbody input[type=checkbox]:checked", form).length;
    for (const place of all("[data-count]", form)) {
      place.textContent = ticked === 0 ? "Nothing selected" : `${ticked} selected`;
    }
  };
  document.addEventListener("click", (event) => {
    const box = event.target.closest?.("td.tick input, th.tick input");
    const form = box?.form;
    if (!form) return;
    const boxes = all("tbody td.tick input", form);
    if (box.closest("th")) {
      for (const other of boxes) other.checked = box.checked;
    } else if (event.shiftKey && last && boxes.includes(last)) {
      const [from, to] = [boxes.indexOf(last), boxes.indexOf(box)].sort((a, b) => a - b);
      for (const other of boxes.slice(from, to + 1)) other.checked = box.checked;
    }
    if (!box.closest("th")) last = box;
    count(form);
  });
  for (const head of all("th.tick input[hidden]")) {
    head.hidden = false;
    count(head.form);
  }

  // Text that was typed and not sent is not lost without a question.
  const changed = new Set();
  document.addEventListener("input", (event) => {
    const form = event.target.form;
    if (form?.hasAttribute("data-guard")) changed.add(form);
  });
  document.addEventListener("submit", (event) => {
    changed.delete(event.target);
    // A form whose answer is under way is not sent again.
    if (event.target.dataset.sent) event.preventDefault();
    event.target.dataset.sent = "1";
    setTimeout(() => delete event.target.dataset.sent, 10_000);
  });
  addEventListener("pageshow", () => all("form").forEach((form) => delete form.dataset.sent));
  addEventListener("beforeunload", (event) => {
    if (changed.size > 0) event.preventDefault();
  });

  // Parts that change while work is running are fetched again, each in its place: when the server says that something has
  // changed, and every two seconds where it cannot.
  let isFetching = false;
  let isStale = false;
  const refresh = async () => {
    isStale = isFetching || changed.size > 0;
    if (isStale || document.hidden) return;
    isFetching = true;
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" } });
      if (!answer.ok || answer.redirected) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const part of all("[data-live]")) {
        const next = page.getElementById(part.id);
        if (next && next.innerHTML !== part.innerHTML && !part.contains(document.activeElement)) part.replaceWith(next);
      }
      // What ended changed more than its progress.
      if (!page.body.hasAttribute("data-running")) location.reload();
    } catch {
      isStale = true;
    } finally {
      isFetching = false;
      if (isStale) setTimeout(refresh, 1000);
    }
  };
  const running = document.body.dataset.running;
  if (running) {
    let source = null;
    let poll = null;
    const follow = () => {
      source?.close();
      clearInterval(poll);
      // A page that is not seen takes none of the few connections that a browser has to a server.
      if (document.hidden) return;
      source = new EventSource(running);
      source.addEventListener("changed", refresh);
      source.addEventListener("error", () => {
        if (source.readyState === EventSource.CLOSED) poll = setInterval(refresh, 2000);
      });
    };
    document.addEventListener("visibilitychange", follow);
    addEventListener("pagehide", () => source?.close());
    follow();
  }

  for (const button of all("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = "Copied";
    });
  }

  // Keys: "/" goes to the search field, "?" shows the keys, "g" and a letter goes to a section.
  let leader = false;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select")) return;
    const keys = document.getElementById("keys");
    if (event.key === "?") keys?.showModal();
    else if (event.key === "/") {
      const field = document.querySelector("input[type=search]");
      if (field) {
        event.preventDefault();
        field.focus();
      }
    } else if (event.key === "g") {
      leader = true;
      setTimeout(() => (leader = false), 1500);
      return;
    } else if (leader) document.querySelector(`.side a[data-key="${CSS.escape(event.key)}"]`)?.click();
    leader = false;
  });
}
