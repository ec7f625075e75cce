// Pages work without this script. It adds: selecting ranges of rows, a warning before changes are lost, progress without
// loading the page again, choosing a file for a text, dragging posts to another day, copying, and keys.
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
  // A text that was refused is on the page again, and nowhere else.
  const editor = document.querySelector("form[data-save]");
  if (editor && document.querySelector("main .wrong")) changed.add(editor);
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

  // The text of a file that is chosen goes into its field. Bytes in another encoding go as they are: the server knows
  // more of them.
  for (const place of all("[data-file]")) {
    place.hidden = false;
    const chosen = place.querySelector("input[type=file]");
    chosen.addEventListener("change", async () => {
      const [file] = chosen.files;
      if (!file) return;
      const field = document.getElementById(place.dataset.file);
      const bytes = await file.arrayBuffer();
      const [first, second] = new Uint8Array(bytes);
      // Keyword Planner writes UTF-16, with its mark.
      const encoding = first === 0xff && second === 0xfe ? "utf-16le" : "utf-8";
      try {
        field.value = new TextDecoder(encoding, { fatal: true }).decode(bytes);
      } catch {
        const reader = new FileReader();
        reader.addEventListener("load", () => (field.value = reader.result));
        reader.readAsDataURL(file);
      }
      changed.add(field.form);
    });
  }

  // A post of the calendar is dragged to another day, and keeps its time. What it comes to is sent as by hand.
  const mover = document.querySelector("form[data-move]");
  if (mover) {
    let dragged = null;
    const mark = (cell) => {
      for (const other of all("td.over")) other.classList.remove("over");
      cell?.classList.add("over");
    };
    const target = (event) => dragged && event.target.closest?.("td[data-day]");
    for (const post of all("[data-row]")) post.draggable = true;
    document.addEventListener("dragstart", (event) => {
      dragged = event.target.closest?.("[data-row]");
      if (dragged) event.dataTransfer.setData("text/plain", dragged.textContent.trim());
    });
    document.addEventListener("dragover", (event) => {
      const cell = target(event);
      if (cell) event.preventDefault();
      mark(cell);
    });
    document.addEventListener("dragend", () => {
      mark(null);
      dragged = null;
    });
    document.addEventListener("drop", (event) => {
      const cell = target(event);
      if (!cell) return;
      event.preventDefault();
      if (cell.contains(dragged)) return;
      const { row, time, action } = dragged.dataset;
      for (const [name, value] of Object.entries({ row, time, action, day: cell.dataset.day })) {
        mover.elements[name].value = value;
      }
      mover.requestSubmit();
    });
    // The post that was moved has the focus where it is now.
    const place = location.hash.startsWith("#post-") && document.getElementById(location.hash.slice(1));
    // After the browser has gone to that place itself.
    if (place) addEventListener("load", () => setTimeout(() => place.querySelector("a")?.focus()));
  }

  // Ctrl and S saves the text of a post, and goes on where the cursor was.
  const text = editor?.querySelector("textarea[name=content]");
  if (text) {
    const place = `place of ${location.pathname}`;
    const kept = JSON.parse(sessionStorage.getItem(place));
    sessionStorage.removeItem(place);
    if (kept) {
      text.focus({ preventScroll: true });
      text.setSelectionRange(kept.start, kept.end);
      text.scrollTop = kept.inside;
      scrollTo(0, kept.page);
    }
    document.addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== "s") return;
      event.preventDefault();
      const at = { start: text.selectionStart, end: text.selectionEnd, inside: text.scrollTop, page: scrollY };
      if (document.activeElement === text) sessionStorage.setItem(place, JSON.stringify(at));
      editor.requestSubmit(editor.querySelector("button.primary"));
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
