"use strict";
const given = new URLSearchParams(location.hash.slice(1));
history.replaceState(null, "", location.pathname);
const form = document.forms[0];
for (const field of form.elements) field.value = given.get(field.name) ?? "";
if (given.get("state")) {
  document.getElementById("wait").hidden = false;
  form.submit();
} else {
  document.getElementById("nothing").hidden = false;
}
