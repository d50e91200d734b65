// The credential with which a hub sends to Apple.
import { h } from "./dom.js";
import { call } from "./api.js";
import { ask } from "./dialog.js";
import { field, input, select } from "./parts.js";
import { toast } from "./toast.js";

const OUTCOMES = {
  accepted: () => "APNs accepts the credential.",
  refused: (reason) => `APNs refuses the credential: ${reason}.`,
  unknown: (reason) => `APNs gave no answer about the credential${reason ? `: ${reason}` : ""}. Try again.`,
};

/** Asks APNs about the credential that a hub uses. */
export async function tryCredential(hub, path) {
  try {
    const { result, reason } = await call("POST", `${path}/apns/trial`);
    toast(`${hub.name}: ${OUTCOMES[result](reason)}`);
  } catch (error) {
    toast(error.message);
  }
}

export function removeCredential(hub, path) {
  return ask({
    title: `Use the node's credential for ${hub.name}?`, action: "Use that of the node", kind: "danger",
    body: () => h("p", null, "This deletes the hub's own credential. Its next sends use the one in the settings of the server."),
    act: () => call("DELETE", `${path}/apns`),
  });
}

/** Gives a hub a signing key or a certificate. */
export function setCredential(hub, path) {
  const form = { file: null, keyId: "", teamId: "", password: "", topic: hub.apns?.topic || "", environment: hub.apns?.environment || "production" };
  const isKey = () => !form.file || form.file.name.toLowerCase().endsWith(".p8");
  const bind = (name) => ({ value: form[name], name, oninput: (event) => { form[name] = event.target.value; } });
  return ask({
    title: `APNs credential of ${hub.name}`, action: "Save",
    body: (redraw) => [
      h("p", null, "A signing key (.p8) from Apple's developer pages, or a certificate with its key (.p12 or .pem). The server keeps it sealed and never shows it."),
      field("File", input({
        type: "file", accept: ".p8,.p12,.pfx,.pem", name: "file", required: true,
        onchange: (event) => {
          form.file = event.target.files[0] || null;
          form.keyId ||= /^AuthKey_([A-Z0-9]{10})\.p8$/.exec(form.file?.name || "")?.[1] || "";
          redraw();
        },
      })),
      isKey()
        ? [field("Key ID", input(bind("keyId"))), field("Team ID", input(bind("teamId")))]
        : field("Password of the file", input({ ...bind("password"), type: "password", autocomplete: "off" }), "Empty for a file without one."),
      field("Bundle ID", input(bind("topic")), isKey() ? undefined : "Empty when the certificate names it."),
      field("Environment", select({ value: form.environment, name: "environment", onchange: (event) => { form.environment = event.target.value; } }, [["production", "Production"], ["sandbox", "Sandbox"]])),
    ],
    act: async () => {
      if (!form.file) throw new Error("Choose a file.");
      if (form.file.size > 100_000) throw new Error("This file is too large to be a key or a certificate.");
      const body = { environment: form.environment, topic: form.topic.trim() || undefined };
      if (isKey()) {
        Object.assign(body, { key: await form.file.text(), keyId: form.keyId.trim(), teamId: form.teamId.trim() });
      } else {
        Object.assign(body, { certificate: base64(await form.file.arrayBuffer()), password: form.password || undefined });
      }
      return call("PUT", `${path}/apns`, { body });
    },
  });
}

function base64(buffer) {
  return btoa(Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join(""));
}
