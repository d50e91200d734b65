// The second factor of the person who is signed in: set it up, or remove it.
import { h } from "./dom.js";
import { callConsole } from "./api.js";
import { ask, showSecret } from "./dialog.js";
import { dayOf } from "./format.js";
import { field, input } from "./parts.js";

const codeField = (form, hint) => field("Code", input({
  name: "code", inputmode: "numeric", autocomplete: "one-time-code", maxlength: "24", value: form.code, oninput: (event) => { form.code = event.target.value; },
}), hint);

export async function secondFactor() {
  const status = await callConsole("GET", "/second-factor");
  return status.isSet ? remove(status) : setUp();
}

async function setUp() {
  const form = { code: "" };
  const begun = await callConsole("POST", "/second-factor");
  const result = await ask({
    title: "Set up a second factor", action: "Confirm",
    body: () => [
      h("p", null, "Add this key to an authenticator app, then type the code that it shows. From then on you sign in here with your password and a code. Your password alone signs nothing any more: give programs a service key."),
      h("p", { class: "secret", "data-testid": "factor-key" }, begun.secret.match(/.{1,4}/g).join(" ")),
      h("p", null, h("a", { href: begun.address }, "Open it in an app on this device")),
      codeField(form, "Six digits."),
    ],
    act: () => callConsole("PUT", "/second-factor", { code: form.code }),
  });
  if (result) await showSecret("Recovery codes", "Each signs you in once in place of a code. Keep them where you find them without your phone; they are not shown again.", result.value.recoveryCodes.join("\n"));
}

function remove({ since, recoveryCodes }) {
  const form = { code: "" };
  return ask({
    title: "Remove the second factor?", action: "Remove", kind: "danger",
    body: () => [
      h("p", null, `You have one since ${dayOf(since)}, with ${recoveryCodes} recovery codes left. Without it you sign in here with a link or at the provider only.`),
      codeField(form, "Of the app, or a recovery code."),
    ],
    act: () => callConsole("POST", "/second-factor/removal", { code: form.code }),
  });
}
