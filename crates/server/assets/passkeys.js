"use strict";
// The two forms of passkeys: one makes a passkey, the other signs in with one. Both ask the server for a
// challenge, have the browser answer it, and send the answer as an ordinary form.
const kinds = {
  create: {
    parse: "parseCreationOptionsFromJSON",
    ask: (publicKey) => navigator.credentials.create({ publicKey }),
    faults: {
      NotAllowedError: "No passkey was made: it was cancelled, it took too long, or this device cannot keep one.",
      InvalidStateError: "This device already has a passkey for your account.",
      NotSupportedError: "This device cannot make a passkey of a kind that this server accepts.",
      ConstraintError: "This device cannot make a passkey, because it has no screen lock, PIN or fingerprint set up.",
    },
  },
  get: {
    parse: "parseRequestOptionsFromJSON",
    ask: (publicKey) => navigator.credentials.get({ publicKey }),
    faults: {
      NotAllowedError: "You are not signed in: it was cancelled, it took too long, or this device has no passkey for this site.",
    },
  },
};
const faults = {
  AbortError: "The request for a passkey was stopped. Please try again.",
  SecurityError: "Passkeys do not work at this address. Open this site at its usual https address.",
};

/** A fault that is already said in words for the reader. */
class Told extends Error {}

function supported(kind) {
  return typeof window.PublicKeyCredential?.[kind.parse] === "function" && Boolean(navigator.credentials);
}

function tell(form, text) {
  const status = form.querySelector("[data-passkey-status]");
  if (status) status.textContent = text;
}

function setBusy(form, busy) {
  for (const button of form.querySelectorAll("button, input[type=submit]")) button.disabled = busy;
}

async function askServer(form) {
  const body = new URLSearchParams({ csrf: form.elements.namedItem("csrf").value });
  const headers = { accept: "application/json" };
  const answer = await fetch(form.dataset.challengeUrl, { method: "POST", body, headers }).catch(() => {
    throw new Told("The server cannot be reached. Check your connection and try again.");
  });
  // What is no JSON is, for instance, the page for signing in, after the session has ended.
  const read = await answer.json().catch(() => null);
  if (answer.ok && read) return read;
  const said = typeof read?.error === "string" ? read.error : "";
  throw new Told(said || "The server gave no answer that can be used. Reload the page and try again.");
}

async function send(form, kind) {
  const options = PublicKeyCredential[kind.parse](await askServer(form));
  const credential = await kind.ask(options);
  form.elements.namedItem("credential").value = JSON.stringify(credential.toJSON());
  form.submit();
}

function prepare(form) {
  const kind = kinds[form.dataset.passkey];
  if (!kind) return;
  if (!supported(kind)) {
    setBusy(form, true);
    tell(form, "This browser does not support passkeys. A newer version may.");
    return;
  }
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    setBusy(form, true);
    tell(form, "Follow the instructions of your browser.");
    try {
      await send(form, kind);
    } catch (fault) {
      const known = kind.faults[fault?.name] ?? faults[fault?.name];
      tell(form, fault instanceof Told ? fault.message : known ?? "The passkey could not be used. Please try again.");
      setBusy(form, false);
    }
  });
  // Who comes back to the page as it was left finds its buttons disabled.
  window.addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    tell(form, "");
    setBusy(form, false);
  });
}

for (const form of document.querySelectorAll("form[data-passkey]")) prepare(form);
